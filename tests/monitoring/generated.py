"""The generated files as Terraform reads them, for a cluster of the tests."""

import json
from functools import cache
from typing import Any

import yaml

from infra.monitoring.alerts import absence_seconds
from infra.monitoring.files import INFRA, files
from tests.builders import CLUSTER

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
    path = next((each for each in files() if each.name == file), INFRA / file)
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
