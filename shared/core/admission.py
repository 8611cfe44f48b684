"""May this order still be carried out? The planner's rules, asked again on fresh reads, and the claim's limits.

The world having changed is an outcome, not an error: every objection has the name that the planner would
give it. Must not act.
"""

from datetime import datetime, timedelta
from typing import Final

from shared.core.choosing import departing_nodes
from shared.core.draining import CORDON_SETTLES
from shared.core.eligibility import NodeContext
from shared.core.gates import claim_blockers
from shared.core.moving import moving
from shared.core.orders import DrainReason, Order, Origin
from shared.core.placement import Board
from shared.core.plan import Blocker
from shared.core.policy import Policy
from shared.core.reasons import Refusal, Unremovable
from shared.core.sharing import Share, conflict, in_turns, shares
from shared.core.snapshot import Node, Pod, Snapshot
from shared.core.standing import standing
from shared.core.state import Claim, ClusterState
from shared.core.survey import facts

FRESH_FOR: Final = timedelta(minutes=2)
"""How long a planner's picture stands for the proof of placement, unless a pod finds no node (design §6)."""
_WAIVED_FOR_MANUAL: Final = frozenset(
    {Unremovable.CPU_ABOVE_LIMIT, Unremovable.MEMORY_ABOVE_LIMIT, Unremovable.CONSOLIDATION_OFF}
)
"""What a manual order skips of the node rules: ratios and marks, nothing else (design §6)."""
_CLAIM_CHECKS: Final = frozenset({Unremovable.BACKING_OFF})
"""Asked again inside the claim's compare-and-set."""


def needs_whole_picture(order: Order, state: ClusterState, unbound: tuple[Pod, ...], now: datetime) -> bool:
    """Whether the proof of placement has to be made anew: always for a person's order.

    A planner's proof stands while it is young, no pod waits for a node, nobody outside that pass has claimed room
    since its picture, and no drain of that pass has yet moved pods: the scheduler may put them elsewhere than the
    proof did, even on this node.
    """
    if order.origin is not Origin.PLANNER or order.picture_at is None:
        return True
    if now - order.picture_at >= FRESH_FOR or any(pod.unschedulable_since for pod in unbound):
        return True
    since = [claim for claim in state.claims.values() if claim.since >= order.picture_at]
    return any(_foreign(order, claim) or now - claim.since >= CORDON_SETTLES for claim in since)


def room_was_claimed(order: Order, before: ClusterState, after: ClusterState) -> bool:
    """Whether somebody outside this order's pass was granted a claim since the proof: it must be made again."""
    return any(uid not in before.claims and _foreign(order, claim) for uid, claim in after.claims.items())


def _foreign(order: Order, claim: Claim) -> bool:
    return claim.picture_at is None or claim.picture_at != order.picture_at


def void(order: Order, node: Node | None, state: ClusterState, now: datetime) -> Refusal | None:
    """Return why an order that has no claim yet is void, whatever the policy says."""
    if node is None:
        return Refusal.NODE_UNKNOWN
    if order.node_uid and order.node_uid != node.uid:
        return Refusal.NODE_REPLACED
    claim = state.claims.get(node.uid)
    if claim is not None and claim.order_id != order.order_id:
        return Refusal.CLAIMED_BY_OTHER
    return Refusal.EXPIRED if now >= order.expires_at else None


def objections(
    order: Order, node: Node, snapshot: Snapshot, state: ClusterState, policy: Policy
) -> tuple[Blocker, ...]:
    """Return what the planner's rules have against draining this node now."""
    found = facts(node, NodeContext(snapshot, policy, state, snapshot.taken_at))
    waived = _WAIVED_FOR_MANUAL if order.reason is DrainReason.MANUAL else frozenset()
    objects = tuple(each for each in found.blockers if each.reason not in waived | _CLAIM_CHECKS)
    if order.reason is DrainReason.EMPTY and found.reason is not DrainReason.EMPTY:
        return (*objects, Blocker(Unremovable.NOT_EMPTY, detail="the order was for an empty node"))
    return objects


def no_place(node: Node, snapshot: Snapshot, state: ClusterState, policy: Policy) -> tuple[Blocker, ...]:
    """Prove on a whole picture that the node's pods fit, together with those of every claim that stands."""
    headroom = {pool: policy.pool(pool).headroom_percent for pool in snapshot.nodes_by_pool}
    departing = departing_nodes(snapshot, state) - {node.name}
    refused = Board.of(snapshot, snapshot.taken_at, departing, headroom).try_remove(node.name)
    return (Blocker(Unremovable.NO_PLACE_FOR_PODS, refused.pod.key, refused.detail),) if refused else ()


def over_limit(
    order: Order, node: Node, snapshot: Snapshot, state: ClusterState, policy: Policy, now: datetime
) -> tuple[Blocker, ...]:
    """Return the claim's limits that are exhausted by the counts of this very document."""
    counts = standing(snapshot.nodes, snapshot.pools, state, policy, now).moves(moving(snapshot, (node,), policy))
    found = claim_blockers(counts, node, order.reason, frozenset(order.ignore))
    shared = conflict(shared_by(node, snapshot, state, policy), in_turns(state.claims.values()))
    return (*found, shared) if shared else found


def shared_by(node: Node, snapshot: Snapshot, state: ClusterState, policy: Policy) -> tuple[Share, ...]:
    """Return what a drain of the node moves of workloads without a PodDisruptionBudget."""
    context = NodeContext(snapshot, policy, state, snapshot.taken_at)
    return shares(snapshot.pods_by_node.get(node.name, ()), context.drain_context(node.pool))
