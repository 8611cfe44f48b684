"""When drains would start: the gates asked again and again, on a clock that leaves out what changes nothing."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.cli.analysis.forecast.pace import Pace, PacedDrain
from functions.cli.analysis.forecast.steady_state import PolicyAtRest, find_steady_state
from shared.adapters.prices import load
from shared.core.policy import Budget, BudgetUntil, Freeze, Limit, Policy, Rate, Schedule
from shared.core.reasons import DrainReason, Unremovable
from shared.core.records.state import Backoff, ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, claim, cluster, node, pod, policy

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


@pytest.mark.parametrize(
    ("minutes", "until", "most"),
    [
        pytest.param(42, "deleted", 9, id="a budget of one: when each is gone"),
        pytest.param(22, "replaced", 9, id="in the next pass, when its pods run again"),
        pytest.param(27, "replaced", 2, id="two may wait for their deletion"),
    ],
)
def test_a_budget_is_free_again_when_the_policy_wants_that(minutes: int, until: str, most: int) -> None:
    cluster_wide = {"budget_until": BudgetUntil(until), "awaiting_deletion": Limit(count=most)}
    rules = policy(max_nodes_per_pass=9, budgets=(Budget(ONE),), cluster_wide=cluster_wide)
    assert ends(rules, 3, lasts=12 * MINUTE) == minutes * MINUTE


@pytest.mark.parametrize(
    ("minutes", "rules"),
    [
        pytest.param(4, policy(max_nodes_per_pass=9), id="all at once"),
        pytest.param(14, policy(), id="one a pass, passes five minutes apart"),
        pytest.param(9, policy(max_nodes_per_pass=2), id="two a pass"),
        pytest.param(34, policy(cluster_wide={"time_gap": 10 * MINUTE}), id="a gap of ten minutes: every third pass"),
        pytest.param(14, policy(max_nodes_per_pass=9, budgets=(Budget(ONE),)), id="a budget of one: when it is gone"),
        pytest.param(64, policy(max_nodes_per_pass=9, rate=Rate(TWO, 60 * MINUTE)), id="a rate of two an hour"),
        pytest.param(184, policy(max_nodes_per_pass=9, windows=(AT_NIGHT,)), id="in the window that opens at one"),
        pytest.param(
            64,
            policy(max_nodes_per_pass=9, cluster_wide={"freezes": (Freeze(NOW, NOW + 60 * MINUTE),)}),
            id="after the freeze",
        ),
    ],
)
def test_three_nodes_are_gone_when_the_gates_have_let_them(minutes: int, rules: Policy) -> None:
    assert ends(rules, 3) == minutes * MINUTE


@pytest.mark.parametrize(
    ("minutes", "rules", "given"),
    [
        pytest.param(14, policy(), {"ripe": NOW + 7 * MINUTE}, id="its mark is old enough in the second pass"),
        pytest.param(4, policy(cluster_wide={"freezes": (Freeze(NOW + 60 * MINUTE, FAR),)}), {},
                     id="before a freeze that is still to come, even beyond the horizon"),
        pytest.param(64, policy(budgets=(Budget(Limit(count=0), Schedule("0 22 * * *", 60 * MINUTE, "UTC")),)), {},
                     id="when a scheduled budget of its pool ends"),
    ],
)  # fmt: skip
def test_a_node_is_gone(minutes: int, rules: Policy, given: dict[str, Any]) -> None:
    assert ends(rules, 1, **given) == minutes * MINUTE


EACH_MINUTE = Schedule("*/2 * * * *", MINUTE, "UTC")
WATCHDOG = policy().drain.watchdog


@pytest.mark.parametrize(
    ("minutes", "count", "rules", "state"),
    [
        pytest.param([0, 0, 0, 5, 10], 5, policy(max_nodes_per_pass=9, budgets=(Budget(Limit(percent=50)),)), {},
                     id="half of the nodes that are left, rounded up: three of five, one of two, the last"),
        pytest.param([70], 1, policy(),
                     {"backoffs": {"uid-n0": Backoff("n0", NOW + 70 * MINUTE, 70 * MINUTE, "late")}},
                     id="in the pass after it has backed off, although nothing else changes then"),
        pytest.param([5], 1, policy(budgets=(Budget(ONE),)),
                     {"claims": {"uid-n4": claim("n4", since=NOW - WATCHDOG + 5 * MINUTE)}},
                     id="when the watchdog looks after the drain that was under way before"),
        pytest.param([170 * 1440], 2, policy(rate=Rate(ONE, timedelta(days=60)),
                                             cluster_wide={"freezes": (Freeze(NOW, NOW + timedelta(days=170)),)}), {},
                     id="the first after the freeze: the horizon does not move on with it to the second"),
        pytest.param([0, 1805, 3610], 3, policy(budgets=(Budget(Limit(count=9), EACH_MINUTE),),
                                                cluster_wide={"time_gap": timedelta(hours=30)}), {},
                     id="after each gap, in which a schedule changes at some 360 passes in vain"),
    ],
)  # fmt: skip
def test_drains_begin(minutes: list[int], count: int, rules: Policy, state: dict[str, Any]) -> None:
    pace = paced(rules, ClusterState(**state))
    pace.let_go(drains(count), FAR)

    assert sorted((begins - NOW) // MINUTE for begins in pace.begins.values()) == minutes


@pytest.mark.parametrize(
    ("held_up", "count", "rules", "given"),
    [
        pytest.param({Unremovable.MARKED_RECENTLY: 300, Unremovable.NODES_PER_PASS: 300, Unremovable.TIME_GAP: 600},
                     2, policy(cluster_wide={"time_gap": 10 * MINUTE}), {"ripe": NOW + 5 * MINUTE}, id="each its own"),
        pytest.param({Unremovable.NODES_PER_PASS: 900}, 4, policy(), {}, id="every pass counts"),
        pytest.param({Unremovable.NODES_PER_PASS: 300, Unremovable.TIME_GAP: 600}, 2,
                     policy(cluster_wide={"time_gap": 10 * MINUTE}), {"lasts": 60 * MINUTE},
                     id="the pass after a drain is one, although nothing ends before it"),
    ],
)  # fmt: skip
def test_reasons_count_the_seconds_for_which_they_hold_the_next_node_up(
    held_up: dict[Unremovable, int], count: int, rules: Policy, given: dict[str, Any]
) -> None:
    pace = paced(rules)
    pace.let_go(drains(count, **given), FAR)

    assert pace.held_up == held_up


@pytest.mark.parametrize(
    ("reason", "rules"),
    [
        pytest.param(Unremovable.MINIMUM_NODES, policy(cluster_wide={"minimum_nodes": 5}), id="at the minimum"),
        pytest.param(Unremovable.BUDGET, policy(budgets=(Budget(Limit(count=0)), Budget(ONE, EACH_MINUTE))),
                     id="a schedule of minutes is not asked for half a year"),
    ],
)  # fmt: skip
def test_what_never_opens_is_shown_by_its_reason(reason: Unremovable, rules: Policy) -> None:
    pace = paced(rules)

    assert pace.let_go(drains(2), FAR) == frozenset()
    assert (pace.ended, pace.never) == (None, {"n0": reason, "n1": reason})


SHUT = [
    pytest.param(Unremovable.PAUSED, policy(cluster_wide={"paused": True}), id="a pause"),
    pytest.param(Unremovable.OUTSIDE_WINDOWS, policy(windows=()), id="no window at all"),
    pytest.param(
        Unremovable.OUTSIDE_WINDOWS, policy(windows=(Schedule("0 0 29 2 *", 60 * MINUTE),)), id="one years away"
    ),
    pytest.param(Unremovable.BUDGET, policy(budgets=(Budget(Limit(percent=0)),)), id="a budget of nothing"),
    pytest.param(
        Unremovable.CLUSTER_BUDGET, policy(cluster_wide={"budgets": (Budget(Limit(count=0)),)}), id="the cluster's"
    ),
    pytest.param(Unremovable.RATE, policy(rate=Rate(Limit(count=0), MINUTE)), id="a rate of nothing"),
    pytest.param(
        Unremovable.FROZEN, policy(cluster_wide={"freezes": (Freeze(NOW, FAR),)}), id="a freeze beyond the horizon"
    ),
]


@pytest.mark.parametrize(("reason", "rules"), SHUT)
def test_what_is_shut_for_good_is_shown_at_once_and_holds_nothing_up(reason: Unremovable, rules: Policy) -> None:
    pace = paced(rules)
    assert pace.let_go(drains(2), NOW) == frozenset()
    assert (set(pace.never.values()), pace.held_up, pace.now) == ({reason}, {}, NOW)


def test_a_budget_of_nothing_for_other_reasons_shuts_nothing() -> None:
    pace = paced(policy(budgets=(Budget(Limit(count=0), reasons=frozenset({"empty"})),)))
    assert pace.let_go(drains(1), FAR) == {"n0"}


def test_a_pool_that_is_shut_does_not_keep_the_others() -> None:
    nodes = [node("a1"), node("b1", pool="b")]
    rules = replace(policy(), pools={"a": policy(windows=()).pools["a"], "b": policy().pools["a"]})
    pace = Pace(Situation(cluster(nodes), ClusterState(), rules))
    rows = [PacedDrain(own, DrainReason.UNDERUTILIZED, NOW, MINUTE, MINUTE) for own in nodes]
    assert pace.let_go(rows, FAR) == {"b1"}
    assert (pace.never, pace.held_up) == ({"a1": Unremovable.OUTSIDE_WINDOWS}, {})


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


@pytest.mark.parametrize("turned", [pytest.param(False, id="asked after it"), pytest.param(True, id="asked before it")])
def test_a_budget_for_one_reason_holds_no_drain_of_another_up(turned: bool) -> None:
    for_an_hour = Schedule("0 22 * * *", 60 * MINUTE, "UTC")
    none = Budget(Limit(count=0), for_an_hour, reasons=frozenset({"empty"}))
    pace = paced(policy(max_nodes_per_pass=9, budgets=(none,)))
    rows = [PacedDrain(NODES[0], DrainReason.EMPTY, NOW, MINUTE, MINUTE), *drains(2)[1:]]
    pace.let_go(rows[::-1] if turned else rows, FAR)

    assert pace.begins == {"n0": NOW + 60 * MINUTE, "n1": NOW}


HALF_FULL = cluster(
    [node("n1"), node("n2"), node("n3")], [pod(f"p{number}", on=f"n{number}", cpu=2.2) for number in (1, 2)]
)


def _at_rest(rules: Policy) -> PolicyAtRest:
    return find_steady_state(Situation(HALF_FULL, ClusterState(), rules), {}, load())


def test_from_a_rest_nothing_follows_without_a_change() -> None:
    told = _at_rest(policy())
    assert (told.settled, told.rest.gone, told.anyway) == (True, 1, told.rest)
    assert told.onward(told.situation.policy, told.rest.snapshot).gone == 1


def test_what_was_left_to_be_done_is_no_merit_of_a_change() -> None:
    """The rounds ended before the empty node went; it goes without any change, too."""
    begun = _at_rest(policy())
    cut_short = replace(begun, rest=begun.start, settled=False)
    assert (cut_short.rest.gone, cut_short.anyway.gone) == (0, 1)


@pytest.mark.parametrize(
    ("expected", "rounds"), [pytest.param(False, 1, id="one round"), pytest.param(True, 2, id="and one to see it")]
)
def test_a_change_is_in_steady_state_once_a_round_has_found_nothing(expected: bool, rounds: int) -> None:
    told = _at_rest(policy())

    assert told.onward(told.situation.policy, HALF_FULL, rounds).is_rest is expected
