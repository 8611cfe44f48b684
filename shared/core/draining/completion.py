"""When a drain is over: what it moved runs again, a buffer lost room, or it took too long; why its node still stands.

A drain stays cordoned until each replacement of what it moved has a node; then it is drained, and watched until they
run as before: one that is bound may be lost again (docs/decisions/completion.md). What only its owner can fix (a
quota, an image) holds no node for good: the drain's deadline ends both. Rules of `next_step`.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.autoscaling import SaidBy, ScaleDownRule
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import NOTHING
from shared.core.draining.drain import Await, Compare, Drain, LeaveToAutoscaler, ReturnNode, Step, WritePhase
from shared.core.draining.evicting import STATUS_LAG
from shared.core.draining.replacements import given_way_for, is_late, missing_replicas, moved_workloads
from shared.core.policy import BudgetUntil
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase, EvictionAnswer
from shared.core.records.state import Claim
from shared.core.rules.drain_time import MIN_WATCHDOG, disk_moves
from shared.core.rules.pod_rules import shortage
from shared.core.rules.pods import movable

WATCH_EVERY: Final = timedelta(seconds=5)


def replacement_pending(drain: Drain) -> Step | None:
    """A replacement of a pod that was evicted has found no node for longer than its grace: a drain gives way."""
    record, observed = drain.record, drain.observed
    if observed.claim is None or overdue_replacement(drain) is None:
        return None
    if observed.others is None:
        return Compare()
    pods = given_way_for(record, observed.claim, observed, observed.others, drain.now)
    return ReturnNode(ReturnReason.REPLACEMENT_PENDING, pods[0], pods) if pods else None


def await_place(drain: Drain) -> Step | None:
    """Another drain gives way for what has found no node: until it has one, nothing more is moved."""
    return Await(WATCH_EVERY) if overdue_replacement(drain) else None


def overdue_replacement(drain: Drain) -> Pod | None:
    claim = drain.observed.claim
    waiting = (pod for row in missing_replicas(drain.record, drain.observed) for pod in row.waiting)
    late = (pod for pod in waiting if claim and is_late(pod, claim.settings.pending_grace, drain.now))
    return min(late, key=lambda pod: pod.key, default=None)


def all_pods_moved(drain: Drain) -> Step | None:
    left = movable(drain.observed.pods, drain.now) or not _is_counted(drain)
    return None if left or missing_replicas(drain.record, drain.observed) else WritePhase(DrainPhase.DRAINED)


def replacements_start(drain: Drain) -> Step | None:
    """What was moved does not run yet as it did before."""
    deadline = drain.record.deadline
    is_late = deadline is None or drain.now >= deadline
    return None if is_late or _runs_again(drain) else Await(WATCH_EVERY)


def _runs_again(drain: Drain) -> bool:
    record, observed = drain.record, drain.observed
    young = record.drained_at is not None and drain.now - record.drained_at < MIN_WATCHDOG
    lacking = any(row.missing > 0 or row.is_short for row in moved_workloads(record, observed))
    return not (lacking or (young and record.before))


def leave(drain: Drain) -> Step | None:
    """The autoscaler's turn, and the planner's passes. What nobody counts is not known to run again."""
    policy = drain.observed.policy
    ends = policy is not None and policy.budget_until is BudgetUntil.REPLACED
    counted = all(row.unbound is not None for row in moved_workloads(drain.record, drain.observed))
    return LeaveToAutoscaler(replaced=ends and counted and _runs_again(drain))


def _is_counted(drain: Drain) -> bool:
    """Whether the counts are so new that they show the last pod's end; if nothing was moved nothing is counted."""
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
            return ReturnNode(ReturnReason.BUFFER, f"{buffer.key}: {counts}")
    return None


COUNTS_MAY_TAKE: Final = timedelta(seconds=15)
"""How long after its last pod's end the counts that call a node drained may be read: what a controller takes to write
its status, the slow look, and one call that is tried again."""
_MOST_NAMED: Final = 5  # The longest events are 1024 characters.


def grace_seconds(pod: Pod, most: timedelta) -> int:
    """Return the grace period to ask for: the pod's own, at most `most` (docs/acceptance.md row 85)."""
    # At least a second: with 0 the API forgets a pod at once, while its containers may still run.
    return max(1, min(pod.spec.grace_seconds, int(most.total_seconds())))


def deadline(claim: Claim, pods: Iterable[Pod]) -> datetime:
    """Return when a drain fails: the timeout, the longest capped grace, and what disks need."""
    # docs/acceptance.md row 89.
    moving = tuple(pods)
    longest = max((grace_seconds(pod, claim.settings.max_grace) for pod in moving), default=0)
    return claim.since + claim.settings.timeout + timedelta(seconds=longest) + disk_moves(moving)


