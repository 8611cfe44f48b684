"""Laws of schedules: they hit on the dates and at the times that they name."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.core.policy import Schedule
from shared.core.policy.schedule import hits, parse_cron
from shared.errors import BadInput
from tests.depth import examples
from tests.properties.crons import Field

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
NEW_YEAR = datetime(2028, 1, 1, tzinfo=UTC)  # Of a leap year: every date there is comes in it.


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
