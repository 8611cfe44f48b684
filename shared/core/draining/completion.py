"""When a drain is over: not when its node is empty, but when what it moved lives again (docs/decisions/completion.md).

A drain stays in phase cordoned until each replacement of what it moved has a node. Then the node is noted as drained,
and looked at until the replacements run as before, for one that is bound may be lost again. What only its owner can
fix (a quota, an image) holds no node for ever: the drain's deadline ends both.
Rules of `draining`; must not act.
"""

from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.snapshot import Pod
from shared.core.draining.attribution import pod_given_way_for
from shared.core.draining.eviction_order import STATUS_LAG
from shared.core.draining.observation import Observation
from shared.core.draining.replacements import moved_workloads, overdue_replacement, owed, short_of_replicas
from shared.core.draining.steps import Await, Compare, GiveBack, LeaveToAutoscaler, RecordPhase, Step
from shared.core.reasons import Halt
from shared.core.records.state import DrainPhase, DrainRecord
from shared.core.rules.pods import movable

WATCH_EVERY: Final = timedelta(seconds=5)
WATCH_AT_LEAST: Final = timedelta(seconds=30)
"""How long a drained node is looked at whatever the counts say: a controller that is late (it has just become the
leader, or counts for nobody as a Job's does) has neither created a pod nor written that one is missing."""


def replacement_pending(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """A replacement of a pod that was evicted has found no node for longer than its grace: a drain gives way."""
    if observed.claim is None or _overdue(record, observed, now) is None:
        return None
    if observed.others is None:
        return Compare()
    pod = pod_given_way_for(record, observed.claim, observed, observed.others, now)
    return GiveBack(Halt.REPLACEMENT_PENDING, pod.key, moved_workloads(record, observed)) if pod else None


def place_awaited(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """Another drain gives way for what has found no node: until it has one, nothing more is moved."""
    return Await(WATCH_EVERY) if _overdue(record, observed, now) else None


def _overdue(record: DrainRecord, observed: Observation, now: datetime) -> Pod | None:
    return (
        overdue_replacement(owed(record, observed), observed.claim.settings.pending_grace, now)
        if observed.claim
        else None
    )


def drained(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """Nothing is left to move, and what was moved has a node."""
    if movable(observed.pods, now):
        return None
    return RecordPhase(DrainPhase.DRAINED) if _is_counted(record, observed) and not owed(record, observed) else None


def replacements_start(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """What was moved does not run yet as it did before."""
    if record.deadline is None or now >= record.deadline:
        return None
    young = record.drained_at is not None and now - record.drained_at < WATCH_AT_LEAST
    waits = owed(record, observed) or short_of_replicas(record, observed) or (young and record.before)
    return Await(WATCH_EVERY) if waits else None


def leave(record: DrainRecord, observed: Observation, now: datetime) -> Step | None:
    """The autoscaler's turn, and the planner's passes."""
    del record, observed, now
    return LeaveToAutoscaler()


def waits_for(record: DrainRecord, observed: Observation) -> set[str]:
    """Return what a drain that is late still waits for, of replacements."""
    return {f"replacements of {each}" for each in owed(record, observed)}


def _is_counted(record: DrainRecord, observed: Observation) -> bool:
    """Whether the counts are so new that they tell the last pod's end; where nothing was moved nothing is counted."""
    if all(before is None for before in record.before.values()):
        return True
    read, emptied = observed.workloads_at, observed.emptied_at
    return read is not None and emptied is not None and read - emptied >= STATUS_LAG
