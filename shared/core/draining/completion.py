"""When a drain is over: what it moved lives again, a buffer lost room, or it took too long.

A drain stays in phase cordoned until each replacement of what it moved has a node. Then the node is noted as drained,
and watched until the replacements run as before: one that is bound may be lost again (docs/decisions/completion.md).
What only its owner can fix (a quota, an image) holds no node for ever: the drain's deadline ends both. A capacity
buffer that lost room is demand that has returned, and the node is given back. Rules of `next_step`; must not act.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.draining.attribution import given_way_for
from shared.core.draining.evicting import STATUS_LAG
from shared.core.draining.observation import Drain
from shared.core.draining.replacements import overdue_replacement, owed, short_of_replicas
from shared.core.draining.steps import Await, Compare, GiveBack, LeaveToAutoscaler, RecordPhase, Step
from shared.core.reasons import Halt
from shared.core.records.drain_record import DrainPhase, EvictionAnswer
from shared.core.records.state import Claim
from shared.core.rules.drain_time import disk_moves
from shared.core.rules.pod_rules import shortage
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


def buffer_fell(drain: Drain) -> Step | None:
    """A buffer has room for fewer chunks than before the first eviction, and not because fewer are wanted."""
    for buffer in drain.observed.buffers.held:
        before, ready = drain.record.buffers.get(buffer.key), buffer.ready
        if before is not None and ready is not None and ready < min(before, buffer.replicas):
            counts = f"{ready} of {buffer.replicas} chunks have room, {before} had before"
            return GiveBack(Halt.BUFFER, f"{buffer.key}: {counts}")
    return None


COUNTS_MAY_TAKE: Final = timedelta(seconds=15)
"""How long after its last pod's end the counts that call a node drained may be read: what a controller takes to write
its status, the slow look, and one call that is tried again."""
_MOST_NAMED: Final = 5
"""The longest events are 1024 characters."""


def grace_seconds(pod: Pod, most: timedelta) -> int:
    """Return the grace period to ask for: the pod's own, at most `most` (docs/acceptance.md row 85).

    At least a second: with 0 the API forgets a pod at once, while its containers may still run.
    """
    return max(1, min(pod.spec.grace_seconds, int(most.total_seconds())))


def deadline(claim: Claim, pods: Iterable[Pod]) -> datetime:
    """Return when a drain is given back: the timeout plus the longest capped grace, and what disks need.

    See docs/acceptance.md row 89.
    """
    moving = tuple(pods)
    longest = max((grace_seconds(pod, claim.settings.max_grace) for pod in moving), default=0)
    return claim.since + claim.settings.timeout + timedelta(seconds=longest) + disk_moves(moving)


def late(drain: Drain) -> Step | None:
    """The deadline has passed, and something is still to be moved or owed."""
    record, now = drain.record, drain.now
    if record.deadline is None or now < record.deadline:
        return None
    held = [*_holding(drain), *sorted(waits_for(drain))]
    if held:
        return GiveBack(Halt.DEADLINE, _named(held))
    if now < record.deadline + COUNTS_MAY_TAKE or not record.before:
        return None
    return GiveBack(Halt.DEADLINE, "the replicas of what was moved could not be counted")


def _named(held: list[str]) -> str:
    more = f" and {len(held) - _MOST_NAMED} more" if len(held) > _MOST_NAMED else ""
    return f"held by {', '.join(held[:_MOST_NAMED])}{more}"


def _holding(drain: Drain) -> list[str]:
    """Return what holds the pods that are still there, each once."""
    record, context = drain.record, drain.pod_rules

    def why(pod: Pod) -> str:
        row, short = record.pods.get(pod.key), shortage(pod.spec, context)
        if pod.deleting is not None:
            return f"{pod.key}, which ends by {pod.deleting:%H:%M:%S}"
        if row is not None and row.uid == pod.uid and row.answer == EvictionAnswer.BUDGET and row.detail:
            return row.detail
        return short.detail if short is not None else f"{pod.key}, which is still there"

    return sorted({why(pod) for pod in movable(drain.observed.pods, drain.now)})
