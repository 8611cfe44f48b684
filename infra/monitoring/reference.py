"""The reference of all lines and metrics, for whoever writes a query: docs/events.md."""

from collections.abc import Iterable
from typing import Final

from infra.monitoring.alerts import ALERTS
from infra.monitoring.events import EVENTS
from infra.monitoring.log_words import LOG_WORDS, LogWord
from infra.monitoring.metrics import METRICS
from infra.monitoring.table import Event, Field, Metric

_OPENING: Final = """\
# Events, metrics and alerts

Written by `make monitoring` from the tables in `infra/monitoring`; do not edit it here. The functions write one JSON
object a line to stdout, in the form that Cloud Logging reads. Each line has the labels `cluster` and `event`, a
`severity` and a `message`. Labels are `labels.…` of the entry, fields `jsonPayload.…`. CPU is in cores, memory in
bytes, money in dollars, ratios are from 0 to 1. An asterisk marks what is not in every line.

"""
_EVENTS: Final = """\
| event | what it says | labels beside `cluster` and `event` |
|---|---|---|
"""
_ALERTS: Final = """
## Alerts

[The runbook](operations.md#runbook) says what each means and what to do; the alert itself carries the same text.

| alert | when |
|---|---|
"""
_WORDS: Final = """\
## Words of `reason`

The label `reason` holds a word of [reasons.md](reasons.md), which says what each means and what to do: why a node
stays (`node_decision`, `missed_saving`), why an order was declined or a drain given back (`drain_result`, `healed`).
`order_published` says why the node goes: `empty`, `underutilized` or `expired`. All other words are these:

| word | event | what it says | what to do |
|---|---|---|---|
"""
_METRICS: Final = """\
## Metrics

`logging.googleapis.com/user/NAME/…`, where NAME is Terraform's output `name`. A gauge is a distribution of which the
mean is read, an amount one of which the sum is. The metrics of single nodes exist only with `EBB_DECISION_LOG=all`.

| metric | kind | unit | labels | what | there before as |
|---|---|---|---|---|---|
"""


def reference() -> str:
    """Return the page."""
    rows = "".join(f"| [`{each.name}`](#{each.name}) | {each.about} | {_labels(each)} |\n" for each in EVENTS)
    events = "\n".join(map(_event, EVENTS))
    metrics = "".join(map(_metric, METRICS))
    alerts = "".join(f"| {each.title} | {'; '.join(part.title for part in each.conditions)} |\n" for each in ALERTS)
    words = "".join(map(_word, LOG_WORDS))
    return f"{_OPENING}{_EVENTS}{rows}\n{events}\n{_WORDS}{words}\n{_METRICS}{metrics}{_ALERTS}{alerts}"


def _event(event: Event) -> str:
    labels = _labels(event)
    labelled = f" Labels: {labels}." if labels else ""
    return f"## `{event.name}`\n\n{event.about}{labelled}\n\n{_fields(event.fields)}"


def _labels(event: Event) -> str:
    return ", ".join((*(f"`{name}`" for name in event.labels), *(f"`{name}`*" for name in event.other_labels)))


def _fields(fields: Iterable[Field]) -> str:
    rows = "".join(f"| `{each.name}`{'*' * each.sometimes} | {each.type.value} | {each.about} |\n" for each in fields)
    return f"| field | type | what |\n|---|---|---|\n{rows}"


def _word(word: LogWord) -> str:
    events = ", ".join(f"`{name}`" for name in word.events)
    return f"| `{word.word}` | {events} | {word.says} | {word.do} |\n"


def _metric(metric: Metric) -> str:
    labels = ", ".join(f"`{name}`" for name in metric.labels)
    cells = (f"`{metric.name}`", metric.kind.value, metric.unit, labels, metric.about, metric.seed)
    return f"| {' | '.join(cells)} |\n"
