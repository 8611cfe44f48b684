"""The figures of `policy calendar`: every hour's answer is the core's own."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.policy.calendar import CalendarQuestion, Day, NodeLimit, Sizes, calendar, instants, node_limit
from shared.core.policy import Budget, BudgetUntil, Freeze, Limit, Policy, PoolPolicy, Rate, Schedule
from shared.core.reasons import DrainReason
from shared.core.rules.budgets import Calendar, limit_now, window_open

AMSTERDAM = ZoneInfo("Europe/Amsterdam")
MONDAY = date(2026, 11, 23)
OFFICE = Schedule("0 9 * * mon-fri", timedelta(hours=8), "Europe/Amsterdam")
NIGHT = Schedule("30 20 * * *", timedelta(hours=10), "Europe/Amsterdam")
TEN, TWO = Budget(Limit(percent=10)), Budget(Limit(2))


def policy(*budgets: Budget, cluster: dict[str, Any] | None = None, **pool: Any) -> Policy:
    own = PoolPolicy(enabled=True, budgets=budgets, **pool)
    return Policy(pools={"a": own}, **{"budgets": (), "rate": None, **(cluster or {})})


def days(given: Policy, first: date = MONDAY, number: int = 1, sizes: Sizes | None = None) -> tuple[Day, ...]:
    return calendar(CalendarQuestion(given, sizes or Sizes(), AMSTERDAM, first, number), ["a"])["a"]


def amounts(day: Day) -> list[str]:
    """The hours of a day in words: a mark where the limit changes, an empty word where the clock skips one."""
    return ["" if hour is None else f"{hour.limit.amount}{'*' if hour.changes else ''}" for hour in day.hours]


def test_a_budget_of_office_hours_shuts_the_hours_from_nine_to_seventeen() -> None:
    (day,) = days(policy(Budget(Limit(0), OFFICE), TWO))
    assert amounts(day) == ["2"] * 9 + ["0"] * 8 + ["2"] * 7


def test_an_hour_in_which_a_window_opens_or_shuts_shows_the_most_restrictive_with_a_mark() -> None:
    (day,) = days(policy(TWO, windows=(NIGHT,)))
    assert amounts(day) == ["2"] * 6 + ["0*"] + ["0"] * 13 + ["0*"] + ["2"] * 3


def test_a_schedule_that_comes_and_goes_between_two_hours_is_seen() -> None:
    quarter = Schedule("20 3 * * *", timedelta(minutes=5), "Europe/Amsterdam")
    (day,) = days(policy(Budget(Limit(0), quarter), TWO))
    assert [hour for hour, amount in enumerate(amounts(day)) if amount == "0*"] == [3]


@pytest.mark.acceptance(67)
@pytest.mark.parametrize(
    ("expected", "day"),
    [
        pytest.param(["2", "2", "", "0", "2"], date(2026, 3, 29), id="the hour that the clock skips is blank"),
        pytest.param(["2", "2", "0*", "2", "2"], date(2026, 10, 25), id="the repeated hour is one"),
    ],
)
def test_on_the_days_of_a_clock_change(expected: list[str], day: date) -> None:
    """02:00 to 03:00 local: in March it happens from 03:00 on, in October in the first of two such hours."""
    hour = Schedule("0 2 * * *", timedelta(hours=1), "Europe/Amsterdam")
    assert amounts(days(policy(Budget(Limit(0), hour), TWO), day)[0])[:5] == expected


@pytest.mark.parametrize(
    ("expected", "given", "sizes"),
    [
        pytest.param(NodeLimit(None, 10, "budget 10% always"), policy(TEN), Sizes(), id="a share of an unknown pool"),
        pytest.param(NodeLimit(3, None, "budget 10% always"), policy(TEN), Sizes({"a": 30}), id="a share of thirty"),
        pytest.param(
            NodeLimit(2, 10, "the smaller of budget 2 always and budget 10% always"),
            policy(TWO, TEN), Sizes(), id="a number and a share of an unknown pool"),
        pytest.param(
            NodeLimit(2, None, "budget 2 always"),
            policy(TEN, TWO), Sizes({"a": 30}), id="the smaller of both"),
        pytest.param(NodeLimit(None, None, "nothing limits it"), policy(), Sizes(), id="no limit"),
        pytest.param(
            NodeLimit(0, None, "budget 0% always"), policy(Budget(Limit(percent=0))), Sizes(), id="a share of nothing"),
        pytest.param(NodeLimit(0, None, "no window is open"), policy(TWO, windows=()), Sizes(), id="no window"),
        pytest.param(
            NodeLimit(0, None, "freeze until 2026-11-28 00:00:00 UTC"),
            policy(TWO, windows=(), cluster={"freezes": (Freeze(datetime(2026, 11, 1, tzinfo=UTC),
                                                                datetime(2026, 11, 28, tzinfo=UTC)),)}),
            Sizes(), id="a freeze before a window, in the order of the gates"),
        pytest.param(
            NodeLimit(1, None, "rate 1 in any 1h"),
            policy(TWO, rate=Rate(Limit(1), timedelta(hours=1))), Sizes(), id="a rate below the budget"),
        pytest.param(
            NodeLimit(None, 5, "rate 5% in any 1h"),
            policy(TEN, rate=Rate(Limit(percent=5), timedelta(hours=1))), Sizes(), id="a rate that is a share"),
        pytest.param(NodeLimit(2, None, "budget 2 always"), policy(TWO, cluster={"budgets": (TEN,)}), Sizes({"a": 5}),
                     id="a share of a cluster of unknown size shows nothing"),
        pytest.param(
            NodeLimit(1, None, "cluster budget 10% always"), policy(TWO, cluster={"budgets": (TEN,)}),
            Sizes({"a": 5}, 5), id="a share of a cluster of known size"),
        pytest.param(
            NodeLimit(1, None, "awaitingDeletion 1"),
            policy(TEN, cluster={"budget_until": BudgetUntil.REPLACED, "awaiting_deletion": Limit(1)}),
            Sizes({"a": 30}),
            id="those that wait for their deletion",
        ),
        pytest.param(
            NodeLimit(0, None, "cluster budget 0 always"), policy(TEN, cluster={"budgets": (Budget(Limit(0)),)}),
            Sizes(), id="nothing in the whole cluster"),
        pytest.param(
            NodeLimit(None, 10, "budget 10% always"),
            policy(Budget(Limit(1), reasons=frozenset({"expired"})), TEN), Sizes(), id="a budget of another reason"),
    ],
)  # fmt: skip
def test_what_decides_is_named(expected: NodeLimit, given: Policy, sizes: Sizes) -> None:
    noon = Calendar(datetime(2026, 11, 23, 12, tzinfo=UTC))
    assert node_limit(given, "a", sizes, noon) == expected


def test_of_equal_limits_the_first_gate_is_named() -> None:
    given = policy(TWO, cluster={"budgets": (TWO,)})
    found = node_limit(given, "a", Sizes(), Calendar(datetime(2026, 11, 23, tzinfo=UTC)))
    assert found.why == "budget 2 always"


_SCHEDULES = st.builds(
    Schedule,
    st.builds("{} {} * * {}".format, st.integers(0, 59), st.integers(0, 23), st.sampled_from(["*", "mon-fri", "0"])),
    st.builds(timedelta, minutes=st.integers(1, 2000)),
    st.sampled_from(["UTC", "Europe/Amsterdam", "Australia/Lord_Howe"]),
)


@given(
    _SCHEDULES,
    st.none() | st.tuples(_SCHEDULES),
    st.sampled_from([date(2026, 3, 29), date(2026, 10, 25), MONDAY]),
    st.integers(0, 24 * 60 - 1),
)
def test_no_minute_of_a_day_is_more_restrictive_than_its_hour(
    schedule: Schedule, windows: tuple[Schedule, ...] | None, day: date, minute: int
) -> None:
    given = policy(Budget(Limit(1), schedule), TWO, windows=windows)
    question = CalendarQuestion(given, Sizes(), AMSTERDAM, day, 1)
    moment = instants(question, day)[0] + timedelta(minutes=minute)
    local = moment.astimezone(AMSTERDAM)
    if local.date() != day:
        return
    now = Calendar(moment)
    budget = limit_now(given.pools["a"].budgets, DrainReason.UNDERUTILIZED, 0, now) or 0
    allowed = budget if window_open(windows, now) else 0
    shown = days(given, day)[0].hours[local.hour]
    assert shown is not None
    assert (shown.limit.count or 0) <= allowed
    assert shown.changes or shown.limit.count == allowed
