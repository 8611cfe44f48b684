import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.selectors import LabelSelector, Requirement
from shared.core.policy import Budget, Freeze, Limit, Policy, Rate, Schedule
from shared.core.policy.parsing import parse
from shared.core.policy.schedule import active
from shared.core.reasons import DrainReason
from shared.core.records.state import Start
from shared.core.rules.budgets import Calendar, freeze_in_force, limit_now, starts_left, window_open
from shared.core.rules.drain_context import BudgetIndex
from tests.bench.policies import BUDGETS, POOLS, document, evaluated
from tests.builders import NOW, pdb, pod
from tests.depth import cases

WEDNESDAY_NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
WEDNESDAY_NIGHT = datetime(2026, 3, 4, 22, tzinfo=UTC)
OFFICE_HOURS = Schedule("0 9 * * mon-fri", timedelta(hours=8))
UNDERUTILIZED, EMPTY, EXPIRED, MANUAL = (
    DrainReason.UNDERUTILIZED,
    DrainReason.EMPTY,
    DrainReason.EXPIRED,
    DrainReason.MANUAL,
)


def budget(nodes: int | str, *reasons: str, schedule: Schedule | None = None) -> Budget:
    limit = Limit(percent=int(nodes[:-1])) if isinstance(nodes, str) else Limit(count=nodes)
    return Budget(limit, schedule, frozenset(reasons))


@pytest.mark.acceptance(61)
@cases(
    "expected, share, nodes",
    ("10% of 1", 1, "10%", 1),
    ("10% of 9", 1, "10%", 9),
    ("10% of 10", 1, "10%", 10),
    ("10% of 11", 2, "10%", 11),
    ("Karpenter: 5% of 10", 1, "5%", 10),
    ("Karpenter: 20% of 19", 4, "20%", 19),
    ("nothing of many", 0, "0%", 1000),
    ("all of none", 0, "100%", 0),
)
def test_a_percentage_rounds_up(expected: int, share: str, nodes: int) -> None:
    assert limit_now([budget(share)], UNDERUTILIZED, nodes, Calendar(NOW)) == expected


@pytest.mark.acceptance(70, 62)
@cases(
    "expected, now", ("office hours: no scale-down", 0, WEDNESDAY_NOON), ("every other time: ten", 10, WEDNESDAY_NIGHT)
)
def test_the_most_restrictive_active_budget_wins(expected: int, now: datetime) -> None:
    seed = [budget(0, schedule=OFFICE_HOURS), budget(10)]
    assert limit_now(seed, UNDERUTILIZED, 1000, Calendar(now)) == expected


@pytest.mark.acceptance(75)
@cases(
    "expected, budgets",
    ("an empty list", None, []),
    ("none active", None, [budget(0, schedule=OFFICE_HOURS)]),
    ("none for the reason", None, [budget(0, "empty")]),
    ("the general one is lower", 10, [budget(10), budget(15, "underutilized")]),
    ("the reason's own is lower", 4, [budget(10), budget(4, "underutilized")]),
    ("another reason's does not count", 10, [budget(10), budget(4, "empty")]),
    ("drifted never matches", None, [budget(0, "drifted")]),
    ("nor does unhealthy", None, [budget(0, "drifted", "unhealthy")]),
)
def test_no_active_budget_for_a_reason_is_no_limit(expected: int | None, budgets: list[Budget]) -> None:
    assert limit_now(budgets, UNDERUTILIZED, 100, Calendar(WEDNESDAY_NIGHT)) == expected


@cases(
    "expected, reason",
    *((reason, 3, reason) for reason in ("empty", "underutilized", "expired")),
    ("but not by one for drift alone", None, "drifted"),
)
def test_a_person_is_bound_by_every_active_budget(expected: int | None, reason: str) -> None:
    assert limit_now([budget(3, reason)], MANUAL, 100, Calendar(NOW)) == expected


