"""A drain's record for a person: its progress line by line, how it ended, and what can be done about it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from functions.cli.errors import WRONG
from functions.cli.output.format import count, some, span
from functions.cli.output.terminal import BULLET
from shared.core.reasons import Outcome, PodBlock, Reason, Refusal, ReturnReason, Unremovable, reason_of_word
from shared.core.records.drain_record import DrainPhase, DrainRecord, EvictionAnswer, Objection, PodProgress
from shared.core.records.orders import Order
from shared.core.records.state import Claim

_DONE: Final = frozenset({Outcome.REMOVED, Outcome.WOULD_DRAIN})
_OBJECTIONS: Final = (Unremovable, PodBlock)


@dataclass(frozen=True, slots=True)
class Ending:
    """The exit code and the sentences that go with it; points name what stood in the way, each with its remedy."""

    code: int
    sentences: tuple[str, ...]


def ending_of(record: DrainRecord, claim: Claim | None) -> Ending | None:
    """Return how the drain ended for the person who ordered it; None while it goes on."""
    node, outcome = record.order.node, record.outcome
    if record.phase is DrainPhase.DRAINED:
        watchdog = f" It is returned if it still exists after {span(claim.settings.watchdog)}." if claim else ""
        return Ending(0, (f"{node}: drained. The cluster autoscaler deletes it next.{watchdog}",))
    if record.phase is not DrainPhase.SETTLED:
        return None
    if outcome in _DONE:
        restarts = f"It {record.detail}." if outcome == Outcome.WOULD_DRAIN and record.detail else ""
        dry = "The policy has dryRun: true; set dryRun: false to let drains start."
        is_policys = outcome == Outcome.WOULD_DRAIN and not record.order.dry_run
        sentences = f"{node}: {outcome}. {sentence(outcome, Outcome)}", restarts, dry if is_policys else ""
        return Ending(0, tuple(filter(None, sentences)))
    text = f"{node}: {outcome}, {record.why}."
    if any(row.reason != record.why for row in record.objections):
        first = f"{text} {sentence(record.why, *_OBJECTIONS)}".strip()
        return Ending(WRONG, tuple(filter(None, (first, *objections(record), record.remark))))
    return Ending(WRONG, tuple(filter(None, (f"{text} {why_sentence(record)}", _remedy(record)))))


def ending_of_unclaimed(order: Order) -> Ending:
    """Return the end of an order that no drainer has taken before it expired."""
    word = Refusal.EXPIRED
    return Ending(WRONG, (f"{order.node}: {Outcome.REFUSED.value}, {word.value}. {word.sentence}", word.remedy))


def ending_of_unfinished(order: Order, after: timedelta) -> Ending:
    return Ending(WRONG, (f"{order.node}: not done after {span(after)}.", goes_on(order)))


def goes_on(order: Order) -> str:
    return f"Order {order.order_id} goes on: ebb status shows it, ebb release {order.node} ends it."


def sentence(word: str, *kinds: type[Reason]) -> str:
    """Return the sentence of a word among some kinds of reasons; empty for a word of a newer version."""
    reason = reason_of_word(word, *kinds)
    return reason.sentence if reason else ""


def _remedy_of(word: str, node: str, *kinds: type[Reason]) -> str:
    reason = reason_of_word(word, *kinds)
    return reason.remedy.replace("NODE", node) if reason else ""


def why_sentence(record: DrainRecord) -> str:
    """Return the sentence of a settled record's reason, with its details."""
    text = sentence(record.why, *_kinds(record))
    if record.detail.startswith(text):  # the details of a refusal are whole sentences, the reason's own first
        return record.detail
    return f"{text} {record.detail}".strip()


def objections(record: DrainRecord) -> tuple[str, ...]:
    rows = [row for row in record.objections if row.reason != Unremovable.BLOCKED_BY_POD] or record.objections
    return tuple(f"{BULLET}{_objection(row, record.order.node)}" for row in rows)


