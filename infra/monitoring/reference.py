"""The reference of all lines and metrics, for whoever writes a query: infra/events.md."""

from collections.abc import Iterable
from typing import Final

from infra.monitoring.events import EVENTS
from infra.monitoring.metrics import METRICS
from infra.monitoring.table import Event, Field, Metric

_OPENING: Final = """\
# Lines and metrics

Written by `make monitoring` from the tables in `infra/monitoring`; do not edit it here. Each line has the labels
`cluster` and `event`, a `severity` and a `message`; labels are `labels.…` of the entry, fields `jsonPayload.…`. CPU is
in cores, memory in bytes, money in dollars, ratios are from 0 to 1. An asterisk: not in each line.
"""
_METRICS: Final = """\
## Metrics

`logging.googleapis.com/user/NAME/…`, where NAME is Terraform's output `name`. A gauge is a distribution of which the
mean is read, an amount one of which the sum is. Those of nodes exist only with `EBB_DECISION_LOG=all`.

| metric | kind | unit | labels | what | there before as |
|---|---|---|---|---|---|
"""


def reference() -> str:
    """Return the page."""
    events = "\n".join(map(_event, EVENTS))
    metrics = "".join(map(_metric, METRICS))
    return f"{_OPENING}\n{events}\n{_METRICS}{metrics}"


def _event(event: Event) -> str:
    labels = [f"`{name}`" for name in event.labels] + [f"`{name}`*" for name in event.other_labels]
    told = f"Labels: {', '.join(labels)}.\n" if labels else ""
    return f"## `{event.name}`\n\n{event.about} {told}\n{_fields(event.fields)}"


def _fields(fields: Iterable[Field]) -> str:
    rows = "".join(f"| `{each.name}`{'*' * each.sometimes} | {each.type.value} | {each.about} |\n" for each in fields)
    return f"| field | type | what |\n|---|---|---|\n{rows}"


def _metric(metric: Metric) -> str:
    labels = ", ".join(f"`{name}`" for name in metric.labels)
    cells = (f"`{metric.name}`", metric.kind.value, metric.unit, labels, metric.about, metric.seed)
    return f"| {' | '.join(cells)} |\n"
