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
    Revalidation,
    claim_at_once,
    claim_one_by_one,
    decline_if_any,
    preflight,
    prove_placement,
    record_claim,
)
from functions.drainer.session import DrainSession, policy_in_reach, read_policy
from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.draining.admission import exceeded_limits, needs_whole_picture, objections, refusal_of
from shared.core.policy import Policy
from shared.core.reasons import Outcome, Refusal
from shared.core.records.claims import without_order
from shared.core.records.orders import echoed
from shared.core.records.state import ClusterState
from shared.core.rules.gates import IGNORABLE, idle_words
from shared.core.rules.situation import Situation
from shared.core.rules.surges import surges_of
from shared.errors import Gone
from shared.port_types import ClusterReading
from shared.readings import DatedReading
from shared.store.compare_and_set import change_cluster, read_cluster
from shared.store.snapshots import snapshot_of, with_unknown_workloads

_MOST_WORDS: Final = 5
"""Of an order's `ignore` that are named in its line."""


def admit(session: DrainSession) -> bool:
    """Take the order from accepted to claimed; False when it ends here (refused, or dry run).

    Raises:
        Retryable: something did not answer; nothing has been done yet.
    """
    state, _, now = read_cluster(session.ports.state)
    node = _read_node(session)
    refusal = refusal_of(session.order, node, state, now)
    session = session.with_pool(node.pool if node else "")
    if node is None or refusal is not None:
        return _refuse(session, Declined(refusal or Refusal.NODE_UNKNOWN))
    held = state.claims.get(node.uid)
    if held is None:
        return _admit_new(session, node, state, now)
    policy = policy_in_reach(session)  # a crash between the claim and its record
    record_claim(session.with_policy(policy), node, held, policy)
    return True


def _admit_new(session: DrainSession, node: Node, state: ClusterState, now: datetime) -> bool:
    policy = read_policy(session)
    if policy is None:
        return _refuse(session, Declined(Refusal.POLICY_INVALID))
    session = session.with_policy(policy)
    remark = _idle_words(session, policy)
    session.keep_admitting()
    try:
        return _check_and_claim(session, node, state, policy, now)
    except Declined as declined:
        return _refuse(session, declined, remark)


def _refuse(session: DrainSession, declined: Declined, remark: str = "") -> bool:
    """End the order here; `remark` is what else whoever gave it should know."""
    _mark_answered(session)
    detail = f"{declined.detail} {remark}".strip()
    more = {"objections": declined.objections, "remark": remark}
    finish.conclude(session, Outcome.REFUSED, declined.why, detail, **more)
    return False


def _mark_answered(session: DrainSession) -> None:
    """Let the planner know that this order is no longer on its way; first, so that the end of a drain is its end."""

    def change(state: ClusterState, now: datetime) -> ClusterState:
        del now
        return without_order(state, session.order.order_id)

    change_cluster(session.ports.state, session.ports.clock, change)


def _idle_words(session: DrainSession, policy: Policy) -> str:
    """Return, and log, which words of the order's `ignore` the policy does not let count."""
    words = idle_words(session.order.reason, session.order.ignore, policy)
    if not words:
        return ""
    allowed = ", ".join(sorted(policy.manual_may_ignore)) or "nothing"
    named = ", ".join(word if word in IGNORABLE else echoed(word) for word in words[:_MOST_WORDS])
    more = f" and {len(words) - _MOST_WORDS} more" if len(words) > _MOST_WORDS else ""
    sentence = f"Of ignore, {named}{more} did not count: manual.mayIgnore of the policy allows {allowed}."
    session.log_event("drain_step", sentence, severity="WARNING", reason="ignore_not_allowed")
    return sentence


def _check_and_claim(session: DrainSession, node: Node, state: ClusterState, policy: Policy, now: datetime) -> bool:
    node, proof = _revalidate(session, node, state, policy, now)
    session.keep_admitting()
    preflight(session, node, proof.snapshot, policy)
    session.keep_admitting()
    if policy.dry_run or session.order.dry_run:
        _conclude_dry_run(session, node, proof, policy, now)
        return False
    if proof.anew:
        claim_one_by_one(session, node, proof, policy)
    else:
        claim_at_once(session, node, proof, policy)
    return True


def _read_node(session: DrainSession) -> Node | None:
    try:
        return session.ports.cluster.node(session.order.node)
    except Gone:
        return None


def _as_listed(session: DrainSession, node: Node, listed: Iterable[Node]) -> Node:
    """Return the node, read once more where a list knows another state of it: that may be the younger one."""
    if any(each.uid == node.uid and each.resource_version == node.resource_version for each in listed):
        return node
    again = _read_node(session)
    if again is None or again.uid != node.uid:
        raise Declined(Refusal.NODE_REPLACED)
    return again


def _revalidate(
    session: DrainSession, node: Node, state: ClusterState, policy: Policy, now: datetime
) -> tuple[Node, Revalidation]:
    """Judge the node by the planner's rules on fresh reads; prove placement anew where the order asks for it.

    Returns the node as it was read last, and the proof.
    """
    unbound = reads.unbound_pods(session.ports, now)
    session.keep_admitting()
    nodes = reads.nodes(session.ports, now)
    session.keep_admitting()
    anew = needs_whole_picture(session.order, state, unbound, nodes.value, now)
    if anew:
        snapshot = reads.whole_snapshot(session, state, now)
        session.keep_admitting()
        node = _as_listed(session, node, snapshot.nodes)
    else:
        node = _as_listed(session, node, nodes.value)
        snapshot = _partial_snapshot(session, node, nodes, now)
    seen = snapshot.node_by_name.get(node.name)
    if seen is None or seen.uid != node.uid:
        raise Declined(Refusal.NODE_REPLACED)
    decline_if_any(objections(session.order, node, Situation(snapshot, state, policy)))
    proof = prove_placement(session, node, snapshot, policy) if anew else Revalidation(snapshot, state, anew=False)
    return node, proof


def _partial_snapshot(
    session: DrainSession, node: Node, nodes: DatedReading[tuple[Node, ...]], now: datetime
) -> Snapshot:
    """All nodes for the counts, but only this node's pods: the planner's snapshot is young enough for the rest."""
    cluster, ports = session.ports.cluster, session.ports
    budgets = reads.disruption_budgets(ports, now)
    session.keep_admitting()
    pods = cluster.pods_on(node.name)
    session.keep_admitting()
    workloads = with_unknown_workloads(pods, cluster.workloads_of(pod.spec.workload for pod in pods))
    session.keep_admitting()
    others = [each for each in nodes.value if each.name != node.name]
    storage = reads.storage_of(ports, pods, now)
    session.keep_admitting()
    classes = reads.compute_classes(ports, node, now)
    reading = ClusterReading(
        (*others, node),
        pods,
        budgets,
        {},
        workloads,
        storage,
        compute_classes=classes,
    )
    read_at = min(nodes.read_at, now)
    return snapshot_of(session.order.cluster, reading, ports.pools.read(), read_at, read_at)


def _conclude_dry_run(session: DrainSession, node: Node, proof: Revalidation, policy: Policy, now: datetime) -> None:
    """Dry run: everything is checked, nothing is claimed, no gap or rate is touched."""
    situation = Situation(proof.snapshot, proof.state, policy)
    decline_if_any(exceeded_limits(session.order, node, situation, now))
    _mark_answered(session)
    moving, context = situation.moving(node.name), situation.drain_context(node.pool)
    restarts = [f"would restart {each.name}" for each in surges_of(moving, context)[0]]
    finish.conclude(session, Outcome.WOULD_DRAIN, detail="; ".join(restarts))