def _objection(row: Objection, node: str) -> str:
    about = ", ".join(part for part in (row.object, row.detail) if part)
    text = (f"{row.reason}{f' ({about})' if about else ''}:", sentence(row.reason, *_OBJECTIONS))
    return " ".join(part for part in (*text, _remedy_of(row.reason, node, *_OBJECTIONS)) if part)


def _remedy(record: DrainRecord) -> str:
    node = record.order.node
    blocks = record.detail.rpartition(": ")[2] if record.why == ReturnReason.POD_BLOCKS else ""
    return _remedy_of(blocks, node, PodBlock) or _remedy_of(record.why, node, *_kinds(record))


def _kinds(record: DrainRecord) -> tuple[type[Reason], ...]:
    return (Refusal, *_OBJECTIONS) if record.outcome == Outcome.REFUSED else (ReturnReason,)


WAITING: Final = "waiting"
_AT_WORK: Final = frozenset({DrainPhase.CLAIMED, DrainPhase.CORDONED, DrainPhase.HALTING})


class ProgressLine(NamedTuple):
    """What happened when: the phase's or answer's own word, and what it means here."""

    at: datetime
    word: str
    text: str


def progress_lines(record: DrainRecord, claim: Claim | None) -> tuple[ProgressLine, ...]:
    return tuple(sorted((*_phases(record, claim), *_calls(record)), key=lambda line: line.at))


def _phases(record: DrainRecord, claim: Claim | None) -> Iterator[ProgressLine]:
    if record.begun_at is not None:
        yield ProgressLine(record.begun_at, DrainPhase.ACCEPTED.value, "the drainer judges the order on fresh reads")
    if claim is not None:
        until = f"; returned unless drained by {record.deadline:%H:%M:%S}" if record.deadline else ""
        text = f"pool {claim.pool}, zone {claim.zone}{until}"
        yield ProgressLine(claim.since, DrainPhase.CLAIMED.value, text)
    if record.cordoned_at is not None:
        yield ProgressLine(record.cordoned_at, DrainPhase.CORDONED.value, "the node is cordoned and carries our taint")
    if record.drained_at is not None:
        yield ProgressLine(record.drained_at, DrainPhase.DRAINED.value, "all have a node again; left to the autoscaler")
    if record.phase is DrainPhase.HALTING and record.updated_at is not None:
        yield ProgressLine(record.updated_at, DrainPhase.HALTING.value, f"{record.why} {record.detail}".strip())


def _calls(record: DrainRecord) -> Iterator[ProgressLine]:
    for name, row in sorted(record.surges.items()):
        text = "restarted; its controller ends the old pod once the new one is available" if row.written else "asked"
        yield ProgressLine(row.at, "surge", f"{name} {text}")
    for key, pod in sorted(record.pods.items()):
        yield ProgressLine(pod.at, "eviction", f"{key} {_answer(pod)}")


def _answer(row: PodProgress) -> str:
    if row.answer == EvictionAnswer.BUDGET:
        return f"held by PodDisruptionBudget {row.detail}"
    return f"{row.answer} {row.detail}".strip()


def held_by(record: DrainRecord) -> tuple[str, ...]:
    """Return the PodDisruptionBudgets that refused a pod when it was last asked for, while the drain is at work."""
    if record.phase not in _AT_WORK:
        return ()
    return tuple(
        sorted({row.detail for row in record.pods.values() if row.answer == EvictionAnswer.BUDGET and row.detail})
    )


def waiting_line(record: DrainRecord, now: datetime) -> ProgressLine:
    """Return what the drain waits for, for a person who has seen nothing new for a while."""
    if record.phase is DrainPhase.ACCEPTED:
        return ProgressLine(now, WAITING, "for a claim; what keeps it stands in the drainer's log")
    granted = sum(row.moved for row in record.pods.values())
    parts = [f"{count(granted, 'eviction')} granted"]
    if budgets := held_by(record):
        parts.append(f"held by {some(budgets)}")
    if record.deadline:
        parts.append(f"returned at {record.deadline:%H:%M:%S}")
    if not record.is_leased(now):
        parts.append("no step is at work: a new message or the planner's next pass goes on")
    return ProgressLine(now, WAITING, "; ".join(parts))
