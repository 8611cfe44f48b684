"""When drains would start: the gates asked again and again, on a clock that leaves out what changes nothing."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.cli.analysis.forecast.pace import Pace, PacedDrain
from functions.cli.analysis.forecast.steady_state import PolicyAtRest, find_steady_state, pace_of
from shared.adapters.prices import load
from shared.core.policy import Budget, BudgetUntil, Freeze, Limit, Policy, Rate, Schedule
from shared.core.reasons import DrainReason, Unremovable
from shared.core.records.orders import Origin
from shared.core.records.state import Backoff, Claim, ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, claim, cluster, node, pod, policy

FAR = NOW + timedelta(days=400)
MINUTE = timedelta(minutes=1)
NODES = [node(f"n{number}") for number in range(5)]
ONE, TWO = Limit(count=1), Limit(count=2)
AT_NIGHT = Schedule("0 1 * * *", timedelta(hours=1), "UTC")


def paced(rules: Policy, state: ClusterState | None = None) -> Pace:
    return pace_of(Situation(cluster(NODES), state or ClusterState(), rules))


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
    pace = pace_of(Situation(cluster(nodes), ClusterState(), rules))
    rows = [PacedDrain(own, DrainReason.UNDERUTILIZED, NOW, MINUTE, MINUTE) for own in nodes]
    assert pace.let_go(rows, FAR) == {"b1"}
    assert (pace.never, pace.held_up) == ({"a1": Unremovable.OUTSIDE_WINDOWS}, {})


def test_a_drain_that_was_under_way_before_makes_room_in_the_budget() -> None:
    """It counts until its watchdog has looked after it; then the next begins."""
    claim = Claim(
        order_id="o", node="n4", pool="a", zone="", since=NOW, reason=DrainReason.MANUAL, origin=Origin.MANUAL
    )
    rules = policy(budgets=(Budget(ONE),))
    pace = paced(rules, ClusterState(claims={NODES[4].uid: claim}))
    assert pace.let_go(drains(1), FAR) == {"n0"}
    assert pace.begins["n0"] >= NOW + rules.drain.watchdog


def test_a_node_waits_for_its_mark() -> None:
    assert ends(policy(), 1, ripe=NOW + 7 * MINUTE) == 14 * MINUTE


@pytest.mark.parametrize(
    ("reason", "rules"),
    [
        pytest.param(Unremovable.PAUSED, policy(cluster_wide={"paused": True}), id="paused"),
        pytest.param(Unremovable.OUTSIDE_WINDOWS, policy(windows=()), id="no window ever"),
        pytest.param(Unremovable.BUDGET, policy(budgets=(Budget(Limit(count=0)),)), id="a budget of nothing"),
        pytest.param(Unremovable.MINIMUM_NODES, policy(cluster_wide={"minimum_nodes": 5}), id="at the minimum"),
    ],
)
def test_what_never_opens_is_shown_by_its_reason(reason: Unremovable, rules: Policy) -> None:
    pace = paced(rules)

    assert pace.let_go(drains(2), FAR) == frozenset()
    assert (pace.ended, pace.never) == (None, {"n0": reason, "n1": reason})


def test_schedules_of_minutes_are_not_asked_for_half_a_year() -> None:
    each_minute = Schedule("*/2 * * * *", MINUTE, "UTC")
    closed = (Budget(Limit(count=0)), Budget(ONE, each_minute))

    pace = paced(policy(budgets=closed))
    assert (pace.let_go(drains(1), FAR), [*pace.never]) == (frozenset(), ["n0"])


def test_what_held_it_up_is_counted_by_reason() -> None:
    pace = paced(policy(cluster_wide={"time_gap": 10 * MINUTE}))
    pace.let_go(drains(2, ripe=NOW + 5 * MINUTE), FAR)

    assert dict(pace.held_up) == {
        Unremovable.MARKED_RECENTLY: 300,
        Unremovable.NODES_PER_PASS: 300,
        Unremovable.TIME_GAP: 600,
    }


def test_those_that_have_not_begun_by_then_are_neither_gone_nor_never() -> None:
    pace = paced(policy())

    assert pace.let_go(drains(3), NOW + 6 * MINUTE) == {"n0", "n1"}
    assert pace.now == NOW + 5 * MINUTE


def test_a_pool_that_is_closed_holds_no_other_pool_up() -> None:
    both = [node("n0"), node("n1", pool="b")]
    rules = policy(windows=())
    pace = pace_of(Situation(cluster(both), ClusterState(), with_pool(rules, "b")))

    rows = [PacedDrain(own, DrainReason.EMPTY, NOW, MINUTE, MINUTE) for own in both]
    assert pace.let_go(rows, FAR) == {"n1"}


def with_pool(rules: Policy, name: str) -> Policy:

    return replace(rules, pools={**rules.pools, name: policy(name).pools[name]})


def test_a_budget_in_percent_is_measured_by_the_nodes_that_are_left() -> None:
    """Of five half are three, rounded up; of the two that are left one, after them the last."""
    pace = paced(policy(max_nodes_per_pass=9, budgets=(Budget(Limit(percent=50)),)))

    pace.let_go(drains(5), FAR)

    begun = sorted((begins - NOW) // MINUTE for begins in pace.begins.values())
    assert begun == [0, 0, 0, 5, 10]


def test_a_node_that_backs_off_goes_in_the_pass_after_that() -> None:
    """Nothing else changes then."""
    backed_off = ClusterState(backoffs={"uid-n0": Backoff("n0", NOW + 70 * MINUTE, 70 * MINUTE, "deadline")})
    pace = paced(policy(), backed_off)

    pace.let_go(drains(1), FAR)

    assert pace.begins == {"n0": NOW + 70 * MINUTE}


def test_the_horizon_stays_where_it_was_at_the_beginning() -> None:
    """Half a year ends ten days after the freeze, and the second node would go two months after the first."""
    frozen = {"freezes": (Freeze(NOW, NOW + timedelta(days=170)),)}
    pace = paced(policy(rate=Rate(ONE, timedelta(days=60)), cluster_wide=frozen))

    pace.let_go(drains(2), FAR)

    assert len(pace.begins) == 1


def test_before_a_freeze_that_is_still_to_come_nodes_go() -> None:
    """Even where it lasts beyond the horizon."""
    frozen = policy(cluster_wide={"freezes": (Freeze(NOW + 60 * MINUTE, FAR),)})

    assert ends(frozen, 1) == 4 * MINUTE


def test_a_node_goes_when_a_scheduled_budget_of_its_pool_ends() -> None:
    none = Budget(Limit(count=0), schedule=Schedule("0 22 * * *", 60 * MINUTE, "UTC"))

    assert ends(policy(budgets=(none,)), 1) == 64 * MINUTE


def test_every_pass_that_a_reason_holds_the_next_node_up_counts() -> None:
    pace = paced(policy())
    pace.let_go(drains(4), FAR)

    assert pace.held_up == {Unremovable.NODES_PER_PASS: 3 * 300}


def test_a_pool_that_has_had_its_turn_leaves_the_others_theirs() -> None:
    nodes = [node("a0"), node("a1"), node("b0", pool="b")]
    pace = pace_of(Situation(cluster(nodes), ClusterState(), with_pool(policy(), "b")))
    pace.let_go([PacedDrain(own, DrainReason.EMPTY, NOW, MINUTE, 60 * MINUTE) for own in nodes], FAR)

    assert pace.begins == {"a0": NOW, "a1": NOW + 5 * MINUTE, "b0": NOW}


def test_the_last_node_is_gone_when_the_longest_drain_has_ended() -> None:
    pace = paced(policy())
    long, short = drains(1, lasts=60 * MINUTE), drains(2)[1:]
    pace.let_go([*long, *short], FAR)

    assert (pace.begins["n1"], pace.ended) == (NOW + 5 * MINUTE, NOW + 60 * MINUTE)


def test_passes_in_vain_are_counted_from_the_last_drain_on() -> None:
    """Some 360 passes lie in each gap of 30 hours, and a schedule changes at every one of them."""
    each_minute = Schedule("*/2 * * * *", MINUTE, "UTC")
    pace = paced(policy(budgets=(Budget(Limit(count=9), each_minute),), cluster_wide={"time_gap": timedelta(hours=30)}))

    assert pace.let_go(drains(3), FAR) == {"n0", "n1", "n2"}


@pytest.mark.parametrize(("gap", "minutes"), [(0, [0, 5, 10]), (10, [0, 15, 30])])
def test_rounds_of_one_drain_each_are_paced_as_one_round_of_all(gap: int, minutes: list[int]) -> None:
    """In a cluster of ten nodes each round has one; its end is not a pass that began nothing."""
    pace = paced(policy(cluster_wide={"time_gap": gap * MINUTE}))
    for drain in drains(3, lasts=60 * MINUTE):
        pace.let_go([drain], FAR)

    assert [at - NOW for at in pace.begins.values()] == [minute * MINUTE for minute in minutes]


def test_the_pass_after_a_drain_is_looked_at_although_nothing_ends_before_it() -> None:
    pace = paced(policy(cluster_wide={"time_gap": 10 * MINUTE}))
    pace.let_go(drains(2, lasts=60 * MINUTE), FAR)

    assert pace.held_up == {Unremovable.NODES_PER_PASS: 300, Unremovable.TIME_GAP: 600}


def test_a_drain_that_began_before_ends_its_watchdog_after_its_beginning() -> None:
    rules = policy(budgets=(Budget(ONE),))
    pace = paced(rules, ClusterState(claims={"uid-n4": claim("n4", since=NOW - rules.drain.watchdog + 5 * MINUTE)}))
    pace.let_go(drains(1), FAR)

    assert pace.begins == {"n0": NOW + 5 * MINUTE}


def test_a_node_that_counts_for_no_budget_takes_nothing_from_one_when_it_goes() -> None:
    """30 % of four, rounded up, are two. Were it taken off the four, the second would wait for the first."""
    nodes = [*NODES[:4], node("n9", once_ready=False, ready=False)]
    rules = policy(max_nodes_per_pass=9, budgets=(Budget(Limit(percent=30)),))
    state = ClusterState(claims={"uid-n9": claim("n9", since=NOW - rules.drain.watchdog + 5 * MINUTE)})
    pace = pace_of(Situation(cluster(nodes), state, rules))
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