def late(drain: Drain) -> Step | None:
    record, now = drain.record, drain.now
    if record.deadline is None or now < record.deadline:
        return None
    held = [*_holding(drain), *(f"replacements of {replica}" for replica in missing_replicas(record, drain.observed))]
    if held:
        more = f" and {len(held) - _MOST_NAMED} more" if len(held) > _MOST_NAMED else ""
        return ReturnNode(ReturnReason.DEADLINE, f"held by {', '.join(held[:_MOST_NAMED])}{more}")
    if now < record.deadline + COUNTS_MAY_TAKE or not record.before:
        return None
    return ReturnNode(ReturnReason.DEADLINE, "the replicas of what was moved could not be counted")


def _holding(drain: Drain) -> list[str]:
    record, context = drain.record, drain.pod_rules

    def why(pod: Pod) -> str:
        row, short = record.pods.get(pod.key), shortage(pod.spec, context)
        if pod.deleting is not None:
            return f"{pod.key}, which ends by {pod.deleting:%H:%M:%S}"
        if row is not None and row.uid == pod.uid and row.answer == EvictionAnswer.BUDGET and row.detail:
            return row.detail
        return short.detail if short is not None else f"{pod.key}, which is still there"

    return sorted({why(pod) for pod in movable(drain.observed.pods, drain.now)})


NOT_KNOWN: Final = "The autoscaler gave no reason that could be read: see its log (Cloud Logging, noScaleDown events)."


def reasons_not_deleted(
    node: Node,
    pods: Sequence[Pod],
    nodes: Sequence[Node],
    pool: NodePool | None,
    rule: ScaleDownRule,
    reported: str,
    now: datetime,
) -> str:
    """Return in a sentence or two why a drained node stands; `reported` is its last ScaleDownFailed event, or empty."""
    # The autoscaler's own word comes first, then what its rules refuse (cluster-autoscaler, scaledown eligibility).
    message = (f"The autoscaler's message: {reported}",) if reported else ()
    kept = (*_pool_keeps(node, nodes, pool), *_node_keeps(node, pods, now), *_rule_keeps(node, pods, rule))
    return " ".join((*message, *kept)) or NOT_KNOWN


def _pool_keeps(node: Node, nodes: Sequence[Node], pool: NodePool | None) -> Iterable[str]:
    if pool is None:
        yield f"GKE reports no pool {node.pool}."
        return
    if not pool.autoscaled:
        yield f"Autoscaling of pool {pool.name} is off."
    if pool.upgrading:
        yield f"An upgrade of pool {pool.name} is under way."
    of_pool = (other for other in nodes if other.pool == node.pool)
    remaining = [other for other in of_pool if not other.has_taint(names.AUTOSCALER_DELETING_TAINT)]
    in_zone = sum(other.zone == node.zone for other in remaining)
    if in_zone <= pool.min_per_zone:
        yield f"Pool {pool.name} is at its minimum: {in_zone} nodes in {node.zone}, minimum {pool.min_per_zone}."
    elif len(remaining) <= pool.min_total:
        yield f"Pool {pool.name} is at its minimum: {len(remaining)} nodes, minimum {pool.min_total}."


def _node_keeps(node: Node, pods: Iterable[Pod], now: datetime) -> Iterable[str]:
    if node.annotations.get(names.SCALE_DOWN_DISABLED) == "true":
        yield f"The node's annotation {names.SCALE_DOWN_DISABLED} is true."
    left = movable(pods, now)
    if left:
        yield f"{len(left)} pods are on the node, {left[0].key} first."
    if node.has_taint(names.AUTOSCALER_DELETING_TAINT):
        yield "The autoscaler has begun to delete it."
    elif node.is_announced:
        yield "The autoscaler counts it as unneeded and has not waited long enough yet."


def _rule_keeps(node: Node, pods: Iterable[Pod], rule: ScaleDownRule) -> Iterable[str]:
    """Yield what the node's ComputeClass, or its pool, asks of the autoscaler before it deletes a node."""
    whose = f"ComputeClass {rule.compute_class}"
    if not rule.class_known:
        yield f"{whose} could not be read; it may set how long the autoscaler waits."
    if rule.delay:
        by = whose if rule.unneeded_by is SaidBy.COMPUTE_CLASS else f"Pool {node.pool}"
        yield f"{by} lets it wait {rule.delay.total_seconds() / 60:g} min before it deletes an unneeded node."
    staying = (pod for pod in pods if pod.spec.stays and not pod.phase.finished)
    if rule.only_empty and any(pod.requests != NOTHING for pod in staying):
        yield (
            f"Under consolidationThreshold 0 of {whose} it deletes only nodes that nothing is asked of: if it counts "
            "DaemonSet pods there, it never deletes this one; write 1 or more."
        )
