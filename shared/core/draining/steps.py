"""The steps of a drain and its numbers."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.reasons import Halt, Outcome, Reason
from shared.core.records.drain_record import DrainPhase, DrainRecord, EvictionAnswer, PodProgress

LOOK_EVERY: Final = timedelta(seconds=1)


@dataclass(frozen=True)
class Cordon:
    """Cordon and own the node."""

    node: Node


@dataclass(frozen=True)
class RecordPhase:
    """Write the phase reached, act on nothing: the world is already there."""

    phase: DrainPhase


@dataclass(frozen=True)
class Prove:
    """Look at the whole cluster whether what would be moved still has a place."""


@dataclass(frozen=True)
class Compare:
    """Look at what the other drains have moved: one of them may have to give its node back in our stead."""


@dataclass(frozen=True)
class Evict:
    """Ask for the eviction of these pods, in parallel."""

    pods: tuple[Pod, ...]


@dataclass(frozen=True)
class Restart:
    """Restart the Deployment of these pods: its controller starts others, then ends them."""

    deployment: str
    """`namespace/Deployment/name`."""
    pods: tuple[Pod, ...]


@dataclass(frozen=True)
class Await:
    """Look again after a while."""

    pause: timedelta = LOOK_EVERY


@dataclass(frozen=True)
class LeaveToAutoscaler:
    """Nothing is left to do for this order: the node is the cluster autoscaler's."""


@dataclass(frozen=True)
class GiveBack:
    """Uncordon and untaint, back off, settle."""

    why: Halt
    detail: str = ""
    gave_way_for: tuple[str, ...] = ()
    """Keys of the replacements that find no node, and for which it gives way: others need not."""


@dataclass(frozen=True)
class Settle:
    """Nothing is left to do in the cluster: write how it ended."""

    outcome: Outcome
    why: Reason | None = None
    detail: str = ""


Step = Cordon | RecordPhase | Prove | Compare | Restart | Evict | Await | LeaveToAutoscaler | GiveBack | Settle


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
