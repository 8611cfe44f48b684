"""Cloud Monitoring's evaluation of the conditions that alerts use, minute by minute, written from its pages.

cloud.google.com/monitoring/alerts/concepts-indepth: points are aligned in a rolling window, series are reduced to
one, and a condition holds once its test has been true for its duration. An absence begins only after there was data.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Points = Sequence[tuple[float, float]]
"""Minute and value, of one series."""


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


def speaks(alert: Mapping[str, Any], series: Iterable[Points], until: int) -> list[int]:
    """Return the minutes at which an alert on one metric would be open."""
    every: list[Points] = [tuple(points) for points in series]
    holds = [_true(condition, every, until) for condition in alert["conditions"]]
    return [minute for minute in range(until) if any(minute in minutes for minutes in holds)]


def _true(condition: Mapping[str, Any], series: list[Points], until: int) -> set[int]:
    reduced = condition["reducer"] == "REDUCE_SUM"
    groups = [[point for points in series for point in points]] if reduced else [list(points) for points in series]
    test = _absent if condition["kind"] == "absent" else _beyond
    return {minute for group in groups for minute in test(condition, group, until)}


def _absent(condition: Mapping[str, Any], points: list[tuple[float, float]], until: int) -> set[int]:
    lasting = seconds(condition["duration"]) / 60
    found = set()
    for minute in range(until):
        seen = [at for at, _ in points if at <= minute]
        if seen and minute - max(seen) >= lasting:
            found.add(minute)
    return found


def _beyond(condition: Mapping[str, Any], points: list[tuple[float, float]], until: int) -> set[int]:
    window, lasting = seconds(condition["period"]) / 60, seconds(condition["duration"]) / 60
    true = [_passes(condition, [value for at, value in points if minute - window < at <= minute], minute, points)
            for minute in range(until)]  # fmt: skip
    return {minute for minute in range(until) if all(true[max(0, minute - int(lasting)) : minute + 1])}


def _passes(condition: Mapping[str, Any], values: list[float], minute: int, points: list[tuple[float, float]]) -> bool:
    if not any(at <= minute for at, _ in points):
        return False  # a series that never was is not evaluated
    if not values:
        return str(condition["missing"]) == "EVALUATION_MISSING_DATA_ACTIVE"
    total, limit = sum(values), float(condition["threshold"])
    return total < limit if condition["comparison"] == "COMPARISON_LT" else total > limit
