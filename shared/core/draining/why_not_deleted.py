"""Why a drained node still stands: what the cluster autoscaler said of it, or what is known to stop the autoscaler.

The autoscaler's own event comes first; after it what its rules refuse (cluster-autoscaler, scaledown eligibility),
told from the node, its pods and its pool. Where nothing can be told, that is said.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.autoscaling import SaidBy, ScaleDownRule
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod, is_daemon, is_finished, is_mirror
from shared.core.cluster.resources import NOTHING
from shared.core.rules.pods import movable

NOT_KNOWN: Final = "The autoscaler gave no reason that could be read: see its log (Cloud Logging, noScaleDown events)."


def reasons_not_deleted(
    node: Node,
    pods: Sequence[Pod],
    nodes: Sequence[Node],
    pool: NodePool | None,
    rule: ScaleDownRule,
    said: str,
    now: datetime,
) -> str:
    """Return one sentence or two.

    Args:
        node: the drained node.
        pods: the pods on it.
        nodes: all nodes of the cluster.
        pool: the node's pool as GKE knows it; None when it does not report it.
        rule: how the autoscaler takes the node away.
        said: the message of the autoscaler's last ScaleDownFailed event about the node, or empty.
        now: the state's time.
    """
    said_by_autoscaler = (f"The autoscaler said: {said}",) if said else ()
    found = (
        *said_by_autoscaler,
        *_pool_keeps(node, nodes, pool),
        *_node_keeps(node, pods, now),
        *_rule_keeps(node, pods, rule),
    )
    return " ".join(found) or NOT_KNOWN


def _pool_keeps(node: Node, nodes: Sequence[Node], pool: NodePool | None) -> Iterable[str]:
    if pool is None:
        yield f"GKE reports no pool {node.pool}."
        return
    if not pool.autoscaled:
        yield f"Autoscaling of pool {pool.name} is off."
    if pool.upgrading:
        yield f"An upgrade of pool {pool.name} is under way."
    remaining = [
        each for each in nodes if each.pool == node.pool and not each.has_taint(names.AUTOSCALER_DELETING_TAINT)
    ]
    in_zone = sum(each.zone == node.zone for each in remaining)
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
    elif node.has_taint(names.AUTOSCALER_CANDIDATE_TAINT):
        yield "The autoscaler counts it as unneeded and has not waited long enough yet."


def _rule_keeps(node: Node, pods: Iterable[Pod], rule: ScaleDownRule) -> Iterable[str]:
    """Yield what the node's ComputeClass, or its pool, asks of the autoscaler before it deletes a node."""
    whose = f"ComputeClass {rule.compute_class}"
    if not rule.class_known:
        yield f"{whose} could not be read, and may say how long the autoscaler waits."
    if rule.delay:
        by = whose if rule.unneeded_by is SaidBy.COMPUTE_CLASS else f"Pool {node.pool}"
        yield f"{by} lets it wait {_minutes(rule.delay)} before it deletes an unneeded node."
    if rule.is_reaper and any(_asks(pod) for pod in pods):
        yield (
            f"Under consolidationThreshold 0 of {whose} it deletes only nodes that nothing is asked of: if it counts "
            "DaemonSet pods there, it never deletes this one; write 1 or more."
        )


def _asks(pod: Pod) -> bool:
    stays = is_daemon(pod.spec) or is_mirror(pod.spec)
    return stays and not is_finished(pod) and pod.requests != NOTHING


def _minutes(delay: timedelta) -> str:
    return f"{delay.total_seconds() / 60:g} min"
