"""Laws of the proof of placement, over arbitrary small clusters, judged by an independent checker."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.autoscaling import Buffers, CapacityBuffer
from shared.core.cluster.node import Node
from shared.core.cluster.pod import PodClass
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, Simulation, search
from shared.core.placement.node_filters import NodeFilters
from shared.core.rules.unmodelled import admits
from tests.builders import cluster, pod, pod_class
from tests.depth import examples
from tests.placement_checker import faults, room_for_chunks
from tests.properties.clusters import buffers, classes, clusters, nodes
from tests.properties.proofs import moves_of, proof_of


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
        Simulation.of(each, _departing(each)) for each in (replace(snapshot, buffers=Buffers((huge,))), snapshot)
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
@given(clusters(), st.permutations(range(7)))
def test_candidates_in_any_order_give_the_same_plan(snapshot: Snapshot, order: list[int]) -> None:
    rows = [Candidate(name, 100 + place % 2) for place, name in enumerate(_candidates(snapshot))]
    mixed = [row for place in order for row in rows[place : place + 1]]
    found, again = (
        search(Simulation.of(snapshot, _departing(snapshot), robust=False), each, steps=300) for each in (rows, mixed)
    )
    assert (found.nodes, found.saving, found.steps) == (again.nodes, again.saving, again.steps)
    assert found.simulation.assignments.moves() == again.simulation.assignments.moves()


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
@given(clusters())
def test_more_steps_never_give_a_worse_result(snapshot: Snapshot) -> None:
    rows = [Candidate(name, 100 + place) for place, name in enumerate(_candidates(snapshot))]
    simulation = Simulation.of(snapshot, _departing(snapshot), robust=False)
    few, many = (search(simulation, rows, steps=steps) for steps in (1, 400))
    assert many.saving >= few.saving
    assert simulation.taken == ()


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
