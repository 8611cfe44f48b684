from collections.abc import Callable, Sequence
from itertools import count

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, Simulation, Use, search
from shared.core.placement.rearrangement import Rearrangement
from shared.core.placement.search import ROUND, Choice, Tally
from tests.builders import cluster, node, pod
from tests.depth import cases

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


@cases("expected, ejections", ("none", [True, False], 0), ("one", [True, True], 1))
def test_a_displaced_pod_makes_room_for_one_that_fits_nowhere_else(expected: list[bool], ejections: int) -> None:
    packing = Rearrangement(board(room_of_two_kinds()).first_packing)
    assert [packing.take(node, ejections) for node in (0, 1)] == expected


def test_one_that_could_make_room_but_finds_no_other_place_stays_where_it_is() -> None:
    """For `big` alone `free` can leave its place; `held`, which is asked first, cannot."""
    one, other = {"for": "held"}, {"for": "free"}
    nodes = [node("a"), node("b"), node("n1", labels=SSD | one), node("n2", labels=SSD | other),
             node("plain", labels=other)]  # fmt: skip
    pods = [
        pod("free", on="a", cpu=1, node_selector=other), pod("held", on="a", cpu=1, node_selector=one),
        pod("big", on="b", cpu=1.5, node_selector=SSD),
        pod("fills-n1", on="n1", cpu=2.5), pod("fills-n2", on="n2", cpu=2.5), pod("fills-plain", on="plain", cpu=2),
    ]  # fmt: skip
    packing = Rearrangement(board(cluster(nodes, pods)).first_packing)
    kind_of = {any_pod.name: packing.arrays.kind_of[any_pod.spec] for any_pod in pods}

    assert [packing.take(node, 1) for node in (0, 1)] == [True, True]
    assert packing.lying() == {kind_of["free"]: [4], kind_of["held"]: [2], kind_of["big"]: [3]}


def test_what_the_pods_moved_on_for_is_proved_and_shown_with_final_places() -> None:
    """`plain` and `ssd` are no candidates: what lies on nodes that stay never moves."""
    found = search(board(room_of_two_kinds()), [Candidate("a", 10), Candidate("b", 10)])
    moves = found.simulation.assignments.moves()
    assert found.nodes == ("a", "b")
    assert [(move.pod, move.node) for name in "ab" for move in moves[name]] == [
        ("default/any", "plain"), ("default/only-ssd", "ssd"),
    ]  # fmt: skip


def test_one_that_is_returned_gets_its_pods_back_whatever_was_taken_after_it() -> None:
    packing = Rearrangement(board(room_of_two_kinds()).first_packing)
    packing.take(0, 1)
    packing.take(1, 1)
    packing.put_back(0)
    assert (packing.taken, list(packing.lying().values())) == ((1,), [[3]])


def test_a_closed_node_that_is_returned_receives_nothing() -> None:
    seen = Simulation.of(cluster([node("a"), node("b")], [pod("p", on="b")]), closed=["a"], robust=False)
    packing = Rearrangement(seen.first_packing)
    taken = packing.take(0)
    packing.put_back(0)

    assert (taken, packing.take(1)) == (True, False)


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


def test_an_expired_node_is_not_exchanged_for_one_that_saves_more() -> None:
    pods = [pod("old", on="expired", cpu=1), pod("p", on="dear", cpu=1)]
    rows = [Candidate("expired", 1, first=True), Candidate("dear", 10)]
    snapshot = cluster([node("expired", cpu=1), node("dear", cpu=1), node("rest", cpu=1)], pods)
    assert search(board(snapshot), rows).nodes == ("expired",)


def brake_after(rounds: int) -> Callable[[], bool]:
    """Return a brake that lets the search try so many orders; it has four. In a fifth round it only completes."""
    asked = count(1)
    return lambda: next(asked) >= rounds


LARGE = 16


@cases(
    "expected, rows",
    ("the load that moves for each dollar", {"n1", "n2"}, [(2, LARGE, 9, 1), (2, LARGE, 9, 1), (3, 3, 10, 0)]),
    ("the capacity that is lost for each dollar", {"n1", "n2"},
     [(2, 2, 8, 1), (2, 2, 8, 1), (4, LARGE, 11, 1), (1, LARGE, 5, 0)]),
    ("the disruption for each dollar", {"n2"}, [(3, 3, 10, 9), (4, 4, 10, 1)]),
    ("money", {"n1"}, [(4, 4, 10, 1), (2, 2, 6, 0)]),
)  # fmt: skip
def test_each_order_finds_what_no_other_finds(expected: set[str], rows: list[tuple[int, int, int, int]]) -> None:
    """There is room for 4. A row is what a node's pod takes, its size (daemons fill it), its cost, its disruption."""
    names = [f"n{number}" for number in range(1, len(rows) + 1)]
    nodes, pods = [node("rest", cpu=4)], []
    for name, (cpu, size, _, _) in zip(names, rows, strict=True):
        nodes.append(node(name, cpu=size, memory=4 * size, labels={"is": name}))
        pods.append(pod(f"web-{name}", on=name, cpu=cpu))
        daemon = pod(f"fills-{name}", on=name, cpu=size - cpu, owner=f"DaemonSet/{name}", node_selector={"is": name})
        pods += [daemon] if size > cpu else []
    candidates = [Candidate(name, cost, disruption) for name, (_, _, cost, disruption) in zip(names, rows, strict=True)]

    found = search(board(cluster(nodes, pods)), candidates, brake=brake_after(4))
    assert set(found.nodes) == expected


