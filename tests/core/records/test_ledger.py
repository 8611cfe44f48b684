"""The ledger: each time, node and amount counts once, in one open week."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.core.policy.values import Schedule
from shared.core.records.ledger import WEEK, Ledger, PassFigures, Sums, count_pass, ended_weeks, without_weeks
from tests.builders import NOW

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
DOLLAR = 1_000_000


def weekly(day: str, zone: str = "UTC") -> Schedule:
    return Schedule(f"0 9 * * {day}", WEEK, zone)


def figures(*made: timedelta, **changes: Any) -> PassFigures:
    given: dict[str, Any] = {
        "policy_hash": "abc",
        "dry_run": False,
        "created": tuple(NOW + at for at in made),
        "saved": DOLLAR,
        "at_list": DOLLAR,
        "possible": 2 * DOLLAR,
        "missed": {"pool_at_minimum": DOLLAR},
        **changes,
    }
    return PassFigures(**given)


def counted(*passes: tuple[timedelta, PassFigures], schedule: Schedule | None = None) -> Ledger:
    ledger = count_pass(None, figures(-HOUR), schedule or weekly("mon"), NOW)
    for at, found in passes:
        ledger = count_pass(ledger, found, schedule or weekly("mon"), NOW + at)
    return ledger


def total(ledger: Ledger) -> Sums:
    sums = Sums()
    for of_month in ledger.months.values():
        sums = sums.plus(of_month)
    return sums


@pytest.mark.parametrize(
    ("gone", "seen"),
    [
        pytest.param(0, [(-HOUR, MINUTE)], id="one came"),
        pytest.param(1, [(MINUTE,)], id="one came, one went"),
        pytest.param(1, [(-MINUTE,)], id="one went, one came while the last pass read"),
        pytest.param(1, [()], id="the last one went"),
        pytest.param(2, [(), (), (3 * MINUTE,), ()], id="none, one, none"),
        pytest.param(2, [(MINUTE, MINUTE), (MINUTE,)], id="two for one, then one of them went"),
    ],
)
def test_nodes_that_went_are_counted_once(gone: int, seen: list[tuple[timedelta, ...]]) -> None:
    found = counted(*(((index + 1) * 5 * MINUTE, figures(*made)) for index, made in enumerate(seen)))
    assert total(found).gone == gone


@pytest.mark.parametrize(
    ("seconds", "at"),
    [
        pytest.param(600, [5, 10], id="two passes"),
        pytest.param(600, [5, 5, 10], id="one twice"),
        pytest.param(600, [10, 5], id="one late"),
        pytest.param(600, [2, 3, 4, 10], id="several a minute"),
        pytest.param(3600, [600], id="an hour at most after a silence"),
    ],
)
def test_time_counts_once(seconds: int, at: list[int]) -> None:
    found = total(counted(*((minute * MINUTE, figures(-HOUR)) for minute in at)))
    assert found.seconds == seconds
    for amount in (found.saved, found.missed["pool_at_minimum"]):
        assert amount == pytest.approx(seconds / 3600 * DOLLAR, abs=9)


@pytest.mark.parametrize("day", ["tue", "wed", "thu", "sun"])
def test_a_week_in_which_the_day_changes_is_one_week(day: str) -> None:
    before = counted((HOUR, figures(-HOUR)), (2 * HOUR, figures(-HOUR)))
    found = count_pass(before, figures(-HOUR), weekly(day), NOW + 3 * HOUR)
    ((end, sums),) = found.weeks.items()
    assert (f"{datetime.fromisoformat(end):%a}".lower(), sums.seconds) == (day, 3 * 3600)


def test_a_week_that_has_ended_stays_as_it_is_when_the_day_changes() -> None:
    before = counted((HOUR, figures(-HOUR)))
    (end,) = before.weeks
    found = count_pass(before, figures(-HOUR), weekly("fri"), NOW + WEEK)
    assert found.weeks[end] == before.weeks[end]
    assert len(found.weeks) == 2


def test_after_a_summary_the_next_week_is_open() -> None:
    schedule = weekly("mon", "Europe/Berlin")
    (end,) = ended_weeks(counted(schedule=schedule), schedule, NOW + WEEK)
    left = without_weeks(counted(schedule=schedule), end, schedule)
    assert ended_weeks(left, schedule, end + 2 * WEEK) == (end + WEEK, end + 2 * WEEK)


def test_weeks_without_a_schedule_begin_with_it() -> None:
    off = count_pass(counted((HOUR, figures(-HOUR))), figures(-HOUR), None, NOW + 2 * HOUR)
    found = count_pass(off, figures(-HOUR), weekly("mon"), NOW + 3 * HOUR)
    assert (found.began, [sums.seconds for sums in found.weeks.values()]) == (NOW + 2 * HOUR, [3600])
    assert total(found).seconds == 3 * 3600


@pytest.mark.parametrize(
    ("word", "cost", "changes"),
    [
        pytest.param("policy_invalid", 2, {"policy_hash": "", "dry_run": True, "possible": 0}, id="no valid policy"),
        pytest.param("dry_run", 1, {"dry_run": True}, id="a dry run"),
    ],
)
def test_what_stops_everything_is_the_one_reason(word: str, cost: int, changes: dict[str, Any]) -> None:
    found = total(counted((HOUR, figures(-HOUR, **changes))))
    assert found.missed == {word: pytest.approx(cost * DOLLAR, rel=0.001)}


def test_an_invalid_policy_is_no_dry_run() -> None:
    invalid = figures(-HOUR, policy_hash="", dry_run=True)
    assert counted((HOUR, invalid)).dry_run_since is None
    dry = figures(-HOUR, dry_run=True)
    assert counted((HOUR, dry), (2 * HOUR, invalid), (3 * HOUR, dry)).dry_run_since == NOW + HOUR
