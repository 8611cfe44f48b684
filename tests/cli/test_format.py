from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.output import format as words


@pytest.mark.parametrize(
    ("expected", "micro"),
    [
        pytest.param("$0", 0, id="nothing"),
        pytest.param("$730", 10**6, id="a dollar an hour is 730 a month"),
        pytest.param("$1,235", 1_691_188, id="thousands have a comma, and cents are not known"),
        pytest.param("<$1", 1, id="something is not nothing"),
    ],
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


@pytest.mark.parametrize(
    ("expected", "ratio"),
    [
        pytest.param("-", None, id="a node without allocatable"),
        pytest.param("0%", Fraction(0), id="an empty node"),
        pytest.param("74%", Fraction(7499, 10000), id="just under a limit does not look as if at it"),
        pytest.param("75%", Fraction(3, 4), id="at the limit"),
        pytest.param("130%", Fraction(13, 10), id="more than there is"),
    ],
)
def test_a_ratio_is_rounded_down(expected: str, ratio: Fraction | None) -> None:
    assert words.percent(ratio) == expected


NOW = datetime(2026, 3, 4, 22, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expected", "time"),
    [
        pytest.param("22:05", NOW + timedelta(minutes=5), id="the same day"),
        pytest.param("03-05 01:00", NOW + timedelta(hours=3), id="the next day"),
        pytest.param("22:30", datetime(2026, 3, 4, 23, 30, tzinfo=timezone(timedelta(hours=1))), id="another zone"),
    ],
)
def test_a_time_of_day_is_utc_and_shows_its_date_when_it_is_another(expected: str, time: datetime) -> None:
    assert words.clock(time, NOW) == expected


@pytest.mark.parametrize(
    ("expected", "length"),
    [
        pytest.param("Never", None, id="never"),
        pytest.param("0s", timedelta(0), id="at once"),
        pytest.param("15s", timedelta(seconds=15), id="seconds"),
        pytest.param("8m30s", timedelta(minutes=8, seconds=30), id="minutes and seconds"),
        pytest.param("1h30m", timedelta(minutes=90), id="hours"),
        pytest.param("30d", timedelta(days=30), id="days"),
        pytest.param("36h", timedelta(hours=36), id="a day and a half"),
    ],
)
def test_a_duration_is_written_as_in_the_policy(expected: str, length: timedelta | None) -> None:
    assert words.span(length) == expected


@pytest.mark.parametrize(
    ("expected", "names"),
    [
        pytest.param("", (), id="none"),
        pytest.param("a, b, c", ("a", "b", "c"), id="three"),
        pytest.param("a, b, c and 2 more", ("a", "b", "c", "d", "e"), id="five"),
    ],
)
def test_a_long_list_shows_how_many_more(expected: str, names: tuple[str, ...]) -> None:
    assert words.some(names) == expected
