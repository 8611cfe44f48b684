"""What one drain took, read off its record: seconds, pods, and how long a PodDisruptionBudget held it.

Only the log and its metrics rest on these. Must not decide anything.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from shared.core.records.drain_record import DrainRecord, EvictionAnswer, PodProgress


@dataclass(frozen=True, slots=True)
class DrainStats:
    """What a drain took until now."""

    draining: timedelta | None
    """From the cordon until what was moved had a node again, or until now; None before the cordon."""
    deleting: timedelta | None
    """From then until now: the autoscaler's time; None before."""
    pods_evicted: int


def stats_of(record: DrainRecord, now: datetime) -> DrainStats:
    """Return what a drain took, from its record."""
    emptied, begun = record.drained_at, record.cordoned_at
    return DrainStats(
        draining=(emptied or now) - begun if begun is not None else None,
        deleting=now - emptied if emptied is not None else None,
        pods_evicted=sum(row.moved for row in record.pods.values()),
    )


def log_fields(took: DrainStats) -> dict[str, Any]:
    """Return an account as the fields of a log line; what is not known yet is left out."""
    seconds = {"drain_seconds": took.draining, "deletion_seconds": took.deleting}
    known = {name: round(value.total_seconds(), 3) for name, value in seconds.items() if value is not None}
    return {**known, "pods_evicted": took.pods_evicted}


def held_by_budget(before: PodProgress | None, uid: str, now: datetime) -> tuple[str, timedelta] | None:
    """Return which PodDisruptionBudget held a pod since its last answer, and for how long; None if none did."""
    if before is None or before.uid != uid or before.answer != EvictionAnswer.BUDGET:
        return None
    return before.detail, now - before.at
