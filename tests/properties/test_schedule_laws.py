"""Laws of schedules, against a reference that walks the time line by minutes and knows neither croniter nor fold."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.core.policy import Schedule
from shared.core.schedule import active, closes_at, hits, last_hit

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


@dataclass(frozen=True)
class Field:
    text: str
    values: frozenset[int]
    star: bool


@st.composite
def written(draw: st.DrawFn, least: int, most: int, *, stars: int, usual: int | None = None) -> Field:
    """One cron field with the values it stands for; the more stars, the more often it is free.

    Values up to `usual` are drawn as often as all others together.
    """
    kind = draw(st.sampled_from(["star"] * stars + ["one", "range", "step", "from", "list"]))
    low = draw(st.integers(least, usual or most) | st.integers(least, most))
    high, step = draw(st.integers(low, most)), draw(st.integers(2, 9))
    match kind:
        case "star":
            return Field("*", frozenset(range(least, most + 1)), star=True)
        case "one":
            return Field(f"{low}", frozenset({low}), star=False)
        case "range":
            return Field(f"{low}-{high}", frozenset(range(low, high + 1)), star=False)
        case "step":
            return Field(f"*/{step}", frozenset(range(least, most + 1, step)), star=False)
        case "from":
            return Field(f"{low}/{step}", frozenset(range(low, most + 1, step)), star=False)
    return Field(f"{low},{high}", frozenset({low, high}), star=False)


@dataclass(frozen=True)
class Written:
    """A cron schedule as text, and as the sets it was made from."""

    fields: tuple[Field, Field, Field, Field]

    @property
    def text(self) -> str:
        minute, hour, day, weekday = (field.text for field in self.fields)
        return f"{minute} {hour} {day} * {weekday}"

    def hits(self, local: datetime) -> bool:
        minute, hour, day, weekday = self.fields
        by_day, by_weekday = local.day in day.values, local.isoweekday() % 7 in weekday.values
        free = day.star or weekday.star
        on_day = by_day and by_weekday if free else by_day or by_weekday
        return on_day and local.hour in hour.values and local.minute in minute.values


crons = st.builds(
    Written,
    st.tuples(
        written(0, 59, stars=1), written(0, 23, stars=1, usual=3), written(1, 31, stars=8), written(0, 6, stars=8)
    ),
)


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


@settings(max_examples=300, deadline=None)
@given(crons, moments, st.integers(1, 90) | st.integers(1, 30 * 60))
def test_a_schedule_is_active_exactly_within_its_duration_of_a_hit(cron: Written, moment: Moment, minutes: int) -> None:
    duration = timedelta(minutes=minutes)
    known = reference_hits(cron, moment.change, moment.zone)
    expected = any(hit <= moment.now < hit + duration for hit in known)
    assert active(Schedule(cron.text, duration, moment.zone), moment.now) is expected


@settings(max_examples=200, deadline=None)
@given(crons, moments)
def test_the_hits_of_a_day_are_those_that_its_clock_shows_or_skips(cron: Written, moment: Moment) -> None:
    start, end = moment.now - timedelta(hours=4), moment.now
    expected = sorted({hit for hit in reference_hits(cron, moment.change, moment.zone) if start < hit <= end})
    assert list(hits(Schedule(cron.text, MINUTE, moment.zone), start, end)) == expected


@settings(max_examples=40, deadline=None)
@given(crons, moments, st.integers(1, 600))
def test_a_window_that_is_open_closes_when_it_says(cron: Written, moment: Moment, minutes: int) -> None:
    schedule, now = Schedule(cron.text, timedelta(minutes=minutes), moment.zone), moment.now
    end = closes_at(schedule, now)
    if end is None:
        return
    assert active(schedule, now)
    assert active(schedule, end - timedelta(microseconds=1))
    assert not active(schedule, end)


@settings(max_examples=200, deadline=None)
@given(crons, moments)
def test_the_last_hit_is_the_latest_that_does_not_lie_after_now(cron: Written, moment: Moment) -> None:
    hit = last_hit(Schedule(cron.text, MINUTE, moment.zone), moment.now)
    known = [each for each in reference_hits(cron, moment.change, moment.zone) if each <= moment.now]
    assert hit is not None
    assert hit <= moment.now
    assert not known or hit == known[-1]
