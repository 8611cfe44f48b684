"""Which deletion cost each node has in turn: in order, within their range, and written as seldom as can be."""

from random import Random

from hypothesis import example, given
from hypothesis import strategies as st

from shared.core.planning.steering import HIGHEST, LOWEST, NEAR, costs_of, in_order
from tests.depth import cases

nodes = st.lists(st.integers(0, 60).map(lambda number: f"n{number:02}"), unique=True, max_size=40)
carried = st.dictionaries(
    st.integers(0, 60).map(lambda number: f"n{number:02}"), st.integers(LOWEST, HIGHEST), max_size=40
)


@given(nodes, carried)
def test_costs_rise_in_order_within_their_range(ordered: list[str], standing: dict[str, int]) -> None:
    costs = list(costs_of(ordered, standing).values())
    assert list(costs_of(ordered, standing)) == ordered
    assert costs == sorted(set(costs))
    assert all(LOWEST <= cost <= HIGHEST for cost in costs)


@given(nodes, carried)
def test_what_is_in_order_and_leaves_room_is_not_written_again(ordered: list[str], standing: dict[str, int]) -> None:
    first = costs_of(ordered, standing)
    assert costs_of(ordered, first) == first
    gone = {node: cost for node, cost in first.items() if node != ordered[0]} if ordered else {}
    assert costs_of(ordered[1:], first) == gone, "nor when the first has gone"


@given(nodes, carried)
@example([f"n{number}" for number in range(9)], {f"n{number}": number - 99 for number in range(1, 9)})
def test_no_place_by_cost_is_far_from_the_place_in_the_plan(planned: list[str], standing: dict[str, int]) -> None:
    found = in_order(planned, standing)
    assert sorted(found) == sorted(planned)
    assert all(abs(found.index(node) - place) < NEAR for place, node in enumerate(planned))


def test_of_those_that_go_about_the_same_time_the_one_that_carries_the_lowest_cost_stays_first() -> None:
    assert in_order(["n1", "n2", "n3"], {"n3": -7}) == ["n3", "n1", "n2"]
    assert in_order(["new", "old"], {"old": HIGHEST}) == ["old", "new"], "and so does one that carries the highest"
    far = [f"n{number}" for number in range(NEAR + 1)]
    assert in_order(far, {far[-1]: -7})[0] == "n0"


CROWD = {"n1": -600, "n2": -400}
DENSE = {f"n{number}": LOWEST + number for number in range(3)} | {"far": -500}


@cases(
    "expected, standing",
    ("a new one comes a step before those that stand", {"new": -742, **CROWD}, CROWD),
    ("between them", {"n1": -600, "new": -500, "n2": -400}, CROWD),
    ("and behind them", {**CROWD, "new": -258}, CROWD),
    ("what is out of order is written", {"n3": -951, "n1": -900, "n2": -800}, {"n1": -900, "n2": -800, "n3": -700}),
    ("without room all begin again", {"new": -681, "n0": -591, "n1": -501, "n2": -411, "far": -321}, DENSE),
    ("what has met at an end is kept apart again", {"n1": -601, "n2": -401}, {"n1": HIGHEST, "n2": HIGHEST}),
)
def test_the_costs_of_nodes_that_go_in_this_order(expected: dict[str, int], standing: dict[str, int]) -> None:
    found = costs_of(list(expected), standing)
    assert list(found.items()) == list(expected.items())


def test_as_many_nodes_as_there_are_costs_have_one_each() -> None:
    many = [f"n{number}" for number in range(HIGHEST - LOWEST + 1)]
    assert sorted(costs_of(many, {"n7": -900}).values()) == list(range(LOWEST, HIGHEST + 1))


def test_weeks_of_churn_write_few_nodes_and_never_run_out_of_costs() -> None:
    """Each pass a node may go and another come, before, between or behind the others; four weeks of five minutes."""
    random = Random(1)  # noqa: S311 - a cluster, not a secret
    planned, standing, written = [f"n{number}" for number in range(40)], dict[str, int](), []
    for number in range(28 * 288):
        if random.random() < 0.1:
            planned.pop(random.choice((0, random.randrange(len(planned)))))
            planned.insert(random.choice((0, random.randrange(len(planned)), len(planned))), f"m{number}")
        costs = costs_of(in_order(planned, standing), standing)
        written.append(sum(standing.get(node) != cost for node, cost in costs.items()))
        standing = costs
        assert list(costs.values()) == sorted(set(costs.values()))
        assert LOWEST <= min(costs.values()) <= max(costs.values()) <= HIGHEST
        assert planned.index(min(costs, key=lambda node: costs[node])) < NEAR
    assert max(written[1:]) <= len(planned)
    assert sum(written) < 2.5 * (len(planned) + 0.1 * len(written)), "a few for each node that comes"
