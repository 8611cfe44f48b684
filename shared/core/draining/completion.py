"""When a drain is over: not when its node is empty, but when what it moved lives again (docs/decisions/completion.md).

A drain stays in phase cordoned until each replacement of what it moved has a node. Then the node is noted as drained,
and looked at until the replacements run as before, for one that is bound may be lost again. What only its owner can
fix (a quota, an image) holds no node for ever: the drain's deadline ends both.
Rules of `draining`; must not act.
"""

from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.snapshot import Pod
from shared.core.draining.attribution import charged
from shared.core.draining.eviction_order import STATUS_LAG
from shared.core.draining.observation import Scene
from shared.core.draining.replacements import moved, owed, starting, stranded
from shared.core.draining.steps import Await, Compare, GiveBack, Leave, Note, Step
from shared.core.reasons import Halt
from shared.core.records.state import DrainPhase, DrainRecord
from shared.core.rules.pods import movable

WATCH_EVERY: Final = timedelta(seconds=5)
WATCH_AT_LEAST: Final = timedelta(seconds=30)
"""How long a drained node is looked at whatever the counts say: a controller that is late (it has just become the
leader, or counts for nobody as a Job's does) has neither created a pod nor written that one is missing."""


def replacement_pending(record: DrainRecord, scene: Scene, now: datetime) -> Step | None:
    """A replacement of a pod that was evicted has found no node for longer than its grace: a drain gives way."""
    if scene.claim is None or _stranded(record, scene, now) is None:
        return None
    if scene.others is None:
        return Compare()
    pod = charged(record, scene.claim, scene, scene.others, now)
    return GiveBack(Halt.REPLACEMENT_PENDING, pod.key, moved(record, scene)) if pod else None


def place_awaited(record: DrainRecord, scene: Scene, now: datetime) -> Step | None:
    """Another drain gives way for what has found no node: until it has one, nothing more is moved."""
    return Await(WATCH_EVERY) if _stranded(record, scene, now) else None


def _stranded(record: DrainRecord, scene: Scene, now: datetime) -> Pod | None:
    return stranded(owed(record, scene), scene.claim.settings.pending_grace, now) if scene.claim else None


def drained(record: DrainRecord, scene: Scene, now: datetime) -> Step | None:
    """Nothing is left to move, and what was moved has a node."""
    if movable(scene.pods, now):
        return None
    return Note(DrainPhase.DRAINED) if _is_counted(record, scene) and not owed(record, scene) else None


def replacements_start(record: DrainRecord, scene: Scene, now: datetime) -> Step | None:
    """What was moved does not run yet as it did before."""
    if record.deadline is None or now >= record.deadline:
        return None
    young = record.drained_at is not None and now - record.drained_at < WATCH_AT_LEAST
    waits = owed(record, scene) or starting(record, scene) or (young and record.before)
    return Await(WATCH_EVERY) if waits else None


def left(record: DrainRecord, scene: Scene, now: datetime) -> Step | None:
    """The autoscaler's turn, and the planner's passes."""
    del record, scene, now
    return Leave()


def waits_for(record: DrainRecord, scene: Scene) -> set[str]:
    """Return what a drain that is late still waits for, of replacements."""
    return {f"replacements of {each}" for each in owed(record, scene)}


def _is_counted(record: DrainRecord, scene: Scene) -> bool:
    """Whether the counts are so new that they tell the last pod's end; where nothing was moved nothing is counted."""
    if all(before is None for before in record.before.values()):
        return True
    read, emptied = scene.workloads_at, scene.emptied_at
    return read is not None and emptied is not None and read - emptied >= STATUS_LAG
