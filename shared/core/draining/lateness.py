"""How long a drain may take, when it has taken too long, and what it was waiting for.

A node that is empty or that the autoscaler is deleting is no failure, however late: those rules stand before this one,
and they are given some time more where it is only their counts that are not read yet.
Rules of `next_step`; must not act.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.draining.completion import waits_for
from shared.core.draining.observation import Drain
from shared.core.draining.steps import GiveBack, Step
from shared.core.outcomes import Halt
from shared.core.records.evictions import EvictionAnswer
from shared.core.records.state import Claim
from shared.core.rules.disk_moves import disk_moves
from shared.core.rules.pods import movable
from shared.core.rules.workload_rules import shortage

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
