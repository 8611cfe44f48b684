"""Laws of what comes back: it is never less than what left, and the proof has room for it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.returning import VerticalAutoscaler, VerticalAutoscalers, as_they_return
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Workload
from tests.builders import resources
from tests.depth import examples
from tests.placement_checker import faults
from tests.properties.clusters import clusters
from tests.properties.proofs import proof_of

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
    workloads = {each.spec.workload: Workload(templates=_asking(each, template)) for each in before}
    after = as_they_return(before, workloads)

    assert [pod.requests for pod in after] == [each.requests for each in before]
    for old, new in zip(before, after, strict=True):
        assert old.spec.requests.fits(new.spec.requests)
        if new.spec is not old.spec:
            assert (booked or NOTHING).largest(template).fits(new.spec.requests)
    assert as_they_return(after, workloads) == after, "twice is as good as once"
