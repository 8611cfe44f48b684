"""May this order still be carried out? The planner's rules on fresh reads, the claim's limits, the last proof.

The world having changed is an outcome, not an error: every objection has the name that the planner would give it. Just
before the first eviction each drain proves its fit once more: those that move pods go on, the others are proved in the
order of their claims, so a pod that takes room calls off only drains that need that room.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.draining.cordon import CORDON_SETTLES
from shared.core.placement import Simulation
from shared.core.placement.demand import is_waiting
from shared.core.planning.candidates import assess_node
from shared.core.planning.selection import announced_nodes, departing_nodes, planned_simulation
from shared.core.reasons import Blocker, DrainReason, Refusal, Unremovable
from shared.core.records.claims import claim_for
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.orders import Order, Origin
from shared.core.records.state import Claim, ClusterState, Wave
from shared.core.rules.counts import count_moved_pods
from shared.core.rules.gates import claim_blockers
from shared.core.rules.situation import Situation
from shared.core.rules.unmodelled import could_take
from shared.core.rules.workload_limits import all_moving_pods, conflict, moving_pods, workload_moves_of

FRESH_FOR: Final = timedelta(minutes=2)
"""How long a planner's snapshot stands for the proof of placement, unless a pod finds no node.

See docs/decisions/robust-fit.md.
"""
_WAIVED_FOR_MANUAL: Final = frozenset(
    {Unremovable.CPU_ABOVE_LIMIT, Unremovable.MEMORY_ABOVE_LIMIT, Unremovable.CONSOLIDATION_OFF}
)
"""What a manual order skips of the node rules: ratios and marks, nothing else (docs/decisions/people.md)."""
_CLAIM_CHECKS: Final = frozenset({Unremovable.BACKING_OFF})  # Asked again inside the claim's compare-and-set.


def needs_whole_snapshot(
    order: Order, state: ClusterState, unbound: Iterable[Pod], nodes: Sequence[Node], now: datetime
) -> bool:
    """Whether the proof of placement has to be made again: always for a person's order."""
    # A planner's proof stands while it is young, no pod waits that some node could take, nobody outside that pass has
    # claimed room since its snapshot, and no drain of that pass has moved pods, which the scheduler may put elsewhere.
    if order.origin is not Origin.PLANNER or order.picture_at is None:
        return True
    if not timedelta(0) <= now - order.picture_at < FRESH_FOR or wants_room(unbound, nodes):
        return True
    if any(at >= order.picture_at for at in _ended_grant_times(state)):
        return True
    since = [claim for claim in state.claims.values() if claim.since >= order.picture_at]
    return any(_foreign(order, claim) or now - claim.since >= CORDON_SETTLES for claim in since)


def wants_room(unbound: Iterable[Pod], nodes: Sequence[Node]) -> bool:
    """Whether the scheduler has found no node for a pod that some node could take if it were empty."""
    # What fits nowhere even then takes no room; nor does a DaemonSet's pod, which competes on its own node.
    waiting = {pod.spec: pod for pod in unbound if is_waiting(pod)}
    return any(could_take(node, pod) for pod in waiting.values() for node in nodes)


def still_reflects(before: ClusterState, state: ClusterState, taken_at: datetime, now: datetime, own: str = "") -> bool:
    """Whether a snapshot of `taken_at` still shows where pods run."""
    # `before` is the state just before it, `own` the caller's order.
    # Not once a drain has ended since, or another was granted so long ago that it may have moved pods. Drains that
    # stood already are counted by the places that their pods were given.
    if any(uid not in state.claims for uid in before.claims):
        return False
    since = (claim for uid, claim in state.claims.items() if uid not in before.claims and claim.order_id != own)
    return all(claim.since >= taken_at and now - claim.since < CORDON_SETTLES for claim in since)


def room_was_claimed(order: Order, before: ClusterState, after: ClusterState, *, proved_anew: bool = False) -> bool:
    """Whether room was claimed since the proof that it did not count: it must be made again."""
    # The planner's proof holds for all orders of its pass together; a second one, for its own order alone.
    if _ended_grant_times(after) - _grants(before):
        return True
    added = (claim for uid, claim in after.claims.items() if uid not in before.claims)
    return any(proved_anew or _foreign(order, claim) for claim in added)


def _grants(state: ClusterState) -> frozenset[datetime]:
    """Return when drains were granted, as far as that is remembered."""
    known = (*(start.at for start in state.starts), state.last_scale_down)
    return frozenset(at for at in known if at is not None)


def _ended_grant_times(state: ClusterState) -> frozenset[datetime]:
    """Return when drains were granted that have ended since: they may have moved pods, and have no claim."""
    return _grants(state) - {claim.since for claim in state.claims.values()}


def _foreign(order: Order, claim: Claim) -> bool:
    return claim.picture_at is None or claim.picture_at != order.picture_at


