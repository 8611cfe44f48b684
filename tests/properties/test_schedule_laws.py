"""Laws of schedules, against a reference that walks the time line by minutes and knows neither croniter nor fold."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.core.policy import Schedule
from shared.core.policy.schedule import active, hits, last_hit, parse_cron
from shared.errors import BadInput
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
    known = [row for row in reference_hits(cron, moment.change, moment.zone) if row <= moment.now]
    assert hit is not None
    assert hit <= moment.now
    assert not known or hit == known[-1]


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
NEW_YEAR = datetime(2028, 1, 1, tzinfo=UTC)
"""Of a leap year: every date there is comes in it."""


@dataclass(frozen=True)
class Field:
    text: str
    values: frozenset[int]
    free: bool
    """Whether `*` or `?` stands in it: then the other day field alone decides (CronJobs; crontab(5))."""


@st.composite
def spelled(draw: st.DrawFn, value: int, words: Sequence[str], least: int) -> str:
    """A number, or its word in any case."""
    if not words or draw(st.booleans()):
        return str(value)
    return draw(st.sampled_from([str.lower, str.upper, str.title]))(words[(value - least) % len(words)])


@st.composite
def items(draw: st.DrawFn, least: int, last: int, words: Sequence[str] = ()) -> Field:
    """One element of a list; `last` is where `*` and an open step end."""
    low = draw(st.integers(least, last))
    high = draw(st.integers(low, last))
    step = draw(st.integers(2, 7))
    start, end = draw(spelled(low, words, least)), draw(spelled(high, words, least))
    everything = frozenset(range(least, last + 1))
    star = draw(st.sampled_from("*?"))
    return draw(
        st.sampled_from([
            Field(star, everything, free=True),
            Field(f"{star}/1", everything, free=True),
            Field(f"{star}/{step}", frozenset(range(least, last + 1, step)), free=False),
            Field(start, frozenset({low}), free=False),
            Field(f"{start}-{end}", frozenset(range(low, high + 1)), free=False),
            Field(f"{start}-{end}/{step}", frozenset(range(low, high + 1, step)), free=False),
            Field(f"{start}/{step}", frozenset(range(low, last + 1, step)), free=False),
        ])
    )  # fmt: skip


def joined(parts: Sequence[Field]) -> Field:
    text = ",".join(part.text for part in parts)
    return Field(text, frozenset().union(*(part.values for part in parts)), any(part.free for part in parts))


def fields(least: int, last: int, words: Sequence[str] = ()) -> st.SearchStrategy[Field]:
    return st.lists(items(least, last, words), min_size=1, max_size=3).map(joined)


def only(text: str, *values: int) -> Field:
    return Field(text, frozenset(values), free=False)


ALL_YEAR = Field("*", frozenset(range(1, 13)), free=True)
SUNDAY_AS_7 = st.sampled_from([only("7", 0), only("5-7", 5, 6, 0), only("0,7", 0), only("1-7/2", 1, 3, 5, 0)])


@examples(150)
@given(fields(1, 31), fields(1, 12, MONTHS), fields(0, 6, DAYS) | SUNDAY_AS_7)
@example(only("13", 13), ALL_YEAR, only("fri", 5)).via("two restricted days are joined by OR")
@example(only("1-31", *range(1, 32)), only("Jun", 6), only("mon", 1)).via("one of them names every day")
@example(only("*/2", *range(1, 32, 2)), ALL_YEAR, only("1", 1)).via("a step restricts")
@example(Field("*", frozenset(range(1, 32)), free=True), ALL_YEAR, only("1/2", 1, 3, 5)).via("a week ends on Saturday")
@example(only("30", 30), only("feb", 2), Field("?", frozenset(range(7)), free=True)).via("a date that never comes")
@pytest.mark.acceptance(65)
def test_a_schedule_hits_on_the_dates_that_it_names(day: Field, month: Field, weekday: Field) -> None:
    """Two restricted day fields are joined by OR; a free one leaves it to the other."""
    text = f"0 0 {day.text} {month.text} {weekday.text}"
    expected = [date for date in (NEW_YEAR + place * DAY for place in range(366)) if named(date, day, month, weekday)]

    if not expected:
        with pytest.raises(BadInput, match="no such date"):
            parse_cron(text)
        return
    assert list(hits(Schedule(text, MINUTE), NEW_YEAR - MINUTE, NEW_YEAR + 366 * DAY - MINUTE)) == expected


def named(date: datetime, day: Field, month: Field, weekday: Field) -> bool:
    found = date.day in day.values, date.isoweekday() % 7 in weekday.values
    return date.month in month.values and (all(found) if day.free or weekday.free else any(found))


@examples(60)
@given(fields(0, 59), fields(0, 23))
@pytest.mark.acceptance(65)
def test_a_schedule_hits_at_the_times_that_it_names(minute: Field, hour: Field) -> None:
    times = sorted(timedelta(hours=value, minutes=part) for value in hour.values for part in minute.values)

    found = hits(Schedule(f"{minute.text} {hour.text} * * *", MINUTE), NEW_YEAR - MINUTE, NEW_YEAR + DAY - MINUTE)

    assert list(found) == [NEW_YEAR + time for time in times]
