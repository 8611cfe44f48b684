"""When a drain is over: not when its node is empty, but when what it moved lives again (docs/decisions/completion.md).

A drain stays in phase cordoned until each replacement of what it moved has a node. Then the node is noted as drained,
and looked at until the replacements run as before, for one that is bound may be lost again. What only its owner can
fix (a quota, an image) holds no node for ever: the drain's deadline ends both.
Rules of `next_step`; must not act.
"""

from datetime import timedelta
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.draining.attribution import given_way_for
from shared.core.draining.eviction_order import STATUS_LAG
from shared.core.draining.observation import Drain
from shared.core.draining.replacements import overdue_replacement, owed, short_of_replicas
from shared.core.draining.steps import Await, Compare, GiveBack, LeaveToAutoscaler, RecordPhase, Step
from shared.core.outcomes import Halt
from shared.core.records.drain_record import DrainPhase
from shared.core.rules.pods import movable

WATCH_EVERY: Final = timedelta(seconds=5)
WATCH_AT_LEAST: Final = timedelta(seconds=30)
"""How long a drained node is looked at whatever the counts say: a controller that is late (it has just become the
leader, or counts for nobody as a Job's does) has neither created a pod nor written that one is missing."""


def replacement_pending(drain: Drain) -> Step | None:
    """A replacement of a pod that was evicted has found no node for longer than its grace: a drain gives way."""
    record, observed = drain.record, drain.observed
    if observed.claim is None or _overdue(drain) is None:
        return None
    if observed.others is None:
        return Compare()
    pods = given_way_for(record, observed.claim, observed, observed.others, drain.now)
    return GiveBack(Halt.REPLACEMENT_PENDING, pods[0], pods) if pods else None


def place_awaited(drain: Drain) -> Step | None:
    """Another drain gives way for what has found no node: until it has one, nothing more is moved."""
    return Await(WATCH_EVERY) if _overdue(drain) else None


def _overdue(drain: Drain) -> Pod | None:
    claim = drain.observed.claim
    owes = owed(drain.record, drain.observed)
    return overdue_replacement(owes, claim.settings.pending_grace, drain.now) if claim else None


def drained(drain: Drain) -> Step | None:
    """Nothing is left to move, and what was moved has a node."""
    if movable(drain.observed.pods, drain.now) or not _is_counted(drain):
        return None
    return None if owed(drain.record, drain.observed) else RecordPhase(DrainPhase.DRAINED)


def replacements_start(drain: Drain) -> Step | None:
    """What was moved does not run yet as it did before."""
    record, observed, now = drain.record, drain.observed, drain.now
    if record.deadline is None or now >= record.deadline:
        return None
    young = record.drained_at is not None and now - record.drained_at < WATCH_AT_LEAST
    waits = owed(record, observed) or short_of_replicas(record, observed) or (young and record.before)
    return Await(WATCH_EVERY) if waits else None


def leave(drain: Drain) -> Step | None:
    """The autoscaler's turn, and the planner's passes."""
    del drain
    return LeaveToAutoscaler()


def waits_for(drain: Drain) -> set[str]:
    """Return what a drain that is late still waits for, of replacements."""
    return {f"replacements of {each}" for each in owed(drain.record, drain.observed)}


def _is_counted(drain: Drain) -> bool:
    """Whether the counts are so new that they tell the last pod's end; where nothing was moved nothing is counted."""
    if all(before is None for before in drain.record.before.values()):
        return True
    read, emptied = drain.observed.workloads_at, drain.observed.emptied_at
    return read is not None and emptied is not None and read - emptied >= STATUS_LAG
