"""The first step of a drain: revalidate on fresh reads, try each eviction dry, claim. No rule lives here.

What is declined is forgotten: the next pass orders again. The claim is one compare-and-set that holds budget
and claim together; it is made before the node is touched.
"""

from datetime import datetime

from functions.drainer import finish as ending
from functions.drainer import shared_snapshots as pictures
from functions.drainer.claim import Declined, JudgedBy, claim_at_once, claim_one_by_one, claimed, none_of, proved
from functions.drainer.read_policy import policy_in_reach, read_policy
from functions.drainer.session import Desk
from shared.core.cluster.snapshot import Node, Snapshot
from shared.core.draining.admission import needs_whole_picture, objections, over_limit, void
from shared.core.draining.next_step import grace_seconds
from shared.core.policy import Policy
from shared.core.reasons import Outcome, Refusal
from shared.core.records.claims import backed_off
from shared.core.records.evictions import NO_OBJECTION, REFUSED_FOR_GOOD
from shared.core.records.published import answered
from shared.core.records.state import ClusterState
from shared.core.rules.gates import idle_words
from shared.core.rules.pods import movable
from shared.errors import Gone
from shared.ports import ClusterReading
from shared.readings import Surroundings
from shared.store.compare_and_set import change_cluster, read_cluster
from shared.store.snapshots import snapshot_of, told


def admit(desk: Desk) -> bool:
    """Take the order from accepted to claimed; False when it ends here (refused, or dry run).

    Raises:
        Retryable: something did not answer; nothing has been done yet.
    """
    try:
        return _admitted(desk)
    except Declined as refusal:
        _answer(desk)
        detail = f"{refusal.detail} {refusal.remark}".strip()
        more = {"objections": refusal.objections, "remark": refusal.remark}
        ending.finish(desk, Outcome.REFUSED, refusal.why, detail, **more)
        return False


def _answer(desk: Desk) -> None:
    """Let the planner know that this order is no longer on its way; first, so that the end of a drain is its end."""

    def change(state: ClusterState, now: datetime) -> ClusterState:
        del now
        return answered(state, desk.order.order_id)

    change_cluster(desk.ports.state, desk.ports.clock, change)


def _idle_words(desk: Desk, policy: Policy) -> str:
    """Return, and log, which words of the order's `ignore` the policy does not let count."""
    words = idle_words(desk.order.reason, desk.order.ignore, policy)
    if not words:
        return ""
    allowed = ", ".join(sorted(policy.manual_may_ignore)) or "nothing"
    sentence = f"Of ignore, {', '.join(words)} did not count: manual.mayIgnore of the policy allows {allowed}."
    desk.tell("drain_step", sentence, severity="WARNING", reason="ignore_not_allowed")
    return sentence


def _admitted(desk: Desk) -> bool:
    state, _, now = read_cluster(desk.ports.state)
    node = _node(desk)
    refusal = void(desk.order, node, state, now)
    if node is None or refusal is not None:
        raise Declined(refusal or Refusal.NODE_UNKNOWN)
    held = state.claims.get(node.uid)
    if held is not None:  # a crash between the claim and its record
        claimed(desk, node, held, policy_in_reach(desk))
        return True
    policy = read_policy(desk)
    if policy is None:
        raise Declined(Refusal.POLICY_INVALID)
    idle = _idle_words(desk, policy)
    try:
        return _tried(desk, node, state, policy, now)
    except Declined as declined:
        declined.remark = idle
        raise


def _tried(desk: Desk, node: Node, state: ClusterState, policy: Policy, now: datetime) -> bool:
    proof = _revalidated(desk, node, state, policy, now)
    _preflight(desk, node, proof.snapshot, policy)
    if policy.dry_run or desk.order.dry_run:
        _would_drain(desk, node, proof, policy, now)
        return False
    if proof.anew:
        claim_one_by_one(desk, node, proof, policy)
    else:
        claim_at_once(desk, node, proof, policy)
    return True


def _node(desk: Desk) -> Node | None:
    try:
        node = desk.ports.cluster.node(desk.order.node)
    except Gone:
        return None
    desk.pool = node.pool
    return node


def _revalidated(desk: Desk, node: Node, state: ClusterState, policy: Policy, now: datetime) -> JudgedBy:
    """Judge the node by the planner's rules on fresh reads; prove placement anew where the order asks for it."""
    unbound, around = pictures.beside(desk.ports, now).unbound, pictures.surroundings(desk.ports, now)
    anew = needs_whole_picture(desk.order, state, unbound, around.nodes, now)
    snapshot = pictures.whole(desk, state, now).snapshot if anew else _partial(desk, node, around, now)
    seen = snapshot.node_by_name.get(node.name)
    if seen is None or seen.uid != node.uid:
        raise Declined(Refusal.NODE_REPLACED)
    none_of(objections(desk.order, node, snapshot, state, policy))
    return proved(desk, node, snapshot, policy) if anew else JudgedBy(snapshot, state, anew=False)


def _partial(desk: Desk, node: Node, around: Surroundings, now: datetime) -> Snapshot:
    """All nodes for the counts, but only this node's pods: the planner's picture is young enough for the rest."""
    cluster, ports = desk.ports.cluster, desk.ports
    pods = cluster.pods_on(node.name)
    workloads = told(pods, cluster.workloads_of(pod.spec.workload for pod in pods))
    others = [each for each in around.nodes if each.name != node.name]
    reading = ClusterReading((*others, node), pods, around.disruption_budgets, {}, workloads)
    read_at = min(around.read_at, now)
    return snapshot_of(desk.order.cluster, reading, ports.pools.read(), read_at, read_at)


def _preflight(desk: Desk, node: Node, snapshot: Snapshot, policy: Policy) -> None:
    """Ask for every eviction with dryRun=All: webhooks and PDBs speak before anything is touched."""
    pods = movable(snapshot.pods_by_node[node.name], snapshot.taken_at)
    most, cluster = policy.drain.max_grace, desk.ports.cluster
    answers = desk.ports.together(
        lambda pod: cluster.evict(pod, grace_seconds(pod, most), dry_run=True),
        pods,
        policy.drain.max_parallel_evictions,
    )
    bad = [(pod, each) for pod, each in zip(pods, answers, strict=True) if each.answer not in NO_OBJECTION]
    if not bad:
        return
    if any(each.answer in REFUSED_FOR_GOOD for _, each in bad):
        _back_off(desk, node, policy)
    detail = "; ".join(f"{pod.key}: {each.answer.value} {each.detail}".strip() for pod, each in bad)
    raise Declined(Refusal.PREFLIGHT, detail)


def _back_off(desk: Desk, node: Node, policy: Policy) -> None:
    """An eviction that is refused for good would be refused at the next pass too: try another node meanwhile."""

    def change(state: ClusterState, now: datetime) -> ClusterState:
        return backed_off(state, node.uid, node.name, policy.drain, Refusal.PREFLIGHT, now)

    change_cluster(desk.ports.state, desk.ports.clock, change)


def _would_drain(desk: Desk, node: Node, proof: JudgedBy, policy: Policy, now: datetime) -> None:
    """Dry run: everything is checked, nothing is claimed, no gap or rate is touched."""
    none_of(over_limit(desk.order, node, proof.snapshot, proof.state, policy, now))
    _answer(desk)
    ending.finish(desk, Outcome.WOULD_DRAIN)
