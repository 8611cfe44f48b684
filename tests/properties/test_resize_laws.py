"""A running pod books what the scheduler of Kubernetes 1.36 or that of 1.37 books for it, whichever is more."""

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from shared.core.cluster.resources import Resources
from tests.adapters.objects import api_pod, read
from tests.depth import examples
from tests.properties.resize_reference import OF_THE_POD, by_1_36, by_1_37, wished

amounts = st.dictionaries(st.sampled_from(["cpu", "memory", "example.com/disk"]), st.integers(1, 9), max_size=3)


def written(given: dict[str, int]) -> dict[str, str]:
    """Millicores bear their letter; a unit of anything else is a unit."""
    return {name: f"{amount}m" if name == "cpu" else f"{amount}" for name, amount in given.items()}


quantities = amounts.map(written)
resources = st.fixed_dictionaries({}, optional={"requests": quantities})
reports = st.fixed_dictionaries({}, optional={"allocatedResources": quantities, "resources": resources})


@st.composite
def whole_pod_requests(draw: st.DrawFn, containers: list[dict[str, Any]], initial: list[dict[str, Any]]) -> Any:
    """What the API server admits of a pod as a whole: CPU and memory, and no less than its containers ask for."""
    least = wished({"spec": {"containers": containers, "initContainers": initial}})
    more = draw(st.dictionaries(st.sampled_from(OF_THE_POD), st.integers(0, 9)))
    given = {name: least.get(name, 0) + amount for name, amount in more.items()}
    return {"requests": written({name: amount for name, amount in given.items() if amount})}


@st.composite
def resized_pods(draw: st.DrawFn) -> dict[str, Any]:
    containers = [{"name": f"app-{i}", "resources": draw(resources)} for i in range(draw(st.integers(1, 3)))]
    initial = [
        {"name": f"init-{i}", "resources": draw(resources), **draw(st.sampled_from([{}, {"restartPolicy": "Always"}]))}
        for i in range(draw(st.integers(0, 3)))
    ]
    reason = draw(st.sampled_from(["", "Infeasible", "Deferred"]))
    status = {
        "containerStatuses": [
            {"name": container["name"], **draw(reports)} for container in containers if draw(st.booleans())
        ],
        "initContainerStatuses": [{"name": each["name"], **draw(reports)} for each in initial if draw(st.booleans())],
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else [],
        **draw(reports),
    }
    whole = {"resources": draw(whole_pod_requests(containers, initial))} if draw(st.booleans()) else {}
    return api_pod(containers=containers, initContainers=initial, status=status, overhead=draw(quantities), **whole)


@examples(500)
@given(resized_pods())
def test_a_running_pod_books_the_more_of_what_both_schedulers_book(pod: dict[str, Any]) -> None:
    older, newer = Resources.of(by_1_36(pod)), Resources.of(by_1_37(pod))
    event("alike" if older == newer else "newer in part above" if newer.fits(older) is False else "older above")

    assert read(pod).requests == older.largest(newer)
