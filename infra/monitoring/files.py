"""The files that are written whole, as text: what Terraform reads, and the page of events.

`${…}` in them are filled in by templatefile; nothing else may look so.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import yaml

from infra.monitoring.alerts import ALERTS, Alert
from infra.monitoring.conditions import Condition
from infra.monitoring.dashboard import dashboard
from infra.monitoring.metrics import METRICS
from infra.monitoring.query import text
from infra.monitoring.reference import reference
from infra.monitoring.runbook import section
from infra.monitoring.table import Kind, Metric

INFRA: Final = Path(__file__).parents[1]
DOCS: Final = INFRA.parent / "docs"
_OPENING: Final = "# Written by `make monitoring` from the tables in infra/monitoring; do not edit it here.\n"


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _written(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _written)


def files() -> dict[Path, str]:
    """Return the text of each generated file."""
    return {
        INFRA / "metrics.yaml": _yaml({metric.name: _metric(metric) for metric in METRICS}),
        INFRA / "alerts.yaml": _yaml({alert.key: _alert(alert) for alert in ALERTS}),
        INFRA / "dashboard.json": json.dumps(dashboard(), indent=1, ensure_ascii=False) + "\n",
        DOCS / "events.md": reference(),
    }


def _metric(metric: Metric) -> dict[str, Any]:
    counted = metric.kind is Kind.COUNTER
    return {
        "description": f"{metric.about} ({metric.kind.value}{f'; {metric.seed}' if metric.seed else ''})",
        "filter": text(metric.filter),
        "value_type": "INT64" if counted else "DISTRIBUTION",
        "unit": "1" if counted else metric.unit,
        "value": "" if counted else f"EXTRACT(jsonPayload.{metric.value})",
        "labels": {name: f"EXTRACT({path})" for name, path in metric.labels.items()},
        "per_node": metric.per_node,
    }


def _alert(alert: Alert) -> dict[str, Any]:
    return {
        "title": alert.title,
        "severity": alert.severity,
        "conditions": [_condition(each) for each in alert.conditions],
        "documentation": section(alert),
    }


def _condition(condition: Condition) -> dict[str, Any]:
    return asdict(condition)


def _yaml(value: dict[str, Any]) -> str:
    return _OPENING + yaml.dump(value, Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=True)
