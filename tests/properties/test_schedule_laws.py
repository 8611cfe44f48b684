"""Laws of schedules, against a reference that walks the time line by minutes and knows neither croniter nor fold."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from shared.core.policy import Schedule
from shared.core.policy.schedule import active, hits, last_hit
from tests.depth import examples
from tests.properties.crons import Written, crons

MINUTE = timedelta(minutes=1)
BEFORE, AFTER = timedelta(days=3), timedelta(days=2)
CHANGES = (
    (datetime(2026, 3, 29, 1, tzinfo=UTC), "Europe/Amsterdam"),
    (datetime(2026, 10, 25, 1, tzinfo=UTC), "Europe/Amsterdam"),
    (datetime(2026, 3, 8, 7, tzinfo=UTC), "America/New_York"),
    (datetime(2026, 11, 1, 6, tzinfo=UTC), "America/New_York"),
    (datetime(2026, 4, 4, 15, tzinfo=UTC), "Australia/Lord_Howe"),  # by half an hour
    (datetime(2026, 10, 3, 15, 30, tzinfo=UTC), "Australia/Lord_Howe"),
    (datetime(2026, 6, 30, 12, tzinfo=UTC), "Asia/Kathmandu"),  # nothing happens
)
"""When a clock changes, and where: most of what can go wrong lies within hours of it."""


@lru_cache(maxsize=64)
def timeline(day: datetime, zone: str) -> tuple[tuple[datetime, datetime], ...]:
    """Every local minute of the days around, in order, with the instant at which the clock first shows or passes it."""
    place, rows, shown = ZoneInfo(zone), [], None
    instant = day - BEFORE
    while instant < day + AFTER:
        local = instant.astimezone(place).replace(tzinfo=None, fold=0)
        first = local if shown is None else shown + MINUTE
        while first <= local:
            rows.append((first, instant))
            shown, first = first, first + MINUTE
        instant += MINUTE
    return tuple(rows)


def reference_hits(cron: Written, day: datetime, zone: str) -> list[datetime]:
    return [instant for local, instant in timeline(day, zone) if cron.hits(local)]


@dataclass(frozen=True)
class Moment:
    """A time within hours of a change of the clock."""

    change: datetime
    zone: str
    offset: int

    @property
    def now(self) -> datetime:
        return self.change + timedelta(seconds=self.offset)


moments = st.builds(
    lambda where, offset: Moment(where[0], where[1], offset),
    st.sampled_from(CHANGES),
    st.integers(-3 * 3600, 3 * 3600) | st.integers(-180, 180).map(lambda minutes: minutes * 60),
)


@examples(300)
@given(crons, moments, st.integers(1, 90) | st.integers(1, 30 * 60))
def test_a_schedule_is_active_exactly_within_its_duration_of_a_hit(cron: Written, moment: Moment, minutes: int) -> None:
    duration = timedelta(minutes=minutes)
    known = reference_hits(cron, moment.change, moment.zone)
    expected = any(hit <= moment.now < hit + duration for hit in known)
    assert active(Schedule(cron.text, duration, moment.zone), moment.now) is expected


@examples(200)
@given(crons, moments)
def test_the_hits_of_a_day_are_those_that_its_clock_shows_or_skips(cron: Written, moment: Moment) -> None:
    start, end = moment.now - timedelta(hours=4), moment.now
    expected = sorted({hit for hit in reference_hits(cron, moment.change, moment.zone) if start < hit <= end})
    assert list(hits(Schedule(cron.text, MINUTE, moment.zone), start, end)) == expected


@examples(200)
@given(crons, moments)
def test_the_last_hit_is_the_latest_that_does_not_lie_after_now(cron: Written, moment: Moment) -> None:
    hit = last_hit(Schedule(cron.text, MINUTE, moment.zone), moment.now)
    known = [each for each in reference_hits(cron, moment.change, moment.zone) if each <= moment.now]
    assert hit is not None
    assert hit <= moment.now
    assert not known or hit == known[-1]
