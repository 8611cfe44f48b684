"""docs/events.md, written from the table of events, metrics and alerts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from infra.monitoring.alerts import ALERTS
from infra.monitoring.events import EVENTS, Event
from infra.monitoring.metrics import METRICS, Metric

_NOTHING: Final = "Nothing."


@dataclass(frozen=True)
class LogWord:
    """A word, the events whose lines have it, its meaning, what to do."""

    word: str
    events: tuple[str, ...]
    meaning: str
    do: str


LOG_WORDS: Final = (
    LogWord("unreachable", ("run_summary",), "The cluster, the GKE API or the state did not answer: the pass ended "
            "early, and no more was done.", "Nothing after one; the next pass tries again. After several, the alert "
            "*no successful pass* has where to look."),
    LogWord("retryable", ("drain_step",), "The same in a step of a drain: its message comes again.",
            "Nothing, unless the same order has it for half an hour."),
    LogWord("stale", ("drain_step",), "Something had changed since it was read: the message comes again.", _NOTHING),
    LogWord("terminal", ("run_summary", "drain_step"), "The function cannot go on until a person fixes what the "
            "message names: a right, a setting, a name.", "Fix it; passes and messages come again by themselves. "
            "`ebb doctor` looks for the usual causes."),
    LogWord("unforeseen", ("run_summary", "drain_step"), "A fault that the code did not foresee. The message has its "
            "kind, and a traceback follows.", "Report it to the maintainers. `ebb pause` stops new drains if it "
            "comes again and again."),
    LogWord("unreadable", ("run_summary", "drain_step"), "The record of a drain is of another version and is skipped; "
            "its node is uncordoned.", "Nothing after an upgrade or a way back; else report it."),
    LogWord("not_healed", ("run_summary",), "One repair failed; the others were made.",
            "The next pass tries again. If the same node is named in three passes: `ebb release NODE`."),
    LogWord("not_steered", ("run_summary",), "A deletion cost could not be written or taken back (`steerScaleIn`), "
            "or a pod template carries `ebb.internal/steered`; the pass went on.", "If it names a missing right, "
            "apply `infra/options/steer.yaml` or switch the option off. If it names a pod template, remove the "
            "annotation there. Otherwise nothing: the next pass tries again."),
    LogWord("advice_missing", ("run_summary", "drain_step"), "Ebb may not read a list, the list did not answer, or an "
            "object in it has an unknown shape. Ebb goes on without it, as the message describes.",
            "Apply `infra/rbac.yaml` again: what it may not read is in the message. If that names an object, look at "
            "what its owner wrote."),
    LogWord("unknown_pool", ("policy_warning",), "The policy names a pool that the cluster does not have.",
            "Correct the name in the policy."),
    LogWord("hardly_meant", ("policy_warning",), "A setting is valid and probably a mistake.",
            "`ebb policy check FILE` shows the same with the remedy."),
    LogWord("unread_cost", ("policy_warning",), "The value of a cost annotation on a pod is no number that Kubernetes "
            "would read; it does not count.", "Ask the owner of the workload that the message names to correct it."),
    LogWord("commitments_unread", ("policy_warning",), "`cluster.commitments.read` is true and the Compute API did not "
            "list the commitments: the last list counts for 24 hours, then list prices. Or the last list could not be "
            "read or kept in the state: each pass lists them again.",
            "Grant the right (Terraform's `commitments = true`), or write `read: false`. After an outage nothing."),
    LogWord("unknown_commitment", ("policy_warning",), "Commitments have a type or a family without a known price, and "
            "count for nothing.", "Nothing, if no node is of that family. Otherwise write it under "
            "`cluster.commitments.families`."),
    LogWord("continue", ("healed",), "A step of a drain had fallen silent; its order was published again.",
            "Nothing after one; if it comes again and again, look at the drainer's errors."),
    LogWord("continued", ("drain_step",), "The step's time is over; the drain goes on in a new message.", _NOTHING),
    LogWord("early", ("drain_step",), "The order's `not_before` lies ahead: its message comes again.", _NOTHING),
    LogWord("whole_picture", ("drain_step",), "The whole cluster was read for this order, or a snapshot was shared.",
            _NOTHING),
    LogWord("ignore_not_allowed", ("drain_step",), "A person's order asked to ignore more than `manual.mayIgnore` of "
            "the policy allows; the order was judged without that.", "Allow the word in the policy, or leave it out."),
)  # fmt: skip


_OPENING: Final = """\
# Events, metrics and alerts

Written by `make monitoring` from the tables in `infra/monitoring`; do not edit it here. The functions write one JSON
object a line to stdout, in the form that Cloud Logging reads. Each line has the labels `cluster` and `event`, a
`severity` and a `message`. Labels are `labels.…` of the entry, fields `jsonPayload.…`. CPU is in cores, memory in
bytes, money in dollars, ratios are from 0 to 1. An asterisk marks what is not in every line.

"""
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
_WORDS: Final = """\
## Words of `reason`

The label `reason` is a word of [reasons.md](reasons.md), with its meaning and what to do. It shows why a node
stays (`node_decision`, `missed_saving`), why an order was refused or a drain stopped (`drain_result`, `healed`).
`order_published` has why the node goes: `empty`, `underutilized` or `expired`. All other words are these:

| word | event | meaning | what to do |
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
    rows = "".join(_row(f"[`{event.name}`](#{event.name})", event.about, _labels(event)) for event in EVENTS)
    events = "\n".join(map(_event, EVENTS))
    alerts = "".join(
        _row(alert["title"], "; ".join(part["title"] for part in alert["conditions"])) for alert in ALERTS.values()
    )
    words = "".join(_row(f"`{row.word}`", _names(row.events), row.meaning, row.do) for row in LOG_WORDS)
    metrics = "".join(map(_metric, METRICS))
    return f"{_OPENING}{_EVENTS}{rows}\n{events}\n{_WORDS}{words}\n{_METRICS}{metrics}{_ALERTS}{alerts}"


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
