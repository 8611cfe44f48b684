from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from functions.cli.output import format as words
from tests.depth import cases


@cases(
    "expected, micro",
    ("nothing", "$0", 0),
    ("a dollar an hour is 730 a month", "$730", 10**6),
    ("thousands have a comma, and cents are not known", "$1,235", 1_691_188),
    ("something is not nothing", "<$1", 1),
)
def test_a_month_has_730_hours(expected: str, micro: int) -> None:
    assert words.monthly(micro) == expected


def test_a_year_is_twelve_months_as_they_are_printed() -> None:
    assert words.yearly(5_616) == "$67,392"


def _printed(text: str) -> int:
    return 0 if text.startswith("<") else int(text.strip("$").replace(",", ""))


@given(st.lists(st.integers(0, 10**7), max_size=9))
def test_parts_add_up_to_their_sum_as_printed_and_none_is_off_by_a_unit(micro: list[int]) -> None:
    parts = [_printed(part) for part in words.monthly_parts(micro)]
    assert sum(parts) == _printed(words.monthly(sum(micro)))
    assert all(abs(part - words.dollars_a_month(amount)) < 1 for part, amount in zip(parts, micro, strict=True))


@cases(
    "expected, ratio",
    ("a node without allocatable", "-", None),
    ("an empty node", "0%", Fraction(0)),
    ("just under a limit does not look as if at it", "74%", Fraction(7499, 10000)),
    ("at the limit", "75%", Fraction(3, 4)),
    ("more than there is", "130%", Fraction(13, 10)),
)
def test_a_ratio_is_rounded_down(expected: str, ratio: Fraction | None) -> None:
    assert words.percent(ratio) == expected


NOW = datetime(2026, 3, 4, 22, 0, tzinfo=UTC)


@cases(
    "expected, time",
    ("the same day", "22:05", NOW + timedelta(minutes=5)),
    ("the next day", "03-05 01:00", NOW + timedelta(hours=3)),
    ("another zone", "22:30", datetime(2026, 3, 4, 23, 30, tzinfo=timezone(timedelta(hours=1)))),
)
def test_a_time_of_day_is_utc_and_shows_its_date_when_it_is_another(expected: str, time: datetime) -> None:
    assert words.clock(time, NOW) == expected


@cases(
    "expected, length",
    ("never", "Never", None),
    ("at once", "0s", timedelta(0)),
    ("seconds", "15s", timedelta(seconds=15)),
    ("minutes and seconds", "8m30s", timedelta(minutes=8, seconds=30)),
    ("hours", "1h30m", timedelta(minutes=90)),
    ("days", "30d", timedelta(days=30)),
    ("a day and a half", "36h", timedelta(hours=36)),
)
def test_a_duration_is_written_as_in_the_policy(expected: str, length: timedelta | None) -> None:
    assert words.span(length) == expected


@cases(
    "expected, names",
    ("none", "", ()),
    ("three", "a, b, c", ("a", "b", "c")),
    ("five", "a, b, c and 2 more", ("a", "b", "c", "d", "e")),
)
def test_a_long_list_shows_how_many_more(expected: str, names: tuple[str, ...]) -> None:
    assert words.some(names) == expected
