"""Laws of what comes back: it is never less than what left, and the proof has room for it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st
from msgspec import structs

from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.returning import VerticalAutoscaler, VerticalAutoscalers, as_they_return
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Workload
from tests.adapters.objects import api_pod, read
from tests.builders import resources
from tests.depth import examples
from tests.placement_checker import faults
from tests.properties.clusters import APPS, classes, clusters, proof_of
from tests.properties.resize_reference import OF_THE_POD, by_1_36, by_1_37, wished

amounts = st.builds(resources, st.sampled_from([0, 0.2, 1, 3]), st.sampled_from([0, 1, 5]))


@st.composite
def returning(draw: st.DrawFn) -> Snapshot:
    """A cluster whose pods may come back larger: by their templates, their autoscalers, their status."""
    snapshot = draw(clusters())
    workloads = {pod.spec.workload: Workload(pod.spec.workload, 1, templates=_asking(pod, draw(amounts)))
                 for pod in snapshot.pods if draw(st.booleans())}  # fmt: skip
    autoscalers = tuple(
        VerticalAutoscaler("default", f"vpa{number}", target, recommended={"app": draw(amounts)})
        for number, target in enumerate(sorted(workloads))
        if draw(st.booleans())
    )
    pods = as_they_return(snapshot.pods, workloads, autoscalers)
    return replace(snapshot, pods=pods, workloads=workloads, autoscalers=VerticalAutoscalers(autoscalers))


def _asking(like: Pod, asked: Resources) -> tuple[PodClass, ...]:
    return (replace(like.spec, asks=ContainerRequests((Container("app", asked),))),)


@examples(100)
@given(returning())
def test_the_proof_has_room_for_what_comes_back(snapshot: Snapshot) -> None:
    proof = proof_of(snapshot)

    assert faults(proof.judged, proof.moves, proof.drained) == []


@given(clusters(), amounts, st.one_of(st.none(), amounts))
def test_what_a_pod_takes_here_stays_and_what_it_needs_elsewhere_is_never_less(
    snapshot: Snapshot, template: Resources, booked: Resources | None
) -> None:
    before = [structs.replace(pod, booked=booked) for pod in snapshot.pods]
    workloads = {row.spec.workload: Workload(templates=_asking(row, template)) for row in before}
    after = as_they_return(before, workloads)

    assert [pod.requests for pod in after] == [row.requests for row in before]
    for old, new in zip(before, after, strict=True):
        assert old.spec.requests.fits(new.spec.requests)
        if new.spec is not old.spec:
            assert (booked or NOTHING).largest(template).fits(new.spec.requests)
    assert as_they_return(after, workloads) == after, "twice is as good as once"


@given(clusters(), st.booleans())
def test_a_template_that_agrees_with_its_pods_changes_nothing(snapshot: Snapshot, fixed: bool) -> None:
    for pod in snapshot.pods:
        made = replace(pod.spec, owner=None)
        known = {pod.spec.workload: Workload(pod.spec.workload, 1, templates=(made,), fixed_template=fixed)}
        (found,) = as_they_return([pod], known)

        assert found is pod


@st.composite
def with_templates(draw: st.DrawFn) -> tuple[Snapshot, Mapping[str, PodClass]]:
    """A cluster whose pods are of other templates than those that stand now, and these by workload."""
    snapshot = draw(clusters())
    kinds = {pod.spec.workload: pod.spec for pod in snapshot.pods if not pod.spec.stays}
    made = {name: _edited(kind, draw(classes()), draw(st.sampled_from([*APPS, ""]))) for name, kind in kinds.items()}
    workloads = {name: Workload(name, 1, templates=(row,)) for name, row in made.items()}
    pods = as_they_return(snapshot.pods, workloads)
    return replace(snapshot, pods=pods, workloads=workloads), made


def _edited(kind: PodClass, other: PodClass, app: str) -> PodClass:
    asks = ContainerRequests((Container("app", other.requests),))
    labels = {**kind.labels, "app": app} if app else kind.labels
    return replace(other, owner=kind.owner, namespace=kind.namespace, labels=labels, asks=asks)


@examples(400)
@given(with_templates())
def test_what_comes_back_by_its_template_alone_has_a_place_where_the_proof_puts_it(
    drawn: tuple[Snapshot, Mapping[str, PodClass]],
) -> None:
    snapshot, made = drawn
    proof = proof_of(snapshot)

    def as_edited(pod: Pod) -> Pod:
        """What is not modelled moves only where its node is lost anyway, and nothing is proved of it."""
        moved = pod.node and pod.key in proof.moves and not pod.spec.unmodelled
        return structs.replace(pod, spec=made[pod.spec.workload]) if moved else pod

    returned = replace(snapshot, pods=tuple(map(as_edited, proof.judged.pods)))
    assert faults(proof.judged, proof.moves, proof.drained) == []
    assert faults(returned, proof.moves, proof.drained) == []


amounts_of = st.dictionaries(st.sampled_from(["cpu", "memory", "example.com/disk"]), st.integers(1, 9), max_size=3)


def written(given: dict[str, int]) -> dict[str, str]:
    """Millicores bear their letter; a unit of anything else is a unit."""
    return {name: f"{amount}m" if name == "cpu" else f"{amount}" for name, amount in given.items()}


quantities = amounts_of.map(written)
resized = st.fixed_dictionaries({}, optional={"requests": quantities})
reports = st.fixed_dictionaries({}, optional={"allocatedResources": quantities, "resources": resized})


@st.composite
def whole_pod_requests(draw: st.DrawFn, containers: list[dict[str, Any]], initial: list[dict[str, Any]]) -> Any:
    """What the API server admits of a pod as a whole: CPU and memory, and no less than its containers ask for."""
    least = wished({"spec": {"containers": containers, "initContainers": initial}})
    more = draw(st.dictionaries(st.sampled_from(OF_THE_POD), st.integers(0, 9)))
    given = {name: least.get(name, 0) + amount for name, amount in more.items()}
    return {"requests": written({name: amount for name, amount in given.items() if amount})}


@st.composite
def resized_pods(draw: st.DrawFn) -> dict[str, Any]:
    containers = [{"name": f"app-{i}", "resources": draw(resized)} for i in range(draw(st.integers(1, 3)))]
    initial = [
        {"name": f"init-{i}", "resources": draw(resized), **draw(st.sampled_from([{}, {"restartPolicy": "Always"}]))}
        for i in range(draw(st.integers(0, 3)))
    ]
    reason = draw(st.sampled_from(["", "Infeasible", "Deferred"]))
    status = {
        "containerStatuses": [
            {"name": container["name"], **draw(reports)} for container in containers if draw(st.booleans())
        ],
        "initContainerStatuses": [{"name": row["name"], **draw(reports)} for row in initial if draw(st.booleans())],
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
