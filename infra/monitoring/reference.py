"""The part of docs/events.md that is written from the table of events, metrics and alerts."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import yaml

from infra.monitoring.events import EVENTS, Event
from infra.monitoring.metrics import METRICS, Metric

_FILE: Final = Path(__file__).parents[1] / "alerts.yaml"
ALERTS: Final[dict[str, dict[str, Any]]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
"""The alert policies that Terraform reads, by key: title, severity, conditions, and the section of the runbook."""
_EVENTS: Final = """\
| event | what it means | labels besides `cluster` and `event` |
|---|---|---|
"""
_ALERTS: Final = """
## Alerts

[The runbook](run.md#runbook) has what each means and what to do; the alert itself carries the same text.

| alert | when |
|---|---|
"""
_METRICS: Final = """\
## Metrics

`logging.googleapis.com/user/NAME/…`, where NAME is Terraform's output `name`. A gauge is a distribution of which the
mean is read, an amount one of which the sum is. The metrics of single nodes exist only with `EBB_DECISION_LOG=all`.

| metric | kind | unit | labels | what | there before as |
|---|---|---|---|---|---|
"""


def reference() -> str:
    """Return that part."""
    rows = "".join(_row(f"[`{event.name}`](#{event.name})", event.about, _labels(event)) for event in EVENTS)
    events = "\n".join(map(_event, EVENTS))
    alerts = "".join(
        _row(alert["title"], "; ".join(part["title"] for part in alert["conditions"])) for alert in ALERTS.values()
    )
    metrics = "".join(map(_metric, METRICS))
    return f"{_EVENTS}{rows}\n{events}\n{_METRICS}{metrics}{_ALERTS}{alerts}"


def _event(event: Event) -> str:
    labels = _labels(event)
    labelled = f" Labels: {labels}." if labels else ""
    fields = "".join(_row(f"`{field.name}`{'*' * field.sometimes}", field.type, field.about) for field in event.fields)
    return f"## `{event.name}`\n\n{event.about}{labelled}\n\n| field | type | what |\n|---|---|---|\n{fields}"


def _metric(metric: Metric) -> str:
    labels = _names(metric.label_paths)
    return _row(f"`{metric.name}`", metric.kind, metric.unit, labels, metric.about, metric.seed)


def _labels(event: Event) -> str:
    return ", ".join((*(f"`{name}`" for name in event.labels), *(f"`{name}`*" for name in event.other_labels)))


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"
