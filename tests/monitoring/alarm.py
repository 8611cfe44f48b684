"""Cloud Monitoring's evaluation of the conditions that alerts use, minute by minute, written from its pages.

cloud.google.com/monitoring/alerts/concepts-indepth: points are aligned in a rolling window, series are reduced to
one, and a condition holds once its test has been true for its duration. An absence begins only after there was data.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Points = Sequence[tuple[float, float]]
"""Minute and value, of one series."""


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


Late = Callable[[float], float]
"""How many minutes after its own time a point is to be seen."""


def speaks(alert: Mapping[str, Any], series: Iterable[Points], until: int, late: Late = lambda _: 0.0) -> list[int]:
    """Return the minutes at which an alert on one metric would be open."""
    every = [[(at, value, at + late(at)) for at, value in points] for points in series]
    holds = [_true(condition, every, until) for condition in alert["conditions"]]
    return [minute for minute in range(until) if any(minute in minutes for minutes in holds)]


Seen = list[tuple[float, float, float]]
"""Minute, value, and from when on it is to be seen."""


def _true(condition: Mapping[str, Any], series: list[Seen], until: int) -> set[int]:
    reduced = condition["reducer"] == "REDUCE_SUM"
    groups = [[point for points in series for point in points]] if reduced else series
    test = _absent if condition["kind"] == "absent" else _beyond
    return {minute for group in groups for minute in test(condition, group, until)}


def _absent(condition: Mapping[str, Any], points: Seen, until: int) -> set[int]:
    lasting = seconds(condition["duration"]) / 60
    found = set()
    for minute in range(until):
        seen = [at for at, _, there in points if there <= minute]
        if seen and minute - max(seen) >= lasting:
            found.add(minute)
    return found


def _beyond(condition: Mapping[str, Any], points: Seen, until: int) -> set[int]:
    lasting = seconds(condition["duration"]) / 60
    true = [_passes(condition, points, minute) for minute in range(until)]
    return {minute for minute in range(until) if all(true[max(0, minute - int(lasting)) : minute + 1])}


def _passes(condition: Mapping[str, Any], points: Seen, minute: int) -> bool:
    window = seconds(condition["period"]) / 60
    seen = [(at, value) for at, value, there in points if there <= minute]
    values = [value for at, value in seen if minute - window < at <= minute]
    if not seen:
        return False  # a series that never was is not evaluated
    if not values:
        return str(condition["missing"]) == "EVALUATION_MISSING_DATA_ACTIVE"
    total, limit = sum(values), float(condition["threshold"])
    return total < limit if condition["comparison"] == "COMPARISON_LT" else total > limit
