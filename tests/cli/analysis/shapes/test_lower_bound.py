"""The bound against the best of all choices, where there are few enough to try them all."""

from itertools import product
from random import Random

import numpy as np
import pytest

from tests.bench.shapes.lower_bound import Problem, lower_bound


def test_pods_that_fill_machines_exactly_cost_what_these_machines_cost() -> None:
    """Ten pods of 1 CPU and 4 GiB; machines of 5 CPUs: with 20 GiB for 10, with 40 GiB for 15."""
    given = problem(requests=[[1, 4, 1]], pods=[10], costs=[10, 15], room=[[5, 20, 100], [5, 40, 100]])
    assert lower_bound(given).cost == pytest.approx(20, rel=0.02)


def test_a_mix_of_shapes_is_priced_as_a_mix() -> None:
    """What asks for much memory goes to the one shape, what asks for much CPU to the other."""
    given = problem(requests=[[1, 8, 1], [1, 1, 1]], pods=[10, 10], costs=[10, 10], room=[[5, 40, 100], [10, 10, 100]])
    assert lower_bound(given).cost == pytest.approx(30, rel=0.03)
    assert lower_bound(given).cost <= 30


def test_nodes_that_are_there_and_stay_carry_what_is_free_on_them() -> None:
    given = problem(
        requests=[[1, 4, 1]], pods=[10], costs=[10], room=[[5, 20, 100]], free=[[5, 20, 100]], kept=[-np.inf]
    )
    assert lower_bound(given).cost == pytest.approx(10, rel=0.03)


@pytest.mark.parametrize("seed", range(60))
def test_no_choice_costs_less_than_the_bound(seed: int) -> None:
    dice = Random(seed)  # noqa: S311 - a test's data
    given = problem(
        requests=[[dice.randint(1, 4), dice.randint(1, 8), 1] for _ in range(2)],
        pods=[dice.randint(1, 3), dice.randint(1, 3)],
        costs=[dice.randint(5, 20), dice.randint(5, 20)],
        room=[[dice.randint(4, 9), dice.randint(8, 16), 3] for _ in range(2)],
        own=[[1, 0]], free=[[dice.randint(0, 3), dice.randint(0, 6), 2]], kept=[dice.randint(-5, 15)],
    )  # fmt: skip
    assert lower_bound(given).cost <= cheapest(given)


def cheapest(given: Problem) -> float:
    """Try all numbers of nodes, and all ways to put the pods on them."""
    best = np.inf
    for kept, first, second in product((0, 1), range(5), range(5)):
        cost = kept * given.kept[0] + first * given.costs[0] + second * given.costs[1]
        room = [*([given.free[0]] if kept else []), *[given.room[0]] * first, *[given.room[1]] * second]
        pods = [kind for kind, count in enumerate(given.pods - kept * given.own[0]) for _ in range(int(count))]
        if cost < best and fits(given, pods, [list(each) for each in room]):
            best = cost
    return best


def fits(given: Problem, pods: list[int], room: list[list[float]]) -> bool:
    if not pods:
        return True
    for place, free in enumerate(room):
        left = [have - need for have, need in zip(free, given.requests[pods[0]], strict=True)]
        if min(left) >= 0 and fits(given, pods[1:], [*room[:place], left, *room[place + 1 :]]):
            return True
    return False


def problem(
    requests: list[list[float]], pods: list[float], costs: list[float], room: list[list[float]],
    own: list[list[float]] | None = None, free: list[list[float]] | None = None, kept: list[float] | None = None,
) -> Problem:  # fmt: skip
    nodes = len(kept or ())
    return Problem(
        np.array(requests, np.float64), np.array(pods, np.float64), np.array(costs, np.float64),
        np.array(room, np.float64), np.ones((len(pods), len(costs)), np.bool_),
        np.array(own or np.zeros((nodes, len(pods))), np.float64).reshape(nodes, len(pods)),
        np.array(kept or (), np.float64), np.array(free or (), np.float64).reshape(nodes, len(room[0])),
        np.ones((len(pods), nodes), np.bool_),
    )  # fmt: skip
