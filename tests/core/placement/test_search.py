"""The search, case by case: what a greedy pass misses, what may run out, and what a set is worth."""

import pytest

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, Simulation, Supply, Use, search
from shared.core.placement.choice import Tally
from shared.core.placement.rearrangement import Rearrangement
from tests.builders import cluster, node, pod

SSD = {"disk": "ssd"}


def board(snapshot: Snapshot) -> Simulation:
    return Simulation.of(snapshot, robust=False)


def room_of_two_kinds() -> Snapshot:
    """`a`'s pod goes to the fuller node, `ssd`, where alone `b`'s pod could go."""
    nodes = [node("a"), node("b", labels=SSD), node("plain"), node("ssd", labels=SSD)]
    pods = [
        pod("any", on="a", cpu=1),
        pod("only-ssd", on="b", cpu=1.5, node_selector=SSD),
        pod("fills-plain", on="plain", cpu=2),
        pod("fills-ssd", on="ssd", cpu=2.5),
    ]
    return cluster(nodes, pods)


@pytest.mark.parametrize(
    ("expected", "ejections"), [pytest.param([True, False], 0, id="none"), pytest.param([True, True], 1, id="one")]
)
def test_a_displaced_pod_makes_room_for_one_that_fits_nowhere_else(expected: list[bool], ejections: int) -> None:
    packing = Rearrangement(board(room_of_two_kinds()).first_packing)
    assert [packing.take(node, ejections) for node in (0, 1)] == expected


def test_what_the_pods_moved_on_for_is_proved_and_told_with_final_places() -> None:
    """`plain` and `ssd` are no candidates: what lies on nodes that stay never moves."""
    found = search(board(room_of_two_kinds()), [Candidate("a", 10), Candidate("b", 10)])
    moves = found.simulation.assignments.moves()
    assert found.nodes == ("a", "b")
    assert [(move.pod, move.node) for name in "ab" for move in moves[name]] == [
        ("default/any", "plain"), ("default/only-ssd", "ssd"),
    ]  # fmt: skip


def test_one_that_is_given_back_gets_its_pods_back_whatever_was_taken_after_it() -> None:
    packing = Rearrangement(board(room_of_two_kinds()).first_packing)
    packing.take(0, 1)
    packing.take(1, 1)
    packing.give_back(0)
    assert (packing.taken, list(packing.lying().values())) == ((1,), [[3]])


def test_of_sets_that_save_the_same_the_least_disruptive_is_found() -> None:
    """One of them can go. Alone the order by disruption meets the cheaper one first: its load is greater."""
    pods = [pod("dear", on="n1", cpu=1), pod("cheap", on="n2", cpu=2), pod("stays", on="n3", cpu=2)]
    rows = [Candidate("n1", 10, disruption=9), Candidate("n2", 10, disruption=1)]
    snapshot = cluster([node("n1", cpu=2), node("n2", cpu=2), node("n3")], pods)
    assert search(board(snapshot), rows).nodes == ("n2",)


def test_an_empty_node_goes_though_another_would_save_more_in_its_place() -> None:
    snapshot = cluster([node("empty"), node("dear"), node("rest", cpu=1)], [pod("p", on="dear", cpu=2)])
    rows = [Candidate("empty", 1, first=True), Candidate("dear", 10)]
    assert search(board(snapshot), rows).nodes == ("empty",)


def test_no_more_is_taken_of_a_supply_than_it_has() -> None:
    names = [f"n{number}" for number in range(5)]
    rows = [Candidate(name, 10, uses=(Use("pool", 1, 3),)) for name in names]
    found = search(board(cluster([*map(node, names), node("rest")])), rows, supplies={"pool": Supply(5)})
    assert len(found.nodes) == 3


def test_of_sets_that_are_worth_the_same_the_zones_stay_balanced() -> None:
    """Two of the four may go; by name and load both would be of zone x."""
    zones = {"n1": "x", "n2": "x", "n3": "y", "n4": "y"}
    rows = [Candidate(name, 10, uses=(Use("all", 1, 3), Use(zone, 1, 1))) for name, zone in zones.items()]
    supplies = {"all": Supply(4), "x": Supply(2, balanced=True), "y": Supply(2, balanced=True)}
    found = search(board(cluster([*map(node, zones), node("rest")])), rows, supplies=supplies)
    assert {zones[name] for name in found.nodes} == {"x", "y"}


def test_money_comes_before_disruption_and_that_before_the_number_of_evictions() -> None:
    tallies = [Tally({}) for _ in range(4)]
    for tally, cost, disruption, evictions in zip(tallies, (9, 8, 8, 8), (9, 1, 2, 2), (9, 9, 1, 2), strict=True):
        tally.add(Candidate("n", cost, disruption), evictions)
    assert sorted((each.merit for each in tallies), reverse=True) == [each.merit for each in tallies]
