"""A running pod books what the scheduler of Kubernetes 1.36 or that of 1.37 books for it, whichever is more."""

from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from shared.core.cluster.resources import Resources
from tests.adapters.objects import api_pod, read
from tests.properties.resize_reference import by_1_36, by_1_37

amounts = st.dictionaries(st.sampled_from(["cpu", "memory", "example.com/disk"]), st.integers(1, 9), max_size=3)


def written(given: dict[str, int]) -> dict[str, str]:
    """Millicores bear their letter; a unit of anything else is a unit."""
    return {name: f"{amount}m" if name == "cpu" else f"{amount}" for name, amount in given.items()}


quantities = amounts.map(written)
resources = st.fixed_dictionaries({}, optional={"requests": quantities})
reports = st.fixed_dictionaries({}, optional={"allocatedResources": quantities, "resources": resources})


@st.composite
def resized_pods(draw: st.DrawFn) -> dict[str, Any]:
    containers = [{"name": f"app-{i}", "resources": draw(resources)} for i in range(draw(st.integers(1, 3)))]
    initial = [
        {"name": f"init-{i}", "resources": draw(resources), **draw(st.sampled_from([{}, {"restartPolicy": "Always"}]))}
        for i in range(draw(st.integers(0, 3)))
    ]
    reason = draw(st.sampled_from(["", "Infeasible", "Deferred"]))
    status = {
        "containerStatuses": [{"name": each["name"], **draw(reports)} for each in containers if draw(st.booleans())],
        "initContainerStatuses": [{"name": each["name"], **draw(reports)} for each in initial if draw(st.booleans())],
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else [],
        **draw(reports),
    }
    whole: dict[str, Any] = draw(st.one_of(st.just({}), st.fixed_dictionaries({"resources": resources})))
    return api_pod(containers=containers, initContainers=initial, status=status, overhead=draw(quantities), **whole)


@settings(max_examples=500, deadline=None)
@given(resized_pods())
def test_a_running_pod_books_the_more_of_what_both_schedulers_book(pod: dict[str, Any]) -> None:
    older, newer = Resources.of(by_1_36(pod)), Resources.of(by_1_37(pod))
    event("alike" if older == newer else "newer in part above" if newer.fits(older) is False else "older above")

    assert read(pod).requests == older.largest(newer)
