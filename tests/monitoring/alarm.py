"""Alert policies applied to histories, and the entries and generated files that they read."""

import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from infra.monitoring.__main__ import INFRA
from shared.log import JsonLog
from tests.builders import CLUSTER

Entry = Mapping[str, Any]
PREFIX = "logging.googleapis.com/"
_SPECIAL = {f"{PREFIX}{key}": key for key in ("labels", "trace", "spanId", "operation")}


def stored(line: str) -> Entry:
    """Return the LogEntry of one line on stdout."""
    payload = json.loads(line)
    special = {kept: payload.pop(key) for key, kept in _SPECIAL.items() if key in payload}
    assert not [key for key in payload if key.startswith(PREFIX)], payload
    special.get("labels", {}).pop("execution_id", None)  # the platform's own, as the span
    resource = {"type": "cloud_run_revision", "labels": {"service_name": "ebb"}}
    return {"severity": payload.pop("severity"), "resource": resource, "jsonPayload": payload, **special}


def read(text: str) -> list[Entry]:
    """Return the entries of what a function wrote; what is no JSON object, as a traceback, is left out."""
    return [stored(line) for line in text.splitlines() if line.startswith("{")]


def of_folder(folder: Path, *names: str) -> list[Entry]:
    return [entry for name in names for entry in read((folder / name).read_text(encoding="utf-8"))]


def written(lines: Iterable[Mapping[str, Any]], level: str = "DEBUG") -> list[Entry]:
    """Return the entries of lines that a FakeLog kept, as the real log writes them at that level."""
    stream = io.StringIO()
    log = JsonLog(stream, level, CLUSTER, "p")
    for line in lines:
        log.event(**line)
    return read(stream.getvalue())


LATE_MINUTES = 12
"""Ten (cloud.google.com/logging/docs/logs-based-metrics/troubleshooting), and two for the evaluation."""
MOST_ABSENCE = 23 * 3600 + 1800


def absence_seconds(interval_minutes: int, missed_passes: int) -> int:
    """Return how long no pass may be seen, as Terraform computes it (local.absence_seconds).

    That many intervals and half a one for the last to arrive, and at least an interval and twelve minutes: a log-based
    metric may be ten minutes late, and that is no news. Whole minutes, within what Cloud Monitoring takes.
    """
    minutes = max(math.ceil((missed_passes + 0.5) * interval_minutes), interval_minutes + LATE_MINUTES)
    return min(minutes * 60, MOST_ABSENCE)


NAME = "ebb-c-0123456"
VALUES = {
    "cluster": CLUSTER,
    "name": NAME,
    "planner": f"{NAME}-planner",
    "drainer": f"{NAME}-drainer",
    "orders_subscription": f"{NAME}-orders",
    "dead_letters_subscription": f"{NAME}-dead-letters",
    "missed_passes": "3",
    "absence_seconds": str(absence_seconds(5, 3)),
    "window_seconds": str(absence_seconds(5, 3) - 60),
}
FLEET_VALUES = {"name": "ebb-fleet", "projects": 'projects/one","projects/two'}


def filled(file: str, cluster: str = CLUSTER) -> str:
    text = (INFRA / file).read_text(encoding="utf-8")
    values = FLEET_VALUES if file.startswith("fleet") else {**VALUES, "cluster": cluster}
    for name, value in values.items():
        text = text.replace(f"${{{name}}}", value)
    return text


@cache
def metrics(cluster: str = CLUSTER) -> dict[str, dict[str, Any]]:
    return dict(yaml.safe_load(filled("metrics.yaml", cluster)))


@cache
def alerts() -> dict[str, dict[str, Any]]:
    return dict(yaml.safe_load(filled("alerts.yaml")))


@cache
def dashboard() -> dict[str, Any]:
    return dict(json.loads(filled("dashboard.json")))


@cache
def fleet() -> dict[str, dict[str, dict[str, Any]]]:
    """Return what is of all clusters: `metrics` and `queries`, each by its name."""
    return dict(yaml.safe_load(filled("fleet.yaml")))


@cache
def fleet_dashboard() -> dict[str, Any]:
    return dict(json.loads(filled("fleet-dashboard.json")))


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
