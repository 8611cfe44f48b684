"""When drains would start: the gates asked again and again, on a clock that leaves out what changes nothing."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.cli.analysis.forecast.pace import Pace, PacedDrain
from shared.core.policy import Budget, BudgetUntil, Freeze, Limit, Policy, Rate, Schedule
from shared.core.reasons import DrainReason, Unremovable
from shared.core.records.state import Backoff, ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, claim, cluster, node, policy
from tests.depth import cases

FAR = NOW + timedelta(days=400)
MINUTE = timedelta(minutes=1)
NODES = [node(f"n{number}") for number in range(5)]
ONE, TWO = Limit(count=1), Limit(count=2)
AT_NIGHT = Schedule("0 1 * * *", timedelta(hours=1), "UTC")


def paced(rules: Policy, state: ClusterState | None = None) -> Pace:
    return Pace(Situation(cluster(NODES), state or ClusterState(), rules))


def drains(count: int, ripe: datetime = NOW, lasts: timedelta = 4 * MINUTE) -> list[PacedDrain]:
    return [PacedDrain(own, DrainReason.UNDERUTILIZED, ripe, 2 * MINUTE, lasts) for own in NODES[:count]]


def ends(rules: Policy, count: int, **given: Any) -> timedelta | None:
    pace = paced(rules)
    pace.let_go(drains(count, **given), FAR)
    return None if pace.ended is None else pace.ended - NOW


@cases(
    "minutes, until, most",
    ("a budget of one: when each is gone", 42, "deleted", 9),
    ("in the next pass, when its pods run again", 22, "replaced", 9),
    ("two may wait for their deletion", 27, "replaced", 2),
)
def test_a_budget_is_free_again_when_the_policy_wants_that(minutes: int, until: str, most: int) -> None:
    cluster_wide = {"budget_until": BudgetUntil(until), "awaiting_deletion": Limit(count=most)}
    rules = policy(max_nodes_per_pass=9, budgets=(Budget(ONE),), cluster_wide=cluster_wide)
    assert ends(rules, 3, lasts=12 * MINUTE) == minutes * MINUTE


@cases(
    "minutes, rules",
    ("all at once", 4, policy(max_nodes_per_pass=9)),
    ("one a pass, passes five minutes apart", 14, policy()),
    ("two a pass", 9, policy(max_nodes_per_pass=2)),
    ("a gap of ten minutes: every third pass", 34, policy(cluster_wide={"time_gap": 10 * MINUTE})),
    ("a budget of one: when it is gone", 14, policy(max_nodes_per_pass=9, budgets=(Budget(ONE),))),
    ("a rate of two an hour", 64, policy(max_nodes_per_pass=9, rate=Rate(TWO, 60 * MINUTE))),
    ("in the window that opens at one", 184, policy(max_nodes_per_pass=9, windows=(AT_NIGHT,))),
    ("after the freeze", 64, policy(max_nodes_per_pass=9, cluster_wide={"freezes": (Freeze(NOW, NOW + 60 * MINUTE),)})),
)
def test_three_nodes_are_gone_when_the_gates_have_let_them(minutes: int, rules: Policy) -> None:
    assert ends(rules, 3) == minutes * MINUTE


@cases(
    "minutes, rules, given",
    ("its mark is old enough in the second pass", 14, policy(), {"ripe": NOW + 7 * MINUTE}),
    ("before a freeze that is still to come, even beyond the horizon", 4,
     policy(cluster_wide={"freezes": (Freeze(NOW + 60 * MINUTE, FAR),)}), {}),
    ("when a scheduled budget of its pool ends", 64,
     policy(budgets=(Budget(Limit(count=0), Schedule("0 22 * * *", 60 * MINUTE, "UTC")),)), {}),
)  # fmt: skip
def test_a_node_is_gone(minutes: int, rules: Policy, given: dict[str, Any]) -> None:
    assert ends(rules, 1, **given) == minutes * MINUTE


EACH_MINUTE = Schedule("*/2 * * * *", MINUTE, "UTC")
WATCHDOG = policy().drain.watchdog


@cases(
    "minutes, count, rules, state",
    ("half of the nodes that are left, rounded up: three of five, one of two, the last", [0, 0, 0, 5, 10], 5,
     policy(max_nodes_per_pass=9, budgets=(Budget(Limit(percent=50)),)), {}),
    ("in the pass after it has backed off, although nothing else changes then", [70], 1, policy(),
     {"backoffs": {"uid-n0": Backoff("n0", NOW + 70 * MINUTE, 70 * MINUTE, "late")}}),
    ("when the watchdog looks after the drain that was under way before", [5], 1, policy(budgets=(Budget(ONE),)),
     {"claims": {"uid-n4": claim("n4", since=NOW - WATCHDOG + 5 * MINUTE)}}),
    ("the first after the freeze: the horizon does not move on with it to the second", [170 * 1440], 2,
     policy(rate=Rate(ONE, timedelta(days=60)), cluster_wide={"freezes": (Freeze(NOW, NOW + timedelta(days=170)),)}),
     {}),
    ("after each gap, in which a schedule changes at some 360 passes in vain", [0, 1805, 3610], 3,
     policy(budgets=(Budget(Limit(count=9), EACH_MINUTE),), cluster_wide={"time_gap": timedelta(hours=30)}), {}),
)  # fmt: skip
def test_drains_begin(minutes: list[int], count: int, rules: Policy, state: dict[str, Any]) -> None:
    pace = paced(rules, ClusterState(**state))
    pace.let_go(drains(count), FAR)

    assert sorted((begins - NOW) // MINUTE for begins in pace.begins.values()) == minutes


@cases(
    "held_up, count, rules, given",
    ("each its own", {Unremovable.MARKED_RECENTLY: 300, Unremovable.NODES_PER_PASS: 300, Unremovable.TIME_GAP: 600}, 2,
     policy(cluster_wide={"time_gap": 10 * MINUTE}), {"ripe": NOW + 5 * MINUTE}),
    ("every pass counts", {Unremovable.NODES_PER_PASS: 900}, 4, policy(), {}),
    ("the pass after a drain is one, although nothing ends before it",
     {Unremovable.NODES_PER_PASS: 300, Unremovable.TIME_GAP: 600}, 2, policy(cluster_wide={"time_gap": 10 * MINUTE}),
     {"lasts": 60 * MINUTE}),
)  # fmt: skip
def test_reasons_count_the_seconds_for_which_they_hold_the_next_node_up(
    held_up: dict[Unremovable, int], count: int, rules: Policy, given: dict[str, Any]
) -> None:
    pace = paced(rules)
    pace.let_go(drains(count, **given), FAR)

    assert pace.held_up == held_up


@cases(
    "reason, rules",
    ("at the minimum", Unremovable.MINIMUM_NODES, policy(cluster_wide={"minimum_nodes": 5})),
    ("a schedule of minutes is not asked for half a year", Unremovable.BUDGET,
     policy(budgets=(Budget(Limit(count=0)), Budget(ONE, EACH_MINUTE)))),
)  # fmt: skip
def test_what_never_opens_is_shown_by_its_reason(reason: Unremovable, rules: Policy) -> None:
    pace = paced(rules)

    assert pace.let_go(drains(2), FAR) == frozenset()
    assert (pace.ended, pace.never) == (None, {"n0": reason, "n1": reason})


@cases(
    "reason, rules",
    ("a pause", Unremovable.PAUSED, policy(cluster_wide={"paused": True})),
    ("no window at all", Unremovable.OUTSIDE_WINDOWS, policy(windows=())),
    ("one years away", Unremovable.OUTSIDE_WINDOWS, policy(windows=(Schedule("0 0 29 2 *", 60 * MINUTE),))),
    ("a budget of nothing", Unremovable.BUDGET, policy(budgets=(Budget(Limit(percent=0)),))),
    ("the cluster's", Unremovable.CLUSTER_BUDGET, policy(cluster_wide={"budgets": (Budget(Limit(count=0)),)})),
    ("a rate of nothing", Unremovable.RATE, policy(rate=Rate(Limit(count=0), MINUTE))),
    ("a freeze beyond the horizon", Unremovable.FROZEN, policy(cluster_wide={"freezes": (Freeze(NOW, FAR),)})),
)
def test_what_is_shut_for_good_is_shown_at_once_and_holds_nothing_up(reason: Unremovable, rules: Policy) -> None:
    pace = paced(rules)
    assert pace.let_go(drains(2), NOW) == frozenset()
    assert (set(pace.never.values()), pace.held_up, pace.now) == ({reason}, {}, NOW)


def test_a_budget_of_nothing_for_other_reasons_shuts_nothing() -> None:
    pace = paced(policy(budgets=(Budget(Limit(count=0), reasons=frozenset({"empty"})),)))
    assert pace.let_go(drains(1), FAR) == {"n0"}


def test_those_that_have_not_begun_by_then_are_neither_gone_nor_never() -> None:
    pace = paced(policy())

    assert pace.let_go(drains(3), NOW + 6 * MINUTE) == {"n0", "n1"}
    assert pace.now == NOW + 5 * MINUTE


def test_a_pool_that_has_had_its_turn_leaves_the_others_theirs() -> None:
    nodes = [node("a0"), node("a1"), node("b0", pool="b")]
    pace = Pace(
        Situation(cluster(nodes), ClusterState(), replace(policy(), pools={**policy().pools, **policy("b").pools}))
    )
    pace.let_go([PacedDrain(own, DrainReason.EMPTY, NOW, MINUTE, 60 * MINUTE) for own in nodes], FAR)

    assert pace.begins == {"a0": NOW, "a1": NOW + 5 * MINUTE, "b0": NOW}


def test_the_last_node_is_gone_when_the_longest_drain_has_ended() -> None:
    pace = paced(policy())
    long, short = drains(1, lasts=60 * MINUTE), drains(2)[1:]
    pace.let_go([*long, *short], FAR)

    assert (pace.begins["n1"], pace.ended) == (NOW + 5 * MINUTE, NOW + 60 * MINUTE)


@pytest.mark.parametrize(("gap", "minutes"), [(0, [0, 5, 10]), (10, [0, 15, 30])])
def test_rounds_of_one_drain_each_are_paced_as_one_round_of_all(gap: int, minutes: list[int]) -> None:
    """In a cluster of ten nodes each round has one; its end is not a pass that began nothing."""
    pace = paced(policy(cluster_wide={"time_gap": gap * MINUTE}))
    for drain in drains(3, lasts=60 * MINUTE):
        pace.let_go([drain], FAR)

    assert [at - NOW for at in pace.begins.values()] == [minute * MINUTE for minute in minutes]


def test_a_node_that_counts_for_no_budget_takes_nothing_from_one_when_it_goes() -> None:
    """30 % of four, rounded up, are two. Were it taken off the four, the second would wait for the first."""
    nodes = [*NODES[:4], node("n9", once_ready=False, ready=False)]
    rules = policy(max_nodes_per_pass=9, budgets=(Budget(Limit(percent=30)),))
    state = ClusterState(claims={"uid-n9": claim("n9", since=NOW - rules.drain.watchdog + 5 * MINUTE)})
    pace = Pace(Situation(cluster(nodes), state, rules))
    pace.let_go(drains(2, lasts=60 * MINUTE), FAR)

    assert sorted((begins - NOW) // MINUTE for begins in pace.begins.values()) == [0, 5]


@cases("turned", ("asked after it", False), ("asked before it", True))
def test_a_budget_for_one_reason_holds_no_drain_of_another_up(turned: bool) -> None:
    for_an_hour = Schedule("0 22 * * *", 60 * MINUTE, "UTC")
    none = Budget(Limit(count=0), for_an_hour, reasons=frozenset({"empty"}))
    pace = paced(policy(max_nodes_per_pass=9, budgets=(none,)))
    rows = [PacedDrain(NODES[0], DrainReason.EMPTY, NOW, MINUTE, MINUTE), *drains(2)[1:]]
    pace.let_go(rows[::-1] if turned else rows, FAR)

    assert pace.begins == {"n0": NOW + 60 * MINUTE, "n1": NOW}
