"""Laws of what may go where: to ask for less never leaves fewer nodes, and a plan holds at each of its steps.

One exception is the scheduler's own. What makes one more domain eligible for a hard topology spread may make that one
the emptiest, and then close fuller ones: a node that loses a taint (nodeTaintsPolicy: Honor), or a pod that loses its
node affinity (nodeAffinityPolicy: Honor). These two laws are asked of pods without a spread. To drop the spread, or
any rule of other pods, never takes a node away; but for a disk that the pod shares with them: while they use it, it is
attached to their node, and takes no further place under that node's attach limit. These keep their volumes. Nor is it
a law of a DaemonSet that may go to more nodes: room is kept there for the pods of it that are still to come.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from shared.core.cluster.node import Node
from shared.core.cluster.pod import PodClass, is_daemon
from shared.core.cluster.resources import NOTHING
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import ROBUST, Strategy
from tests.builders import cluster, pod
from tests.depth import examples
from tests.placement_checker import faults
from tests.properties.clusters import clusters

ASK_LESS: Final[Mapping[str, Callable[[PodClass], PodClass]]] = {
    "requests": lambda spec: replace(spec, requests=NOTHING),
    "one port": lambda spec: replace(spec, host_ports=spec.host_ports[1:]),
    "volumes": lambda spec: replace(spec, volumes=()),
    "spread": lambda spec: replace(spec, hard_spread=()),
    "affinity": lambda spec: replace(spec, affinity=()),
    "anti-affinity": lambda spec: replace(spec, anti_affinity=()),
    "node affinity": lambda spec: replace(spec, node_terms=None, node_selector={}),
}
MORE_DOMAINS: Final = {"node affinity"}


def feasible(snapshot: Snapshot, spec: PodClass) -> set[str]:
    """Return the nodes that would take one more pod of the class."""
    arrays = ClusterArrays(replace(snapshot, pods=(*snapshot.pods, pod("zz-new", kind=spec))))
    taking = Packing(arrays, ROBUST[0]).taking(arrays.kind_of[spec])
    return {node.name for node, takes in zip(arrays.nodes, taking, strict=True) if takes}


def others_ask_less(less: str, spec: PodClass, other: PodClass) -> PodClass:
    """Return what a pod beside one of `spec` asks for, less what the law speaks of."""
    keeps = {"volumes": bool({*other.volumes} & {*spec.volumes}), "node affinity": is_daemon(other)}
    return other if keeps.get(less) else ASK_LESS[less](other)


def drawn(snapshot: Snapshot, choice: int) -> PodClass:
    return snapshot.pods[choice % len(snapshot.pods)].spec


@pytest.mark.parametrize("less", ASK_LESS)
@examples(80)
@given(snapshot=clusters(), choice=st.integers(0, 15))
def test_a_pod_that_asks_for_less_has_no_fewer_nodes(less: str, snapshot: Snapshot, choice: int) -> None:
    spec = drawn(snapshot, choice)
    spec = replace(spec, hard_spread=()) if less in MORE_DOMAINS else spec

    assert feasible(snapshot, spec) <= feasible(snapshot, ASK_LESS[less](spec))


@examples(80)
@given(clusters(), st.integers(0, 15), st.integers(0, 6))
def test_a_node_without_its_taints_is_lost_to_no_pod(snapshot: Snapshot, choice: int, at: int) -> None:
    def bare(node: Node, place: int) -> Node:
        return replace(node, taints=()) if place == at % len(snapshot.nodes) else node

    spec = replace(drawn(snapshot, choice), hard_spread=())
    freed = tuple(bare(any_node, place) for place, any_node in enumerate(snapshot.nodes))

    assert feasible(snapshot, spec) <= feasible(replace(snapshot, nodes=freed), spec)


@pytest.mark.parametrize("less", ASK_LESS)
@examples(80)
@given(snapshot=clusters(), choice=st.integers(0, 15))
def test_pods_that_lie_there_and_ask_for_less_leave_no_fewer_nodes(less: str, snapshot: Snapshot, choice: int) -> None:
    spec = drawn(snapshot, choice)
    easier = {any_pod.spec: others_ask_less(less, spec, any_pod.spec) for any_pod in snapshot.pods}
    pods = tuple(structs.replace(any_pod, spec=easier[any_pod.spec]) for any_pod in snapshot.pods)

    assert feasible(snapshot, spec) <= feasible(replace(snapshot, pods=pods), spec)


@pytest.mark.parametrize("strategy", ROBUST, ids=lambda row: row.name)
@examples(80)
@given(snapshot=clusters())
def test_each_step_of_a_plan_holds_by_itself(strategy: Strategy, snapshot: Snapshot) -> None:
    """One pod after another is evicted and bound anew, as the packing said; the pods not yet moved still lie there.

    Pods that break each other's rule before anything moves may go on doing so until the last of them has moved.
    """
    at_first = faults(snapshot, {any_pod.key: any_pod.node for any_pod in snapshot.pods if any_pod.node}, ())
    arrays = ClusterArrays(snapshot)
    packing = Packing(arrays, strategy)
    now, drained = snapshot, list[str]()
    for place, node in enumerate(snapshot.nodes):
        removal = packing.remove(place, [arrays.kind_of[row.spec] for row in arrays.movable(place)])
        if not removal.succeeded:
            continue
        drained.append(node.name)
        for placement in removal.placements:
            mover = next(
                any_pod
                for any_pod in now.pods
                if any_pod.node == node.name
                and any_pod.spec is arrays.classes[placement.kind]
                and not any_pod.phase.finished
            )
            found = set(faults(now, {mover.key: snapshot.nodes[placement.target].name}, drained)).difference(at_first)
            assert [fault for fault in sorted(found) if not fault.endswith(f"is left on {node.name}")] == []
            moved = structs.replace(mover, node=snapshot.nodes[placement.target].name)
            now = cluster(now.nodes, [*(any_pod for any_pod in now.pods if any_pod is not mover), moved])
            now = replace(now, namespaces=snapshot.namespaces, storage=snapshot.storage)
