"""The ledger: each time, node and amount counts once, in one open week."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from shared.core.policy.values import Schedule
from shared.core.records.ledger import (
    WEEK,
    Ledger,
    PassFigures,
    PoolFigures,
    Sums,
    count_pass,
    ended_weeks,
    without_weeks,
)
from shared.core.records.state import Removed
from tests.builders import NOW
from tests.depth import cases

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
DOLLAR = 1_000_000


def weekly(day: str, zone: str = "UTC") -> Schedule:
    return Schedule(f"0 9 * * {day}", WEEK, zone)


def figures(*made: timedelta, **changes: Any) -> PassFigures:
    given: dict[str, Any] = {
        "policy_hash": "abc",
        "dry_run": False,
        "pools": {"a": PoolFigures(created=tuple(NOW + at for at in made))},
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


@cases(
    "gone, seen",
    ("one came", 0, [(-HOUR, MINUTE)]),
    ("one came, one went", 1, [(MINUTE,)]),
    ("one went, one came while the last pass read", 1, [(-MINUTE,)]),
    ("the last one went", 1, [()]),
    ("none, one, none", 2, [(), (), (3 * MINUTE,), ()]),
    ("two for one, then one of them went", 2, [(MINUTE, MINUTE), (MINUTE,)]),
)
def test_nodes_that_went_are_counted_once(gone: int, seen: list[tuple[timedelta, ...]]) -> None:
    found = counted(*(((index + 1) * 5 * MINUTE, figures(*made)) for index, made in enumerate(seen)))
    assert total(found).gone == gone


@cases(
    "seconds, at",
    ("two passes", 600, [5, 10]),
    ("one twice", 600, [5, 5, 10]),
    ("one late", 600, [10, 5]),
    ("several a minute", 600, [2, 3, 4, 10]),
    ("an hour at most after a silence", 3600, [600]),
)
def test_time_counts_once(seconds: int, at: list[int]) -> None:
    found = total(counted(*((minute * MINUTE, figures(-HOUR)) for minute in at)))
    assert (found.seconds, found.older) == (seconds, 0)
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


@cases(
    "word, cost, changes",
    ("no valid policy", "policy_invalid", 2, {"policy_hash": "", "dry_run": True, "possible": 0}),
    ("a dry run", "dry_run", 1, {"dry_run": True}),
)
def test_what_stops_everything_is_the_one_reason(word: str, cost: int, changes: dict[str, Any]) -> None:
    found = total(counted((HOUR, figures(-HOUR, **changes))))
    assert found.missed == {word: pytest.approx(cost * DOLLAR, rel=0.001)}


def test_an_invalid_policy_is_no_dry_run() -> None:
    invalid = figures(-HOUR, policy_hash="", dry_run=True)
    assert counted((HOUR, invalid)).dry_run_since is None
    dry = figures(-HOUR, dry_run=True)
    assert counted((HOUR, dry), (2 * HOUR, invalid), (3 * HOUR, dry)).dry_run_since == NOW + HOUR


OLDER = b"""{"began": "2026-03-01T00:00:00Z", "through": "2026-03-04T20:00:00Z", "nodes": 9,
    "promise": {"policy_hash": "abc", "since": "2026-03-01T00:00:00Z", "seconds": 60, "amount": 100000},
    "weeks": {"2026-03-09T09:00:00+00:00": {"seconds": 60, "gone": 2, "promised": 100000, "missed": {"dry_run": 7}}},
    "months": {"2026-03": {"seconds": 60, "gone": 2, "promised": 100000, "missed": {"dry_run": 7}}}}"""


def test_the_document_of_an_older_version_goes_on_and_its_promise_is_measured_again() -> None:
    before = msgspec.json.decode(OLDER, type=Ledger)
    found = count_pass(before, figures(-HOUR, -HOUR), weekly("mon"), NOW)
    later = count_pass(found, figures(-HOUR), weekly("mon"), NOW + HOUR)
    assert [sums.gone for sums in later.weeks.values()] == [3]
    assert later.months["2026-03"].missed["dry_run"] == 7
    assert found.promise is not None
    assert found.promise.since == NOW
    assert found.promise.per_hour == pytest.approx(2 * DOLLAR, rel=0.001)


def over_days(halves: list[int], *amounts: str) -> Sums:
    """Half a day at each rate, which pods with local storage keep; the amounts of that name are as large."""
    ledger = None
    for hour in range(len(halves) * 12 + 1):
        rate = halves[max(0, hour - 1) // 12] * DOLLAR
        found = figures(-HOUR, missed={"pod_local_storage": rate}, **dict.fromkeys(amounts, rate))
        ledger = count_pass(ledger, found, None, NOW + hour * HOUR)
    assert ledger is not None
    return total(ledger)


@cases(
    "expected, halves",
    ("the same all day", 0, [7, 7, 7, 7]),
    ("its average", 0, [9, 5, 9, 5]),
    ("more after the first day", 3 * 24, [7, 7, 10, 10]),
    ("nothing before", 2 * 12, [0, 0, 0, 2]),
)
def test_only_what_is_missed_beyond_the_first_day_is_unforeseen(expected: int, halves: list[int]) -> None:
    found = over_days(halves)
    assert sum(found.unforeseen.values()) == pytest.approx(expected * DOLLAR, rel=0.001)


@cases(
    "promised, halves",
    ("begun in the evening", 96, [6, 2]),
    ("begun in the morning", 96, [2, 6]),
    ("and a day later", 2 * 96, [6, 2, 6, 2]),
)
def test_on_its_first_day_a_policy_promises_what_it_could_remove_then(promised: int, halves: list[int]) -> None:
    found = over_days(halves, "possible")
    assert found.promised == pytest.approx(promised * DOLLAR, rel=0.001)
    assert not found.unforeseen


def test_what_went_before_a_policy_came_into_force_is_no_part_of_its_promise() -> None:
    def pool(nodes: int, policy_hash: str) -> PassFigures:
        count = PoolFigures((NOW - HOUR,) * nodes, DOLLAR * nodes, Removed(5 - nodes, DOLLAR * (5 - nodes)))
        return figures(pools={"a": count}, saved=0, policy_hash=policy_hash)

    passes = [pool(5, "old"), pool(3, "old"), pool(3, "new"), pool(3, "new"), pool(2, "new")]
    found = total(counted(*(((hour + 1) * HOUR, one) for hour, one in enumerate(passes))))
    assert (found.own, found.older) == (3, 2 * DOLLAR + DOLLAR)


def test_what_a_grown_pool_saves_takes_nothing_from_older_removals_of_another() -> None:
    def pool(nodes: int, removed: int = 0, saved: int = 0) -> PoolFigures:
        own, young = (Removed(number, number * DOLLAR) for number in (removed, saved))
        return PoolFigures((NOW - HOUR,) * nodes, DOLLAR * nodes, own, young)

    passes = [(pool(5), pool(1)), (pool(3, 2, 2), pool(9)), (pool(3, 2), pool(6, 3, 3))]
    ledger = None
    for hour, (small, grown) in enumerate(passes):
        ledger = count_pass(ledger, figures(pools={"a": small, "b": grown}), None, NOW + hour * HOUR)
    assert ledger is not None
    assert total(ledger).older == 2 * DOLLAR


def test_nodes_that_others_removed_and_that_came_back_are_in_the_sums_for_as_long_as_they_were_away() -> None:
    def pool(nodes: int, removed: int = 0) -> PassFigures:
        count = PoolFigures((NOW - HOUR,) * nodes, DOLLAR * nodes, Removed(removed, removed * DOLLAR // 2))
        return figures(pools={"a": count}, saved=0, missed={}, policy_hash="new")

    passes = [pool(5), pool(2, 1), pool(2, 1), pool(4, 1), pool(5, 1)]
    found = total(counted(*(((hour + 1) * HOUR, one) for hour, one in enumerate(passes))))
    assert (found.gone, found.own, found.older, found.by_others) == (3, 1, 3 * DOLLAR // 2, 4 * DOLLAR)
