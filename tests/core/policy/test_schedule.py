from datetime import UTC, datetime, timedelta

import pytest

from shared.core.policy import Schedule
from shared.core.policy.schedule import active, hits, instant, last_hit, zone_of
from shared.errors import BadInput

AMSTERDAM = "Europe/Amsterdam"
"""Summer time begins on 29 March 2026 at 01:00 UTC (02:00 becomes 03:00) and ends on 25 October at 01:00 UTC."""


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text}").replace(tzinfo=UTC)


def schedule(cron: str, hours: float = 1, zone: str = "UTC") -> Schedule:
    return Schedule(cron, timedelta(hours=hours), zone)


OFFICE = schedule("0 9 * * mon-fri", 8)
WEEK = schedule("0 0 * * 1", 144)


@pytest.mark.acceptance(69)
@pytest.mark.parametrize(
    ("expected", "given", "now"),
    [
        pytest.param(False, OFFICE, "03-04T08:59:59", id="a second before the hit"),
        pytest.param(True, OFFICE, "03-04T09:00:00", id="at the hit"),
        pytest.param(True, OFFICE, "03-04T16:59:59", id="the last second"),
        pytest.param(False, OFFICE, "03-04T17:00:00", id="at the end"),
        pytest.param(False, OFFICE, "03-07T12:00:00", id="on a Saturday"),
        pytest.param(True, schedule("0 22 * * *", 8), "03-05T05:59:59", id="across midnight"),
        pytest.param(False, schedule("0 22 * * *", 8), "03-05T06:00:00", id="over after midnight"),
        pytest.param(True, WEEK, "03-07T23:59:59", id="144 hours from Monday last through Saturday"),
        pytest.param(False, WEEK, "03-08T00:00:00", id="144 hours from Monday leave Sunday"),
        pytest.param(True, WEEK, "03-09T00:00:00", id="and begin again on Monday"),
        pytest.param(True, schedule("@daily", 48), "03-04T12:00:00", id="overlapping hits never close"),
        pytest.param(True, schedule("@yearly", 24), "01-01T12:00:00", id="yearly, in the middle of its day"),
        pytest.param(True, schedule("0 0 29 2 *", 24 * 365 * 3), "03-04T12:00:00", id="a hit two years ago"),
    ],
)
def test_a_schedule_is_active_from_each_hit_until_before_its_end(expected: bool, given: Schedule, now: str) -> None:
    assert active(given, at(now)) is expected


@pytest.mark.acceptance(67)
@pytest.mark.parametrize(
    ("expected", "cron", "now"),
    [
        pytest.param(False, "0 9 * * *", "03-28T07:59:59", id="winter: nine o'clock is 08:00 UTC"),
        pytest.param(True, "0 9 * * *", "03-28T08:00:00", id="winter: active at 08:00 UTC"),
        pytest.param(True, "0 9 * * *", "03-29T07:00:00", id="summer: active at 07:00 UTC"),
        pytest.param(False, "0 9 * * *", "03-29T08:00:00", id="summer: over at 08:00 UTC"),
        pytest.param(False, "30 2 * * *", "03-29T00:59:59", id="skipped hour: not before the gap"),
        pytest.param(True, "30 2 * * *", "03-29T01:00:00", id="skipped hour: at the first instant after it"),
        pytest.param(True, "30 2 * * *", "03-29T01:59:59", id="skipped hour: for the whole duration"),
        pytest.param(False, "30 2 * * *", "03-29T02:00:00", id="skipped hour: and no longer"),
        pytest.param(True, "30 2 * * *", "10-25T00:30:00", id="repeated hour: the first time"),
        pytest.param(True, "30 2 * * *", "10-25T01:29:59", id="repeated hour: a duration is elapsed time"),
        pytest.param(False, "30 2 * * *", "10-25T01:30:00", id="repeated hour: not a second time"),
        pytest.param(True, "0 3 * * *", "10-25T02:00:00", id="the hour after the repeated one"),
    ],
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