def refusal_of(order: Order, node: Node | None, state: ClusterState, now: datetime) -> Refusal | None:
    """Return why an order that has no claim yet is void, whatever the policy is."""
    if node is None:
        return Refusal.NODE_UNKNOWN
    if order.node_uid and order.node_uid != node.uid:
        return Refusal.NODE_REPLACED
    claim = state.claims.get(node.uid)
    if claim is not None and claim.order_id != order.order_id:
        return Refusal.CLAIMED_BY_OTHER
    return Refusal.EXPIRED if now >= order.expires_at else None


def objections(order: Order, node: Node, situation: Situation) -> tuple[Blocker, ...]:
    found = assess_node(node, situation)
    waived = _WAIVED_FOR_MANUAL if order.reason is DrainReason.MANUAL else frozenset()
    objects = tuple(blocker for blocker in found.blockers if blocker.reason not in waived | _CLAIM_CHECKS)
    if order.reason is DrainReason.EMPTY and found.reason is not DrainReason.EMPTY:
        return (*objects, Blocker(Unremovable.NOT_EMPTY, detail="the order was for an empty node"))
    return objects


def no_place(node: Node, situation: Situation, wave: Wave | None) -> tuple[Blocker, ...]:
    """Prove on a whole snapshot that the node's pods fit, together with those of every claim that stands."""
    # The plan's own proof, under every strategy and with its headroom; a node of a wave moves its pods outside that
    # set: what moves onto a node that goes next moves twice.
    uids = {other.uid for other in wave.nodes} if wave else set()
    going = [other.name for other in situation.snapshot.nodes if other.uid in uids] if node.uid in uids else []
    refused = planned_simulation(situation, frozenset({node.name}), going).try_remove(node.name)
    return (refused.blocker,) if refused else ()


def claim_to_be(order: Order, node: Node, situation: Situation) -> tuple[Claim, Mapping[str, int]]:
    """Return the claim that an order asks for, as of its issue, and the pods that it moves, by namespace if counted."""
    snapshot, policy = situation.snapshot, situation.policy
    claim = claim_for(order, node, policy, snapshot.scale_down(node), order.issued_at)
    moves = moving_pods(workload_moves_of(node, situation))
    return replace(claim, moving_pods=moves), count_moved_pods(snapshot, (node,), policy).get(node.uid, {})


def exceeded_limits(order: Order, node: Node, situation: Situation, now: datetime) -> tuple[Blocker, ...]:
    """Return the claim's limits that are exhausted by the counts of this very document; `now` is its own time."""
    found = claim_blockers(situation.counts((node,), now), node, order.reason, frozenset(order.ignore))
    shared = conflict(workload_moves_of(node, situation), all_moving_pods(situation.state.claims.values()))
    return (*found, shared) if shared else found


def lost_place(node: Node, snapshot: Snapshot, state: ClusterState, moving: Collection[str]) -> tuple[Blocker, ...]:
    """Return what keeps the node's pods from fitting at all."""
    # `moving` are other claimed nodes whose pods move in any case.
    # Not robust: the plan's headroom is for what happens between the plan and the first eviction. To ask for it once
    # more would call off drains of one pass for the mere order in which their pods move.
    claimed = departing_nodes(snapshot, state) - {node.name}
    # Pods need a place whatever becomes of their drain once it has begun, or where it is none of ours.
    nodes = [snapshot.node_by_name[name] for name in claimed]
    leaving = frozenset(
        other.name for other in nodes if other.name in moving or other.uid not in state.claims or not other.ready
    )
    announced = announced_nodes(snapshot, claimed | {node.name})
    simulation = Simulation.of(
        snapshot, leaving, announced=announced, closed=claimed - leaving, cordoned_untouched=(node.name,), robust=False
    )
    simulation.unplaced = ()  # they fit nowhere anyhow
    for earlier in _before(node, claimed - leaving, snapshot.node_by_name, state):
        simulation.try_remove(earlier)
    refused = simulation.try_remove(node.name)
    return (refused.blocker,) if refused else ()


def _before(node: Node, others: Iterable[str], nodes: Mapping[str, Node], state: ClusterState) -> list[str]:
    def turn(other: Node) -> tuple[datetime, str]:
        return state.claims[other.uid].since, other.uid

    rows = sorted((nodes[name] for name in others), key=turn)
    return [row.name for row in rows if node.uid not in state.claims or turn(row) < turn(node)]


def may_move(record: DrainRecord | None) -> bool:
    """Whether a drain moves pods: it has let one go, or may have, or its record is missing."""
    if record is None:
        return True
    leaving = any(row.may_leave for row in record.pods.values())
    return record.phase in {DrainPhase.CORDONED, DrainPhase.DRAINED} and (leaving or bool(record.surges))
