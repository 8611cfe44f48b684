"""The first step of a drain: revalidate on fresh reads, try each eviction dry, claim. No rule lives here.

What is declined is forgotten: the next pass orders again. The claim is one compare-and-set that holds budget
and claim together; it is made before the node is touched.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from functions.drainer import finish, reads
from functions.drainer.claim import (
    Declined,
    claim_at_once,
    claim_one_by_one,
    decline_if_any,
    keep_admitting,
    preflight,
    prove_placement,
    record_claim,
)
from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.draining.admission import exceeded_limits, needs_whole_picture, objections, refusal_of
from shared.core.policy import Policy
from shared.core.reasons import Outcome, Refusal
from shared.core.records.claims import without_order
from shared.core.records.orders import Order, echoed
from shared.core.records.state import ClusterState
from shared.core.rules.gates import IGNORABLE, idle_words
from shared.core.rules.situation import Situation
from shared.core.rules.surges import surges_of
from shared.errors import Gone
from shared.port_types import ClusterReading
from shared.ports import Ports
from shared.readings import DatedReading
from shared.store.compare_and_set import change_cluster, read_cluster
from shared.store.drain_record import LeasedRecord
from shared.store.snapshots import snapshot_of, with_unknown_workloads

_MOST_WORDS: Final = 5
"""Of an order's `ignore` that are named in its line."""


def admit(ports: Ports, leased: LeasedRecord, order: Order) -> bool:
    """Take the order from accepted to claimed; False when it ends here (refused, or dry run).

    Raises:
        Retryable: something did not answer; nothing has been done yet.
    """
    state, _, now = read_cluster(ports.state)
    node = _read_node(ports, order)
    refusal = refusal_of(order, node, state, now)
    if node is not None:
        ports.log.add(pool=node.pool)
    if node is None or refusal is not None:
        return _refuse(ports, leased, Declined(refusal or Refusal.NODE_UNKNOWN))
    held = state.claims.get(node.uid)
    if held is not None:  # a crash between the claim and its record
        record_claim(ports, leased, node, held, reads.policy_in_reach(ports))
        return True
    policy = reads.valid_policy(ports)
    if policy is None:
        return _refuse(ports, leased, Declined(Refusal.POLICY_INVALID))
    remark = _idle_words(ports, order, policy)
    keep_admitting(leased)
    try:
        return _check_and_claim(ports, leased, order, node, state, policy, now)
    except Declined as declined:
        return _refuse(ports, leased, declined, remark)


def _refuse(ports: Ports, leased: LeasedRecord, declined: Declined, remark: str = "") -> bool:
    """End the order here; `remark` is what else the person who gave it should know."""
    _mark_answered(ports, leased)
    detail = f"{declined.detail} {remark}".strip()
    more = {"objections": declined.objections, "remark": remark}
    finish.conclude(ports, leased, Outcome.REFUSED, declined.why, detail, **more)
    return False


def _mark_answered(ports: Ports, leased: LeasedRecord) -> None:
    """Let the planner know that this order is no longer on its way; first, so that the end of a drain is its end."""

    def change(state: ClusterState, now: datetime) -> ClusterState:
        del now
        return without_order(state, leased.record.order.order_id)

    change_cluster(ports.state, ports.clock, change)


def _idle_words(ports: Ports, order: Order, policy: Policy) -> str:
    """Return, and log, which words of the order's `ignore` the policy does not let count."""
    words = idle_words(order.reason, order.ignore, policy)
    if not words:
        return ""
    allowed = ", ".join(sorted(policy.manual_may_ignore)) or "nothing"
    named = ", ".join(word if word in IGNORABLE else echoed(word) for word in words[:_MOST_WORDS])
    more = f" and {len(words) - _MOST_WORDS} more" if len(words) > _MOST_WORDS else ""
    sentence = f"Of ignore, {named}{more} did not count: manual.mayIgnore of the policy allows {allowed}."
    ports.log.event("drain_step", sentence, severity="WARNING", reason="ignore_not_allowed")
    return sentence


