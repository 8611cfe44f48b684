"""A drain's record as lines for a person: each phase with its time, each answer of the eviction API once."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from functions.cli.output.format import count, some
from shared.core.records.drain_record import DrainPhase, DrainRecord, EvictionAnswer, PodProgress
from shared.core.records.state import Claim

WAITING: Final = "waiting"
_AT_WORK: Final = frozenset({DrainPhase.CLAIMED, DrainPhase.CORDONED, DrainPhase.HALTING})


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """What happened when: the phase's or answer's own word, and what it means here."""

    at: datetime
    word: str
    text: str


def progress_lines(record: DrainRecord, claim: Claim | None) -> tuple[ProgressLine, ...]:
    """Return all lines of the record, oldest first."""
    return tuple(sorted((*_phases(record, claim), *_surges(record), *_evictions(record)), key=lambda line: line.at))


def _phases(record: DrainRecord, claim: Claim | None) -> Iterator[ProgressLine]:
    if record.begun_at is not None:
        yield ProgressLine(record.begun_at, DrainPhase.ACCEPTED.value, "the drainer judges the order on fresh reads")
    if claim is not None:
        yield ProgressLine(
            claim.since, DrainPhase.CLAIMED.value, f"pool {claim.pool}, zone {claim.zone}{_until(record)}"
        )
    if record.cordoned_at is not None:
        yield ProgressLine(record.cordoned_at, DrainPhase.CORDONED.value, "the node is cordoned and carries our taint")
    if record.drained_at is not None:
        yield ProgressLine(record.drained_at, DrainPhase.DRAINED.value, "all have a node again; left to the autoscaler")
    if record.phase is DrainPhase.HALTING and record.updated_at is not None:
        yield ProgressLine(record.updated_at, DrainPhase.HALTING.value, f"{record.why} {record.detail}".strip())


def _until(record: DrainRecord) -> str:
    return f"; returned unless drained by {record.deadline:%H:%M:%S}" if record.deadline else ""


def _surges(record: DrainRecord) -> Iterator[ProgressLine]:
    for name, row in sorted(record.surges.items()):
        text = "restarted; its controller ends the old pod once the new one is available" if row.written else "asked"
        yield ProgressLine(row.at, "surge", f"{name} {text}")


def _evictions(record: DrainRecord) -> Iterator[ProgressLine]:
    for key, row in sorted(record.pods.items()):
        yield ProgressLine(row.at, "eviction", f"{key} {_answer(row)}")


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
