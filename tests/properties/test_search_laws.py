"""Laws of the search: what it tries it can take back, and what it finds is proved, whatever the order and the steps."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, SearchResult, Simulation, Use, search
from shared.core.placement.rearrangement import Rearrangement
from tests.depth import examples
from tests.placement_checker import faults
from tests.properties.clusters import clusters

CHAIN = 2


def _simulation(snapshot: Snapshot) -> Simulation:
    return Simulation.of(snapshot, [node.name for node in snapshot.nodes if node.drain_taint is not None], robust=False)


def _candidates(snapshot: Snapshot) -> list[Candidate]:
    names = [node.name for node in snapshot.nodes if node.drain_taint is None]
    return [
        Candidate(name, 100 + place % 2, place, (Use("all", 1, 2, len(names)),)) for place, name in enumerate(names)
    ]


def _state(packing: Rearrangement) -> tuple[object, ...]:
    kinds = range(len(packing.arrays.classes))
    return packing.taken, packing.lying(), [packing.taking(kind).tolist() for kind in kinds]


def _found(snapshot: Snapshot, rows: Sequence[Candidate], steps: int) -> SearchResult:
    return search(_simulation(snapshot), rows, steps)


@examples(100)
@given(clusters(), st.permutations(range(7)))
def test_what_is_rolled_back_leaves_nothing_behind(snapshot: Snapshot, order: list[int]) -> None:
    packing = Rearrangement(_simulation(snapshot).first_packing)
    nodes = [node for node in order if node < len(snapshot.nodes)]
    before, mark = _state(packing), packing.mark()
    for node in nodes:
        packing.take(node, CHAIN)
    for node in packing.taken[::2]:
        packing.put_back(node)
    packing.roll_back(mark)
    assert _state(packing) == before


@examples(150)
@given(clusters(), st.permutations(range(7)))
def test_nodes_returned_in_any_order_leave_nothing_behind(snapshot: Snapshot, order: list[int]) -> None:
    packing = Rearrangement(_simulation(snapshot).first_packing)
    before = _state(packing)
    for node in range(len(snapshot.nodes)):
        packing.take(node, CHAIN)
    for node in (number for number in order if number in packing):
        packing.put_back(node)
    assert _state(packing) == before


@examples(100)
@given(clusters(), st.integers(0, 3000))
def test_what_the_search_finds_holds(snapshot: Snapshot, steps: int) -> None:
    found = _found(snapshot, _candidates(snapshot), steps)
    departing = {node.name for node in snapshot.nodes if node.drain_taint is not None}
    assigned = found.simulation.assignments
    rows = [*assigned.reservations(), *(entry for row in assigned.moves().values() for entry in row)]
    moves = {move.pod: move.node for move in rows}
    living = [pod for pod in snapshot.pods if pod.node or pod.key in moves]
    judged = replace(snapshot, pods=tuple(living))
    if found.nodes:
        assert faults(judged, moves, {*found.nodes, *departing}) == []
    assert len(found.nodes) <= max(len(_candidates(snapshot)) - 1, 0)


@examples(60)
@given(clusters(), st.permutations(range(7)))
def test_candidates_in_any_order_are_chosen_from_alike(snapshot: Snapshot, order: list[int]) -> None:
    rows = _candidates(snapshot)
    mixed = [row for place in order for row in rows[place : place + 1]]
    found, again = (_found(snapshot, entry, 2000) for entry in (rows, mixed))
    assert (found.nodes, found.merit, found.steps) == (again.nodes, again.merit, again.steps)
    assert found.simulation.assignments.moves() == again.simulation.assignments.moves()


@examples(60)
@given(clusters(), st.lists(st.integers(0, 4000), min_size=2, max_size=4))
def test_more_steps_never_give_a_worse_choice(snapshot: Snapshot, limits: list[int]) -> None:
    rows, simulation = _candidates(snapshot), _simulation(snapshot)
    merits = [search(simulation, rows, steps).merit for steps in sorted(limits)]
    assert merits == sorted(merits)
    assert simulation.taken == ()


@examples(60)
@given(clusters())
def test_a_brake_ends_the_search_with_something_that_holds(snapshot: Snapshot) -> None:
    rows = _candidates(snapshot)
    asked = iter(range(100_000))
    braked = search(_simulation(snapshot), rows, 4000, brake=lambda: next(asked) > 1)
    free = _found(snapshot, rows, 4000)
    assert (braked.merit, free.braked) <= (free.merit, False)
    assert braked.steps <= free.steps
