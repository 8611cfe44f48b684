"""Laws of templates: one that agrees with its pods changes nothing; of one that does not, the proof holds as well."""

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.returning import as_they_return
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Workload
from tests.depth import examples
from tests.placement_checker import faults
from tests.properties.clusters import APPS, classes, clusters
from tests.properties.proofs import proof_of


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
    workloads = {name: Workload(name, 1, templates=(each,)) for name, each in made.items()}
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
