"""Patterns of demand: the day's curve, hours of a file, and when demand rises."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest

from functions.cli.analysis.simulated_days.patterns import Curve, Range, ReplicaChange, by_curve, by_hours

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("expected", "hours"),
    [
        pytest.param(0, 0, id="at night nothing of the range"),
        pytest.param(Fraction(1, 2), 8, id="half way up"),
        pytest.param(1, 12, id="at noon all of it"),
        pytest.param(Fraction(1, 5), 21, id="in the evening it falls"),
        pytest.param(Fraction(3, 10), 5 * 24 + 12, id="on Saturday a part of the rise"),
    ],
)
def test_a_share_of_the_range(expected: Fraction, hours: int) -> None:
    assert Curve().share(MONDAY + timedelta(hours=hours)) == expected


def test_hours_are_those_of_the_time_zone() -> None:
    assert Curve(zone=ZoneInfo("Asia/Tokyo")).share(MONDAY + timedelta(hours=3)) == 1


def test_a_workload_follows_the_curve_between_its_limits() -> None:
    demand = by_curve({"a": Range(2, 10)}, Curve(), MONDAY, DAY)

    assert demand.changes[0] == ReplicaChange(MONDAY, "a", 2)
    assert max(wish.replicas for wish in demand.changes) == 10
    assert demand.ramps == ((MONDAY + timedelta(hours=6), MONDAY + timedelta(hours=10)),)


def test_hours_of_a_week_begin_on_monday() -> None:
    demand = by_hours({"a": [number // 24 for number in range(168)]}, MONDAY + 2 * DAY, 2 * DAY)

    assert [(wish.at, wish.replicas) for wish in demand.changes] == [(MONDAY + 2 * DAY, 2), (MONDAY + 3 * DAY, 3)]


def test_a_flat_day_has_no_ramp() -> None:
    assert by_hours({"a": [3] * 24}, MONDAY, DAY).ramps == ()
