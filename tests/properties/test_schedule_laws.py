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
DAYS = (
    datetime(2026, 3, 29, tzinfo=UTC),  # Europe: the clock springs forward
    datetime(2026, 10, 25, tzinfo=UTC),  # Europe: and back
    datetime(2026, 3, 8, tzinfo=UTC),  # America
    datetime(2026, 11, 1, tzinfo=UTC),
    datetime(2026, 4, 4, tzinfo=UTC),  # Lord Howe: by half an hour
    datetime(2026, 10, 3, tzinfo=UTC),
    datetime(2026, 6, 30, tzinfo=UTC),  # nothing happens
)
ZONES = ("UTC", "Europe/Amsterdam", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")


@dataclass(frozen=True)
class Field:
    text: str
    values: frozenset[int]
    star: bool


@st.composite
def written(draw: st.DrawFn, least: int, most: int, *, stars: int) -> Field:
    """One cron field with the values it stands for; the more stars, the more often it is free."""
    kind = draw(st.sampled_from(["star"] * stars + ["one", "range", "step", "from", "list"]))
    low = draw(st.integers(least, most))
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
    st.tuples(written(0, 59, stars=1), written(0, 23, stars=3), written(1, 31, stars=8), written(0, 6, stars=8)),
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


moments = st.tuples(st.sampled_from(DAYS), st.sampled_from(ZONES), st.integers(0, 24 * 3600 - 1))


@settings(max_examples=150, deadline=None)
@given(crons, moments, st.integers(1, 30 * 60))
def test_a_schedule_is_active_exactly_within_its_duration_of_a_hit(
    cron: Written, moment: tuple[datetime, str, int], minutes: int
) -> None:
    day, zone, second = moment
    now, duration = day + timedelta(seconds=second), timedelta(minutes=minutes)
    expected = any(hit <= now < hit + duration for hit in reference_hits(cron, day, zone))
    assert active(Schedule(cron.text, duration, zone), now) is expected


@settings(max_examples=60, deadline=None)
@given(crons, moments)
def test_the_hits_of_a_day_are_those_that_its_clock_shows_or_skips(
    cron: Written, moment: tuple[datetime, str, int]
) -> None:
    day, zone, _ = moment
    start, end = day - timedelta(days=1), day + timedelta(days=1)
    expected = sorted({hit for hit in reference_hits(cron, day, zone) if start < hit <= end})
    assert list(hits(Schedule(cron.text, MINUTE, zone), start, end)) == expected


@settings(max_examples=60, deadline=None)
@given(crons, moments, st.integers(1, 600))
def test_a_window_that_is_open_closes_when_it_says(
    cron: Written, moment: tuple[datetime, str, int], minutes: int
) -> None:
    day, zone, second = moment
    schedule, now = Schedule(cron.text, timedelta(minutes=minutes), zone), day + timedelta(seconds=second)
    end = closes_at(schedule, now)
    if end is None:
        return
    assert active(schedule, now)
    assert active(schedule, end - timedelta(microseconds=1))
    assert not active(schedule, end)


@settings(max_examples=60, deadline=None)
@given(crons, moments)
def test_the_last_hit_never_lies_after_now(cron: Written, moment: tuple[datetime, str, int]) -> None:
    day, zone, second = moment
    now = day + timedelta(seconds=second)
    hit = last_hit(Schedule(cron.text, MINUTE, zone), now)
    assert hit is None or hit <= now