@pytest.mark.acceptance(64)
@pytest.mark.parametrize("hours", range(0, 168, 7))
def test_a_budget_without_a_schedule_is_always_active(hours: int) -> None:
    assert limit_now(Policy().budgets, EXPIRED, 30, Calendar(NOW + timedelta(hours=hours))) == 3


@pytest.mark.acceptance(66)
@pytest.mark.parametrize("reason", [EMPTY, UNDERUTILIZED, MANUAL])
def test_a_schedule_that_cannot_be_read_allows_nothing_for_any_reason(reason: DrainReason) -> None:
    bad = budget(5, "empty", schedule=Schedule("@wrongly", timedelta(hours=1)))
    assert limit_now([budget(10), bad], reason, 100, Calendar(NOW)) == 0


@cases(
    "expected, minutes_ago",
    ("exactly an hour ago no longer counts", 1, [60]),
    ("within the hour it does", 0, [59]),
    ("never below zero", 0, [1, 2, 3]),
    ("nothing has started", 1, []),
)
def test_a_rate_counts_the_starts_of_one_period(expected: int, minutes_ago: list[int]) -> None:
    starts = [Start(NOW - timedelta(minutes=minute), "a") for minute in minutes_ago]
    assert starts_left(Rate(Limit(percent=20), timedelta(hours=1)), starts, 5, NOW) == expected


@cases(
    "expected, windows",
    ("no list", True, None),
    ("an empty list", False, ()),
    ("a closed one", False, (OFFICE_HOURS,)),
    ("one of two is open", True, (OFFICE_HOURS, Schedule("0 20 * * *", timedelta(hours=10)))),
    ("one that cannot be read", False, (Schedule("nonsense", timedelta(hours=1)),)),
)
def test_windows_are_an_allow_list(expected: bool, windows: tuple[Schedule, ...] | None) -> None:
    assert window_open(windows, Calendar(WEDNESDAY_NIGHT)) is expected


@cases(
    "expected, offset",
    ("a second before", False, -1),
    ("at its start", True, 0),
    ("its last second", True, 3599),
    ("at its end", False, 3600),
)
def test_a_freeze_holds_from_its_start_until_before_its_end(expected: bool, offset: int) -> None:
    freeze = Freeze(NOW, NOW + timedelta(hours=1))
    assert (freeze_in_force([freeze], NOW + timedelta(seconds=offset)) is freeze) is expected


def test_each_schedule_is_evaluated_once_however_many_pools_share_it() -> None:
    policy, calls = parse(document()), Counter[str]()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is active.__code__:
            calls[str(frame.f_locals["schedule"])] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        found = evaluated(policy, Calendar(NOW))
    finally:
        sys.setprofile(before)

    assert len(found) == POOLS
    assert (len(calls), set(calls.values())) == (BUDGETS, {1})


KEYS, VALUES, SPACES = ("app", "tier"), ("a", "b", ""), ("default", "shop")
REQUIREMENTS = st.builds(
    Requirement,
    st.sampled_from(KEYS),
    st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist")),
    st.lists(st.sampled_from(VALUES), max_size=3).map(tuple),
)
SELECTORS = st.none() | st.lists(REQUIREMENTS, max_size=3).map(lambda row: LabelSelector(tuple(row)))
SELECTED = st.lists(st.tuples(st.sampled_from(SPACES), SELECTORS), max_size=8)
LABELS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))


@given(SELECTED, LABELS, st.sampled_from(SPACES))
def test_the_index_finds_what_comparing_each_finds(
    rows: list[tuple[str, LabelSelector | None]], labels: dict[str, str], namespace: str
) -> None:
    budgets = [
        replace(pdb(f"b{number}"), namespace=space, selector=selector) for number, (space, selector) in enumerate(rows)
    ]
    spec = pod("p", namespace=namespace, labels=labels).spec

    assert BudgetIndex(budgets).matching(spec) == tuple(budget for budget in budgets if budget.matches(spec))
