"""Gates of a pass: an addition, the gap, the count, the excess, and how many nodes go in it."""

from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from shared.core.policy import BudgetUntil
from shared.core.reasons import DrainReason
from shared.core.records.state import KnownDemand
from shared.core.rules.counts import PoolMeasure
from shared.core.rules.gates import blockers, pass_blockers
from tests.builders import NOW, claim, node, policy, resources
from tests.core.rules.test_gates import EMPTY, FIVE, MANUAL, N1, UNDERUTILIZED, budget, stand, words
from tests.depth import cases


@pytest.mark.acceptance(49)
@cases(
    "expected, minutes, own, newcomer",
    ("59 minutes", ["recent_addition"], 59, None, "a"),
    ("60 minutes", [], 60, None, "a"),
    ("an addition in another pool", ["recent_addition"], 59, None, "b"),
    ("a pool with its own time sees its own additions only", [], 1, timedelta(hours=1), "b"),
    ("and those it sees", ["recent_addition"], 1, timedelta(hours=1), "a"),
)
def test_a_recent_addition_closes_the_gate(
    expected: list[str], minutes: int, own: timedelta | None, newcomer: str
) -> None:
    rules = policy(time_since_last_addition=own, cluster_wide={"time_since_last_addition": timedelta(hours=1)})
    nodes = (*FIVE, node("new", pool=newcomer, created=NOW - timedelta(minutes=minutes)))
    assert words(pass_blockers(stand(rules, nodes), N1, EMPTY)) == expected


@pytest.mark.acceptance(50)
@cases(
    "expected, ago",
    ("9:59", ["time_gap"], timedelta(minutes=9, seconds=59)),
    ("10:00", [], timedelta(minutes=10)),
    ("nothing was ever drained", [], None),
)
def test_the_gap_counts_from_the_last_start(expected: list[str], ago: timedelta | None) -> None:
    rules = policy(cluster_wide={"time_gap": timedelta(minutes=10)})
    where = stand(rules, last_scale_down=None if ago is None else NOW - ago)
    assert words(pass_blockers(where, N1, EMPTY)) == expected


def test_the_orders_of_one_pass_are_one_drain_for_the_gap() -> None:
    rules = policy(max_nodes_per_pass=2, cluster_wide={"time_gap": timedelta(minutes=10)})
    assert pass_blockers(stand(rules).with_claim(FIVE[1]), N1, EMPTY) == ()


@pytest.mark.acceptance(34, 35)
@cases(
    "expected, underutilized", ("three under the limit", ["too_few_underutilized"], 3), ("four under the limit", [], 4)
)
def test_drains_in_flight_add_to_the_required_count(expected: list[str], underutilized: int) -> None:
    """The second one's pods run again, and its node only waits for the autoscaler."""
    rules = policy(required_count=3, cluster_wide={"budget_until": BudgetUntil.REPLACED})
    where = stand(rules, claims={"uid-n4": claim("n4", drained=True, replaced=NOW), "uid-n5": claim("n5")})
    measured = where.with_measures({"a": PoolMeasure(underutilized, resources(99, 99))})
    assert words(pass_blockers(measured, N1, UNDERUTILIZED)) == expected


@pytest.mark.acceptance(48)
@cases("expected, free", ("1.99", ["no_excess"], 1.99), ("2.0", [], 2.0))
def test_the_excess_must_reach_its_threshold(expected: list[str], free: float) -> None:
    where = stand(policy(excess_threshold=Fraction(2))).with_measures({"a": PoolMeasure(5, resources(4 * free, 99))})
    assert words(pass_blockers(where, N1, UNDERUTILIZED)) == expected


@cases(
    "expected, fallen, written",
    ("by less than a node", ["too_few_underutilized", "no_excess"], 3999, ()),
    ("by a node", [], 4000, ()),
    ("the policy sets the excess", ["no_excess"], 4000, ("excess_threshold",)),
    ("the policy sets the count", ["too_few_underutilized"], 4000, ("required_count",)),
)
def test_once_demand_has_fallen_the_defaults_ask_for_no_spare_nodes(
    expected: list[str], fallen: int, written: tuple[str, ...]
) -> None:
    rules = policy(required_count=9, excess_threshold=Fraction(9), written=frozenset(written))
    demand = KnownDemand(cpu=9000 - fallen, since=NOW, most=5000, before=9000)
    where = stand(rules, demand=demand).with_measures({"a": PoolMeasure(1, resources())})
    assert words(pass_blockers(where, N1, UNDERUTILIZED)) == expected


@cases(
    "expected, changes",
    ("all five nodes underutilized would be enough", [False], {"required_count": 5}),
    ("more underutilized nodes than the pool has", [True], {"required_count": 6}),
    ("free requests of most of its nodes", [False], {"excess_threshold": Fraction(9, 2)}),
    ("free requests of all its nodes", [True], {"excess_threshold": Fraction(5)}),
)
def test_a_limit_that_so_small_a_pool_never_reaches_is_named(expected: list[bool], changes: dict[str, Any]) -> None:
    settings = {"required_count": 1, "excess_threshold": Fraction(0), **changes}
    where = stand(policy(**settings)).with_measures({"a": PoolMeasure(4, resources(4, 99))})
    found = pass_blockers(where, N1, UNDERUTILIZED)
    assert [
        blocker.detail.endswith("; the pool has 5 in all, so none goes until it grows") for blocker in found
    ] == expected


@pytest.mark.acceptance(56)
def test_a_pass_stops_when_the_excess_falls_below_the_threshold() -> None:
    rules = policy(excess_threshold=Fraction(2), max_nodes_per_pass=9)
    where, taken = stand(rules).with_measures({"a": PoolMeasure(5, resources(17, 99))}), 0
    for row in FIVE:
        if pass_blockers(where, row, UNDERUTILIZED):
            break
        where, taken = where.with_claim(row), taken + 1
    assert taken == 3


@pytest.mark.parametrize("reason", [EMPTY, DrainReason.EXPIRED, MANUAL])
def test_empty_expired_and_manual_drains_ask_for_no_count_and_no_excess(reason: DrainReason) -> None:
    where = stand(policy(required_count=9, excess_threshold=Fraction(9))).with_measures(
        {"a": PoolMeasure(1, resources())}
    )
    assert pass_blockers(where, N1, reason) == ()


@pytest.mark.acceptance(99)
def test_one_node_of_a_pool_goes_in_a_pass() -> None:
    where = stand(policy(budgets=(budget(5),)))
    assert pass_blockers(where, N1, EMPTY) == ()
    assert words(pass_blockers(where.with_claim(FIVE[1]), N1, EMPTY)) == ["nodes_per_pass"]


def test_a_person_skips_the_gates_of_the_pass_and_no_other() -> None:
    rules = policy(
        required_count=9,
        excess_threshold=Fraction(9),
        cluster_wide={"time_gap": timedelta(days=9), "time_since_last_addition": timedelta(days=9), "minimum_nodes": 5},
    )
    where = stand(rules, last_scale_down=NOW).with_measures({"a": PoolMeasure(0, resources())})
    assert words(blockers(where, N1, MANUAL)) == ["minimum_nodes"]
    assert len(blockers(where, N1, UNDERUTILIZED)) == 5