def test_a_single_candidate_without_place_is_exchanged_for_no_other() -> None:
    nodes = [node("n1"), node("rest", cpu=1)]
    found = search(board(cluster(nodes, [pod("large", on="n1", cpu=2)])), [Candidate("n1", 10)])

    assert found.nodes == ()
    assert found.steps < ROUND


def test_no_more_is_taken_of_a_supply_than_it_has() -> None:
    names = [f"n{number}" for number in range(5)]
    rows = [Candidate(name, 10, uses=(Use("pool", 1, 3, 5),)) for name in names]
    found = search(board(cluster([*map(node, names), node("rest")])), rows)
    assert len(found.nodes) == 3


def test_of_sets_that_are_worth_the_same_the_zones_stay_balanced() -> None:
    """Two of the four may go; by name and load both would be of zone x."""
    zones = {"n1": "x", "n2": "x", "n3": "y", "n4": "y"}
    rows = [
        Candidate(name, 10, uses=(Use("all", 1, 3, 4), Use(zone, 1, 1, 2, balanced=True)))
        for name, zone in zones.items()
    ]
    found = search(board(cluster([*map(node, zones), node("rest")])), rows)
    assert {zones[name] for name in found.nodes} == {"x", "y"}


def test_money_comes_before_disruption_and_that_before_the_number_of_evictions() -> None:
    tallies = [Tally() for _ in range(4)]
    for tally, cost, disruption, evictions in zip(tallies, (9, 8, 8, 8), (9, 1, 2, 2), (9, 9, 1, 2), strict=True):
        tally.add(Candidate("n", cost, disruption), evictions)
    assert sorted((row.merit for row in tallies), reverse=True) == [row.merit for row in tallies]


def test_exchanges_begin_at_the_best_that_an_order_has_found() -> None:
    """By load `cheap` goes first, by money `dear`: there is room for one. In the end `a`'s pod makes room for `b`'s."""
    both, webs = room_of_two_kinds(), {"is": "web"}
    nodes = [*both.nodes, *(node(name, cpu=cpu, memory=4 * cpu, labels=webs)
                            for name, cpu in (("cheap", 2), ("dear", 4), ("rest", 4)))]  # fmt: skip
    pods = [*both.pods, *(pod(f"on-{name}", on=name, cpu=cpu, node_selector=webs)
                          for name, cpu in (("cheap", 2), ("dear", 4)))]  # fmt: skip
    rows = [Candidate("a", 10), Candidate("b", 10), Candidate("cheap", 6), Candidate("dear", 10, disruption=1)]

    found = search(board(cluster(nodes, pods)), rows, brake=brake_after(5))
    assert set(found.nodes) == {"a", "b", "dear"}


def exceeding(amount: int) -> Callable[[Sequence[int]], int]:
    """Only so much of what goes saves its price."""
    return lambda gone: max(0, gone[0] - amount)


@cases(
    "expected, amount",
    ("commitments cover all: none", [], 0),
    ("the second makes the first needless: it returns", ["big"], 8_000),
    ("both save: both", ["small", "big"], 9_000),
)
def test_no_node_is_taken_without_which_as_much_would_be_saved(expected: list[str], amount: int) -> None:
    """In the first round `small` goes first, for it has least to move for its money."""
    nodes = [node("big"), node("small"), node("room", cpu=16, memory=64)]
    pods = [pod("p", on="big", cpu=3), pod("q", on="small", cpu=0.5)]
    rows = [Candidate(name, cost, amounts=(cost,)) for name, cost in (("big", 8_000), ("small", 4_000))]
    found = search(board(cluster(nodes, pods)), rows, lost=exceeding(amount), brake=lambda: True)
    assert list(found.nodes) == expected
    assert found.saving == amount


def test_an_empty_node_goes_whatever_it_saves_and_its_saving_is_gone_for_others() -> None:
    rows = [Candidate("empty", 8_000, first=True, amounts=(8_000,)), Candidate("used", 8_000, amounts=(8_000,))]
    nodes = [node("empty"), node("used"), node("room")]
    found = search(board(cluster(nodes, [pod("p", on="used", cpu=1)])), rows, lost=exceeding(8_000))
    assert (found.nodes, found.saving) == (("empty",), 8_000)


def test_a_node_that_saves_nothing_takes_nothing_of_what_must_not_run_out() -> None:
    """Two of three may go; once the first is gone the second saves nothing."""
    begun = board(cluster(map(node, "abcd"), [pod(f"p-{name}", on=name, cpu=0.5) for name in "abc"]))
    rows = [Candidate(name, 8_000, uses=(Use("nodes", 1, 1, 2),), amounts=(8_000 * (name != "c"),)) for name in "abc"]
    tally = Tally(exceeding(8_000))
    choice = Choice(begun.first_packing, dict(enumerate(rows)), tally, begun.buffers, begun.first_chunks)
    assert [choice.take(place) for place in range(3)] == [True, False, True]
