"""The generated files as Terraform reads them, for a cluster of the tests."""

import json
import math
from functools import cache
from typing import Any

import yaml

from infra.monitoring.__main__ import INFRA, files
from tests.builders import CLUSTER

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
    """Return a file with Terraform's values in it."""
    path = next((written for written in files() if written.name == file), INFRA / file)
    text = path.read_text(encoding="utf-8")
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
def fleet_metrics() -> dict[str, dict[str, Any]]:
    return dict(yaml.safe_load(filled("fleet.yaml"))["metrics"])


@cache
def fleet_dashboard() -> dict[str, Any]:
    return dict(json.loads(filled("fleet-dashboard.json")))
