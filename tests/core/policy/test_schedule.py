from datetime import UTC, datetime, timedelta

import pytest

from shared.core.policy import Schedule
from shared.core.policy.schedule import active, hits, instant, last_hit, parse_cron, zone_of
from shared.errors import BadInput
from tests.depth import cases

AMSTERDAM = "Europe/Amsterdam"
"""Summer time begins on 29 March 2026 at 01:00 UTC (02:00 becomes 03:00) and ends on 25 October at 01:00 UTC."""


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text}").replace(tzinfo=UTC)


def schedule(cron: str, hours: float = 1, zone: str = "UTC") -> Schedule:
    return Schedule(cron, timedelta(hours=hours), zone)


OFFICE = schedule("0 9 * * mon-fri", 8)
WEEK = schedule("0 0 * * 1", 144)


@pytest.mark.acceptance(69)
@cases(
    "expected, given, now",
    ("a second before the hit", False, OFFICE, "03-04T08:59:59"),
    ("at the hit", True, OFFICE, "03-04T09:00:00"),
    ("the last second", True, OFFICE, "03-04T16:59:59"),
    ("at the end", False, OFFICE, "03-04T17:00:00"),
    ("on a Saturday", False, OFFICE, "03-07T12:00:00"),
    ("across midnight", True, schedule("0 22 * * *", 8), "03-05T05:59:59"),
    ("over after midnight", False, schedule("0 22 * * *", 8), "03-05T06:00:00"),
    ("144 hours from Monday last through Saturday", True, WEEK, "03-07T23:59:59"),
    ("144 hours from Monday leave Sunday", False, WEEK, "03-08T00:00:00"),
    ("and begin again on Monday", True, WEEK, "03-09T00:00:00"),
    ("overlapping hits never close", True, schedule("@daily", 48), "03-04T12:00:00"),
    ("yearly, in the middle of its day", True, schedule("@yearly", 24), "01-01T12:00:00"),
    ("a hit two years ago", True, schedule("0 0 29 2 *", 24 * 365 * 3), "03-04T12:00:00"),
)
def test_a_schedule_is_active_from_each_hit_until_before_its_end(expected: bool, given: Schedule, now: str) -> None:
    assert active(given, at(now)) is expected


@pytest.mark.acceptance(67)
@cases(
    "expected, cron, now",
    ("winter: nine o'clock is 08:00 UTC", False, "0 9 * * *", "03-28T07:59:59"),
    ("winter: active at 08:00 UTC", True, "0 9 * * *", "03-28T08:00:00"),
    ("summer: active at 07:00 UTC", True, "0 9 * * *", "03-29T07:00:00"),
    ("summer: over at 08:00 UTC", False, "0 9 * * *", "03-29T08:00:00"),
    ("skipped hour: not before the gap", False, "30 2 * * *", "03-29T00:59:59"),
    ("skipped hour: at the first instant after it", True, "30 2 * * *", "03-29T01:00:00"),
    ("skipped hour: for the whole duration", True, "30 2 * * *", "03-29T01:59:59"),
    ("skipped hour: and no longer", False, "30 2 * * *", "03-29T02:00:00"),
    ("repeated hour: the first time", True, "30 2 * * *", "10-25T00:30:00"),
    ("repeated hour: a duration is elapsed time", True, "30 2 * * *", "10-25T01:29:59"),
    ("repeated hour: not a second time", False, "30 2 * * *", "10-25T01:30:00"),
    ("the hour after the repeated one", True, "0 3 * * *", "10-25T02:00:00"),
)
def test_a_schedule_keeps_its_zone_on_both_days_of_the_clock_change(expected: bool, cron: str, now: str) -> None:
    assert active(schedule(cron, 1, AMSTERDAM), at(now)) is expected


@pytest.mark.acceptance(67)
def test_a_schedule_without_a_zone_is_utc() -> None:
    assert Schedule("0 9 * * *", timedelta(hours=1)).time_zone == "UTC"


def test_a_skipped_and_a_repeated_hour_hit_once_each() -> None:
    nightly = schedule("*/30 2 * * *", 1, AMSTERDAM)
    spring = list(hits(nightly, at("03-28T12:00"), at("03-29T12:00")))
    autumn = list(hits(nightly, at("10-24T12:00"), at("10-25T12:00")))
    assert (spring, autumn) == ([at("03-29T01:00")], [at("10-25T00:00"), at("10-25T00:30")])


def test_a_day_that_a_zone_skipped_hits_at_the_next_day() -> None:
    samoa = schedule("0 12 30 12 *", 1, "Pacific/Apia")
    assert last_hit(samoa, datetime(2012, 1, 5, tzinfo=UTC)) == datetime(2011, 12, 30, 10, tzinfo=UTC)


