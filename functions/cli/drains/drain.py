"""`ebb drain`: one manual order, which the drainer judges, and its record for a person who waits.

Its progress line by line, how it ended, and what can be done about it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import typer

from functions.cli.drains.client import SILENT_AFTER, Installation, manual_order, node_name, poll, print_what_to_check
from functions.cli.errors import INTERRUPTED, WRONG
from functions.cli.output.format import count, moment, some, span
from functions.cli.output.terminal import BULLET, print_progress, print_sentence
from shared.core.reasons import Outcome, PodBlock, Reason, Refusal, ReturnReason, Unremovable, reason_of_word
from shared.core.records.drain_record import DrainPhase, DrainRecord, EvictionAnswer, Objection, PodProgress
from shared.core.records.orders import Order, OrderKind
from shared.core.records.state import Claim
from shared.core.rules.gates import IGNORABLE
from shared.errors import BadInput
from shared.ports import drain_key
from shared.store.compare_and_set import read_cluster

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


PRINT_AT_LEAST: Final = timedelta(seconds=30)
"""A person who waits hears something this often."""
_UNCLAIMED: Final = frozenset({DrainPhase.ACCEPTED, DrainPhase.SETTLED})


@dataclass(frozen=True, slots=True)
class DrainOptions:
    dry_run: bool = False
    ignore: tuple[str, ...] = ()
    timeout: timedelta = timedelta(minutes=30)
    """How long to watch; longer than an order waits for its claim and a drain for its deadline."""


def order_drain(installation: Installation, node: str, options: DrainOptions, *, wait: bool) -> int:
    """Publish the order and return the exit code; with `wait` print the progress to the end. Raises as `order_for`."""
    order = order_for(installation, node, options)
    installation.orders.publish(order)
    if not wait:
        typer.echo(order.order_id)
        return 0
    text = f"order {order.order_id} to {installation.topic}, {moment(order.issued_at)}"
    print_progress(order.issued_at, "published", text)
    try:
        ending = DrainWatch(installation, order).follow(options.timeout)
    except KeyboardInterrupt:
        ending = Ending(INTERRUPTED, (goes_on(order),))
    for sentence in ending.sentences:
        print_sentence(sentence)
    return ending.code


def order_for(installation: Installation, node: str, options: DrainOptions) -> Order:
    """Return the order, by the state's clock as the drainer's. Raises BadInput for a name or a word that cannot be."""
    unknown = [word for word in options.ignore if word not in IGNORABLE]
    if unknown:
        raise BadInput(f"--ignore: {', '.join(unknown)} is not one of {', '.join(sorted(IGNORABLE))}.")
    name = node_name(node)
    _, _, now = read_cluster(installation.state)
    return manual_order(installation, OrderKind.DRAIN, name, now, dry_run=options.dry_run, ignore=options.ignore)


class DrainWatch:
    def __init__(self, installation: Installation, order: Order) -> None:
        self._installation, self._order = installation, order
        self._shown: set[tuple[str, str]] = set()
        self._printed_at = order.issued_at

    def follow(self, timeout: timedelta) -> Ending:
        """Look until the drain ends, nobody can take the order any more, or the patience does."""
        found = poll(self._installation.clock, self._look, timeout, self._advise)
        return found or ending_of_unfinished(self._order, timeout)

    def _look(self) -> Ending | None:
        found = self._installation.state.get(drain_key(self._order.order_id))
        if found.value:
            return self._report(found.value, found.read_at)
        return ending_of_unclaimed(self._order) if found.read_at >= self._order.expires_at else None

    def _report(self, record: DrainRecord, now: datetime) -> Ending | None:
        claim = self._claim(record)
        ending = ending_of(record, claim)
        lines = [line for line in progress_lines(record, claim) if (line.word, line.text) not in self._shown]
        if not lines and ending is None and now - self._printed_at >= PRINT_AT_LEAST:
            lines = [waiting_line(record, now)]
        for line in lines:
            print_progress(*line)
            self._printed_at = now
        self._shown |= {(line.word, line.text) for line in lines if line.word != WAITING}
        return ending

    def _claim(self, record: DrainRecord) -> Claim | None:
        if record.phase in _UNCLAIMED:
            return None
        held = read_cluster(self._installation.state)[0].claim_of(record.order.order_id)
        return held[1] if held else None

    def _advise(self) -> None:
        if self._installation.state.get(drain_key(self._order.order_id)).value is None:
            why = f"Nothing has taken the order for {SILENT_AFTER.total_seconds():.0f} s"
            print_what_to_check(self._installation, self._order.order_id, why)