def _check_and_claim(
    ports: Ports, leased: LeasedRecord, order: Order, node: Node, state: ClusterState, policy: Policy, now: datetime
) -> bool:
    """Judge the node by the planner's rules on fresh reads; prove placement again where the order asks for it."""
    unbound = reads.unbound_pods(ports, now)
    keep_admitting(leased)
    nodes = reads.nodes(ports, now)
    keep_admitting(leased)
    proves = needs_whole_picture(order, state, unbound, nodes.value, now)
    if proves:
        snapshot = reads.whole_snapshot(ports, order, state, now)
        keep_admitting(leased)
        node = _as_listed(ports, node, snapshot.nodes)
    else:
        node = _as_listed(ports, node, nodes.value)
        snapshot = _partial_snapshot(ports, leased, node, nodes, now)
    seen = snapshot.node_by_name.get(node.name)
    if seen is None or seen.uid != node.uid:
        raise Declined(Refusal.NODE_REPLACED)
    judged = Situation(snapshot, state, policy)
    decline_if_any(objections(order, node, judged))
    if proves:
        judged = prove_placement(ports, node, snapshot, policy)
    keep_admitting(leased)
    preflight(ports, leased, node, judged)
    keep_admitting(leased)
    if policy.dry_run or order.dry_run:
        _conclude_dry_run(ports, leased, order, node, judged, now)
        return False
    (claim_one_by_one if proves else claim_at_once)(ports, leased, order, node, judged)
    return True


def _read_node(ports: Ports, order: Order) -> Node | None:
    try:
        return ports.cluster.node(order.node)
    except Gone:
        return None


def _as_listed(ports: Ports, node: Node, listed: Iterable[Node]) -> Node:
    """Return the node, read once more where a list knows another state of it: that may be the younger one."""
    if any(each.uid == node.uid and each.resource_version == node.resource_version for each in listed):
        return node
    try:
        again = ports.cluster.node(node.name)
    except Gone as fault:
        raise Declined(Refusal.NODE_REPLACED) from fault
    if again.uid != node.uid:
        raise Declined(Refusal.NODE_REPLACED)
    return again


def _partial_snapshot(
    ports: Ports, leased: LeasedRecord, node: Node, nodes: DatedReading[tuple[Node, ...]], now: datetime
) -> Snapshot:
    """All nodes for the counts, but only this node's pods: the planner's snapshot is young enough for the rest."""
    budgets = reads.disruption_budgets(ports, now)
    keep_admitting(leased)
    pods = ports.cluster.pods_on(node.name)
    keep_admitting(leased)
    known = ports.cluster.workloads_of(pod.spec.workload for pod in pods)
    keep_admitting(leased)
    storage = reads.storage_of(ports, pods, now)
    keep_admitting(leased)
    reading = ClusterReading(
        (*(each for each in nodes.value if each.name != node.name), node),
        pods,
        budgets,
        {},
        with_unknown_workloads(pods, known),
        storage,
        compute_classes=reads.compute_classes(ports, node, now),
    )
    read_at = min(nodes.read_at, now)
    return snapshot_of(leased.record.order.cluster, reading, ports.pools.read(), read_at, read_at)


def _conclude_dry_run(
    ports: Ports, leased: LeasedRecord, order: Order, node: Node, judged: Situation, now: datetime
) -> None:
    """Dry run: everything is checked, nothing is claimed, no gap or rate is touched."""
    decline_if_any(exceeded_limits(order, node, judged, now))
    _mark_answered(ports, leased)
    surging, _ = surges_of(judged.moving(node.name), judged.drain_context(node.pool))
    detail = "; ".join(f"would restart {each.name}" for each in surging)
    finish.conclude(ports, leased, Outcome.WOULD_DRAIN, detail=detail)