def test_a_zone_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadInput, match="write for example UTC"):
        active(schedule("0 9 * * *", 1, "Europe/Atlantis"), at("03-04T12:00"))


def test_a_skipped_time_is_the_first_instant_after_the_gap_whatever_its_fraction_of_a_second() -> None:
    skipped = datetime(2026, 3, 29, 2, 30, 0, 500_000)  # noqa: DTZ001 - a local time
    assert instant(skipped, zone_of("Europe/Amsterdam")) == datetime(2026, 3, 29, 1, tzinfo=UTC)


@pytest.mark.acceptance(65)
@cases(
    "expected, text",
    ("names and a range", "0 9 * 1,2,3,4,5,6,7,8,9,10,11,12 1,2,3,4,5", "0 9 * * mon-fri"),
    ("case and question mark", "0 9 * 1,2,3,4,5,6,7,8,9,10,11,12 1,2,3,4,5", "0 9 ? * MON-FRI"),
    ("steps and a month's name", "0,30 0 1 1 *", "*/30 0 1 jan *"),
    ("a start with a step runs to the end", "5,15,25,35,45,55 0 1 6 *", "5/10 0 1 6 *"),
    ("Sunday as 7", "0 0 * 6 0", "0 0 * 6 7"),
    ("a range up to Sunday as 7", "0 0 * 6 0,5,6", "0 0 * 6 5-7"),
    ("every other weekday counts Sunday once", "0 0 * 6 0,2,4,6", "0 0 * 6 */2"),
    ("a list with a range", "0 1,2,3,8 1 6 *", "0 1-3,8 1 6 *"),
    ("a range of one is no star", "0 0 1 1 *", "0 0 1 1-1 *"),
    ("two restricted days are left to OR", "0 0 13 6 5", "0 0 13 6 fri"),
    ("a restricted field of all days makes every day match", "0 0 * 6 *", "0 0 1-31 6 mon"),
    ("a star leaves the weekday alone", "0 0 * 6 1", "0 0 * 6 mon"),
    ("a step is no star", "0 0 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31 6 1", "0 0 */2 6 1"),
    ("a step of one is a star", "0 0 * 6 1", "0 0 */1 6 1"),
    ("yearly", "0 0 1 1 *", "@yearly"),
    ("weekly", "0 0 * 1,2,3,4,5,6,7,8,9,10,11,12 0", "@weekly"),
)
def test_a_schedule_is_read_as_robfig_cron_reads_it(expected: str, text: str) -> None:
    assert parse_cron(text).expression == expected


@pytest.mark.acceptance(66)
@cases(
    "expected, text",
    ("seconds", "five fields, not 6", "0 0 9 * * mon"),
    ("one field", "five fields, not 1", "tue-mon"),
    ("an unknown macro", "only the words @yearly", "@every 5m"),
    ("a zone before the schedule", "in timeZone", "TZ=Europe/Amsterdam 0 9 * * *"),
    ("a range that wraps", "runs backwards", "0 9 * * tue-mon"),
    ("a minute too many", "'60' is no minute; write 0 to 59", "60 * * * *"),
    ("a weekday too many", "'8' is no day of week; write 0 to 7 or sun to sat", "0 0 * * 8"),
    ("a step of nothing", "step of '*/0' is zero", "*/0 * * * *"),
    ("30 February", "no such date exists", "0 0 30 2 *"),
    ("31 in short months", "no such date exists", "0 0 31 4,6,9,11 *"),
    ("an empty element", "'' is no minute", ", * * * *"),
    ("the last day", "'l' is no day of month", "0 0 l * *"),
    ("the nearest workday", "'15W' is no day of month", "0 0 15W * *"),
    ("the second Friday", "'5#2' is no day of week", "0 0 * * 5#2"),
    ("a hashed minute", "'H' is no minute", "H * * * *"),
    ("a random hour", "'R' is no hour", "0 R * * *"),
    ("a negative minute", "'-1' is no minute", "-1 * * * *"),
    ("a star with an end", "'*-5' is no minute", "*-5 * * * *"),
)
def test_a_schedule_that_is_none_is_refused_with_the_remedy(expected: str, text: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_cron(text)
    assert expected in str(refused.value)


@pytest.mark.parametrize("text", ["0 0 29 2 *", "0 0 29,30 2 *", "0 0 31 1,2 *"])
def test_a_schedule_with_one_date_that_exists_is_one(text: str) -> None:
    assert parse_cron(text).expression == text


def test_an_impossible_date_with_a_weekday_hits_on_the_weekday() -> None:
    assert parse_cron("0 0 30 2 mon").ever
