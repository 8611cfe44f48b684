"""Laws of the proof of placement, over arbitrary small clusters, judged by an independent checker."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shared.core.cluster.autoscaling import Buffers, CapacityBuffer
from shared.core.cluster.node import Node
from shared.core.cluster.pod import HostPort, Pod, PodClass, is_daemon
from shared.core.cluster.selectors import PodTerm, SpreadConstraint
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, Simulation, search
from shared.core.placement.demand import as_returned, nodes_to_return
from shared.core.placement.node_filters import NodeFilters
from shared.core.rules.unmodelled import admits
from tests.builders import NOW, cluster, node, our_taint, pod, pod_class
from tests.depth import examples
from tests.placement_checker import faults, room_for_chunks
from tests.properties.clusters import HOSTNAME, ZONE, buffers, classes, clusters, moves_of, nodes, of, proof_of
from tests.properties.emptying import left_waiting


def _departing(snapshot: Snapshot) -> list[str]:
    return [node.name for node in snapshot.nodes if node.drain_taint is not None]


def _candidates(snapshot: Snapshot) -> list[str]:
    return [node.name for node in snapshot.nodes if node.drain_taint is None]


def _play(simulation: Simulation, order: Sequence[str]) -> list[str]:
    return [name for name in order if simulation.try_remove(name) is None]


@examples(150)
@given(clusters(), st.booleans())
def test_the_witness_of_every_board_holds(snapshot: Snapshot, robust: bool) -> None:
    proof = proof_of(snapshot, robust=robust)

    assert faults(proof.judged, proof.moves, proof.drained) == []


@examples(150)
@given(clusters(), buffers(), st.booleans())
def test_room_that_a_buffer_has_is_there_after_every_plan(
    snapshot: Snapshot, buffer: CapacityBuffer, robust: bool
) -> None:
    """As far as no pod of a departing node is without a place, in which case nothing is taken at all."""
    # Room for a DaemonSet's pod that waits is kept twice: on each node that lacks one, and where the pod is put.
    assume(all(pod.node or not is_daemon(pod.spec) for pod in snapshot.pods))
    picture = replace(snapshot, buffers=Buffers((buffer,)))
    departing = _departing(picture)
    simulation = Simulation.of(picture, departing, robust=robust)
    pending = {move.pod: move.node for move in simulation.assignments.reservations()}
    before = {key: place for key, place in pending.items() if key in {pod.key for pod in simulation.arrays.pending}}
    had = room_for_chunks(picture, buffer, before, departing)
    taken = _play(simulation, _candidates(picture))
    if taken:
        assert room_for_chunks(picture, buffer, moves_of(simulation), {*taken, *departing}) >= had


@examples(60)
@given(clusters(), st.permutations(range(7)))
def test_a_buffer_that_has_no_room_anywhere_changes_no_plan(snapshot: Snapshot, order: list[int]) -> None:
    huge = CapacityBuffer("default", "huge", pod_class(owner="CapacityBuffer/huge", cpu=64), 3)
    names = [candidate for place in order for candidate in _candidates(snapshot)[place : place + 1]]
    held, plain = (
        Simulation.of(row, _departing(row)) for row in (replace(snapshot, buffers=Buffers((huge,))), snapshot)
    )
    assert _play(held, names) == _play(plain, names)


@examples(100)
@given(clusters(), st.permutations(range(7)))
def test_a_refusal_leaves_nothing_behind(snapshot: Snapshot, order: list[int]) -> None:
    names = [candidate for place in order for candidate in _candidates(snapshot)[place : place + 1]]
    tried, plain = (Simulation.of(snapshot, _departing(snapshot)) for _ in range(2))
    taken = _play(tried, names)
    assert _play(plain, taken) == taken
    assert plain.assignments.moves() == tried.assignments.moves()
    assert plain.assignments.reservations() == tried.assignments.reservations()


@examples(100)
@given(clusters(), st.permutations(range(7)))
def test_what_is_only_asked_is_answered_as_it_is_done_and_leaves_nothing_behind(
    snapshot: Snapshot, order: list[int]
) -> None:
    names = [candidate for place in order for candidate in _candidates(snapshot)[place : place + 1]]
    asked, plain = (Simulation.of(snapshot, _departing(snapshot)) for _ in range(2))
    for number, name in enumerate(names):
        others = names[number:]
        assert [asked.refuses(other) for other in others] == [plain.copy().try_remove(other) for other in others]
        assert asked.try_remove(name) == plain.try_remove(name)
    assert moves_of(asked) == moves_of(plain)


@examples(100)
@given(
    clusters(), st.sampled_from([{"cpu": 9.0}, {"node_selector": {"nowhere": "here"}}, {"resource_claims": ("gpu",)}])
)
def test_a_node_with_a_pod_that_fits_nowhere_is_never_taken(snapshot: Snapshot, change: dict[str, object]) -> None:
    stuck = pod("stuck", on="n0", kind=pod_class(**change))  # type: ignore[arg-type] # fields of a class, by name
    held = replace(cluster(snapshot.nodes, [*snapshot.pods, stuck]), storage=snapshot.storage)
    rows = [Candidate(name, 1) for name in _candidates(held)]
    assert "n0" not in search(Simulation.of(held, robust=False), rows, steps=300).nodes


@examples(100)
@given(nodes(), classes())
def test_masks_show_what_the_rules_show_node_by_node(rows: list[Node], kind: PodClass) -> None:
    assert np.array_equal(NodeFilters(rows).of(kind), [admits(kind, row) for row in rows])


@examples(100)
@given(clusters())
def test_what_is_proved_robustly_is_also_possible(snapshot: Snapshot) -> None:
    simulation = Simulation.of(snapshot, _departing(snapshot))
    taken = _play(simulation, _candidates(snapshot))
    loose = Simulation.of(snapshot, _departing(snapshot), robust=False)
    assert _play(loose, taken) == taken


@examples(150)
@given(clusters(), st.integers(0, 15))
def test_a_held_node_is_returned_exactly_where_the_pod_fits_there_and_on_no_open_node(
    snapshot: Snapshot, choice: int
) -> None:
    kind = snapshot.pods[choice % len(snapshot.pods)].spec
    held, others = snapshot.nodes[:2], snapshot.nodes[2:]
    pods = [*snapshot.pods, pod("waits", kind=kind, unschedulable_since=NOW)]
    picture = cluster([*map(_held, held), *others], pods, namespaces=snapshot.namespaces, storage=snapshot.storage)
    freed = replace(picture, nodes=cluster([*map(as_returned, map(_held, held)), *others]).nodes)

    def fits(nodes: tuple[Node, ...]) -> bool:
        return any(faults(freed, {f"{kind.namespace}/waits": node.name}, ()) == [] for node in nodes)

    helps = not is_daemon(kind) and fits(held) and not fits(others)
    found = nodes_to_return(picture, [node for node in picture.nodes if node.name in {node.name for node in held}])

    # where nodes may go both are counted on the safe side: such a pod may ask for a node that it could do without
    assert kind.hard_spread or kind.affinity or bool(found) is helps
    assert all(faults(freed, {node.pod.key: name}, ()) == [] for name, node in found.items())


def _held(node: Node) -> Node:
    foreign = tuple(taint for taint in node.taints if taint.key != our_taint().key)
    return replace(node, ready=True, unschedulable=True, taints=(*foreign, our_taint(node.name)))


WORKLOADS = ("web", "api")


@st.composite
def kinds(draw: st.DrawFn, app: str) -> PodClass:
    """A workload with rules of its own, of several kinds at once."""
    keys = draw(st.sampled_from([(), (ZONE,), (ZONE,), (HOSTNAME,), (ZONE, HOSTNAME)]))
    spread = tuple(
        SpreadConstraint(key, of(draw(st.sampled_from([app, app, app, *WORKLOADS]))), draw(st.integers(1, 2)), 1,
                         honours_taints=draw(st.booleans()))
        for key in keys
    )  # fmt: skip
    away = draw(st.sampled_from(["", "", *WORKLOADS]))
    near = draw(st.sampled_from(["", "", *WORKLOADS]))
    return pod_class(
        owner=f"ReplicaSet/{app}",
        hard_spread=spread,
        anti_affinity=(PodTerm(draw(st.sampled_from([HOSTNAME, HOSTNAME, ZONE])), of(away), ("default",)),)
        if away
        else (),
        affinity=(PodTerm(draw(st.sampled_from([ZONE, HOSTNAME])), of(near), ("default",)),) if near else (),
        host_ports=(HostPort("TCP", 80),) if draw(st.integers(0, 5)) == 0 else (),
    )


@st.composite
def ruled_clusters(draw: st.DrawFn) -> Snapshot:
    """Two workloads, each with rules of several kinds, beside pods that ask for nothing."""
    classes = [*(draw(kinds(app)) for app in WORKLOADS), pod_class(owner="ReplicaSet/free", cpu=0.1)]
    nodes, pods = list[Node](), list[Pod]()
    for zone in "abcd"[: draw(st.integers(2, 4))]:
        for _ in range(draw(st.integers(1, 2))):
            nodes.append(node(f"n{len(nodes)}", zone=zone, cpu=draw(st.integers(1, 5)) / 10))
            for _ in range(draw(st.integers(0, 3))):
                kind = draw(st.sampled_from(classes))
                pods.append(pod(f"p{len(pods):02}", on=nodes[-1].name, kind=kind))
    return cluster(nodes, pods or [pod("p", on="n0")], namespaces={"default": {}})


@pytest.mark.parametrize("robust", [False, True])
@examples(300)
@given(snapshot=ruled_clusters(), order=st.randoms(use_true_random=False))
def test_under_several_rules_too_all_find_the_places_of_the_proof_no_matter_who_is_evicted_first(
    robust: bool, snapshot: Snapshot, order: Random
) -> None:
    assert left_waiting(snapshot, robust=robust, order=order) == []
