"""The verdict of each node, exactly one: what the pass found out and chose, told with all its reasons.

Must not choose: `selection` has done so.
"""

from collections.abc import Mapping
from datetime import datetime

from shared.core.cluster.resources import NOTHING
from shared.core.planning.candidates import AssessedNode
from shared.core.planning.marks import is_old_enough, removable_at
from shared.core.planning.plan import NodeDecision, Verdict
from shared.core.planning.selection import Selection
from shared.core.policy import Policy
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.records.state import Mark, PoolMarks
from shared.core.rules.drain_time import DrainTime


def is_due(assessed: AssessedNode, marks: Mapping[str, PoolMarks], policy: Policy, now: datetime) -> bool:
    """An expired node's time is its age; any other's is its mark."""
    if assessed.reason is DrainReason.EXPIRED:
        return True
    mark = mark_of(assessed, marks)
    return mark is not None and is_old_enough(mark, policy.pool(assessed.node.pool).consolidate_after, now)


def mark_of(assessed: AssessedNode, marks: Mapping[str, PoolMarks]) -> Mark | None:
    pool = marks.get(assessed.node.pool)
    return pool.marks.get(assessed.node.uid) if pool else None


class Decider:
    """Says the verdict of each node, once everything is known."""

    def __init__(self, policy: Policy, marks: Mapping[str, PoolMarks], selection: Selection) -> None:
        self._policy, self._marks, self._selection = policy, marks, selection
        self._taken = {assessed.node.name for assessed in selection.taken}

    def __call__(self, assessed: AssessedNode) -> NodeDecision:
        verdict, found = self._verdict(assessed)
        mark = mark_of(assessed, self._marks)
        after = self._policy.pool(assessed.node.pool).consolidate_after
        marked, removable = (mark.since, removable_at(mark, after)) if mark else (None, None)
        return decision(assessed, verdict, found, marked, removable, self._takes(assessed))

    def _takes(self, assessed: AssessedNode) -> DrainTime | None:
        """Return how long the drain takes, beside those before it where the node's time has come."""
        if not assessed.is_candidate:
            return None
        return self._selection.times.get(assessed.node.name) or assessed.estimate.alone

    def _verdict(self, assessed: AssessedNode) -> tuple[Verdict, tuple[Blocker, ...]]:
        if assessed.claimed_by is not None:
            return Verdict.IN_FLIGHT, ()
        if assessed.blockers:
            return Verdict.KEEP, assessed.blockers
        if assessed.node.name in self._taken:
            return (Verdict.WOULD_ORDER if self._policy.dry_run else Verdict.ORDER), ()
        if assessed.node.name in self._selection.kept:
            return Verdict.KEEP, self._selection.kept[assessed.node.name]
        return Verdict.WAITING, (Blocker(Unremovable.MARKED_RECENTLY),)


def decision(
    assessed: AssessedNode,
    verdict: Verdict,
    found: tuple[Blocker, ...],
    marked_since: datetime | None = None,
    removable: datetime | None = None,
    takes: DrainTime | None = None,
) -> NodeDecision:
    """Return a node's decision; the first blocker names it."""
    first = found[0].reason.value if found else assessed.claimed_by or assessed.reason.value
    measured = assessed.usage
    return NodeDecision(
        name=assessed.node.name,
        uid=assessed.node.uid,
        pool=assessed.node.pool,
        verdict=verdict,
        reason=first,
        blockers=found,
        cpu_ratio=measured.cpu if measured else None,
        memory_ratio=measured.memory if measured else None,
        movable_cpu_ratio=measured.movable_cpu if measured else None,
        movable_memory_ratio=measured.movable_memory if measured else None,
        accelerator_ratio=measured.accelerator if measured else None,
        score=measured.score if measured else None,
        marked_since=marked_since,
        removable_at=removable,
        underutilized=assessed.below_limits,
        allocatable=assessed.node.allocatable if measured else NOTHING,
        requested=measured.requested if measured else NOTHING,
        drain=takes,
        outside=assessed.node.outside and assessed.claimed_by is None,
    )
