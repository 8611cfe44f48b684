"""The first step of a drain: revalidate on fresh reads, try each eviction dry, claim. No rule lives here.

What is declined is forgotten: the next pass orders again. The claim is one compare-and-set that holds budget
and claim together; it is made before the node is touched.
"""

from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from functions.drainer import ending
from functions.drainer.desk import Act, Desk, Result
from functions.drainer.work import read_policy
from shared.adapters.prices import load
from shared.cas import change_cluster, read_cluster
from shared.core.admission import (
    needs_whole_picture,
    no_place,
    objections,
    over_limit,
    room_was_claimed,
    shared_by,
    void,
)
from shared.core.claims import backed_off, claim_for, granted, longest_rate
from shared.core.drainability import movable
from shared.core.draining import deadline, grace_seconds
from shared.core.gates import idle_words
from shared.core.moving import moving
from shared.core.plan import Blocker
from shared.core.policy import Policy
from shared.core.reasons import Outcome, Reason, Refusal
from shared.core.sharing import turns
from shared.core.snapshot import Node, Snapshot
from shared.core.state import Claim, ClusterState, DrainPhase
from shared.errors import Gone, Stale
from shared.pictures import snapshot_of, told
from shared.ports import Answer, Picture

_HARMLESS: Final = frozenset({Answer.GRANTED, Answer.GONE, Answer.TERMINATING, Answer.CONFLICT, Answer.LATER})
"""Dry-run answers that do not foretell a failure; the real eviction will be asked again."""
READS_STAND_FOR: Final = timedelta(seconds=60)
"""How old the drainer's own reads may be at the grant: an instance may be paused between two calls for any time."""
_FINAL: Final = frozenset({Answer.FORBIDDEN, Answer.SEVERAL_PDBS})


class Declined(Exception):
    """The order is not carried out; named, so that log and record say the same."""

    def __init__(self, why: Reason, detail: str = "") -> None:
        super().__init__(f"{why.sentence} {detail}".strip())
        self.why, self.detail = why, detail


def admit(desk: Desk) -> bool:
    """Take the order from accepted to claimed; False when it ends here (refused, or dry run).

    Raises:
        Retryable: something did not answer; nothing has been done yet.
    """
    try:
        return _admitted(desk)
    except Declined as refusal:
        ending.finish(desk, Outcome.REFUSED, refusal.why, refusal.detail)
        return False


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
        _claimed(desk, node, held)
        return True
    policy = read_policy(desk)
    if policy is None:
        raise Declined(Refusal.POLICY_INVALID)
    idle = _idle_words(desk, policy)
    try:
        return _tried(desk, node, state, policy, now)
    except Declined as declined:
        raise Declined(declined.why, f"{declined.detail} {idle}".strip()) from declined


def _tried(desk: Desk, node: Node, state: ClusterState, policy: Policy, now: datetime) -> bool:
    snapshot = _revalidated(desk, node, state, policy, now)
    _preflight(desk, node, snapshot, policy)
    if policy.dry_run or desk.order.dry_run:
        _would_drain(desk, node, snapshot, state, policy, now)
        return False
    _claim(desk, node, snapshot, state, policy)
    return True


def _node(desk: Desk) -> Node | None:
    try:
        node = desk.ports.cluster.node(desk.order.node)
    except Gone:
        return None
    desk.pool = node.pool
    return node


def _revalidated(desk: Desk, node: Node, state: ClusterState, policy: Policy, now: datetime) -> Snapshot:
    """Judge the node by the planner's rules on fresh reads; prove placement anew where the order asks for it."""
    cluster = desk.ports.cluster
    unbound = cluster.unbound_pods()
    whole = needs_whole_picture(desk.order, state, unbound, now)
    picture = cluster.picture() if whole else _partial(desk, node)
    snapshot = snapshot_of(desk.order.cluster, picture, desk.ports.pools.read(), now, now)
    fresh = snapshot.node_by_name.get(node.name)
    if fresh is None or fresh.uid != node.uid:
        raise Declined(Refusal.NODE_REPLACED)
    _none_of(objections(desk.order, fresh, snapshot, state, policy))
    if whole:
        _none_of(no_place(fresh, snapshot, state, policy))
    return snapshot


def _partial(desk: Desk, node: Node) -> Picture:
    """All nodes for the counts, but only this node's pods: the planner's picture is young enough for the rest."""
    cluster = desk.ports.cluster
    nodes, pods = cluster.all_nodes(), cluster.pods_on(node.name)
    workloads = cluster.workloads_of(pod.spec.workload for pod in pods)
    return Picture(nodes, pods, cluster.disruption_budgets(), {}, told(pods, workloads))


def _none_of(found: tuple[Blocker, ...]) -> None:
    if found:
        raise Declined(found[0].reason, "; ".join(blocker.sentence for blocker in found))


def _preflight(desk: Desk, node: Node, snapshot: Snapshot, policy: Policy) -> None:
    """Ask for every eviction with dryRun=All: webhooks and PDBs speak before anything is touched."""
    pods = movable(snapshot.pods_by_node[node.name], snapshot.taken_at)
    most, cluster = policy.drain.max_grace, desk.ports.cluster
    answers = desk.ports.together(
        lambda pod: cluster.evict(pod, grace_seconds(pod, most), dry_run=True),
        pods,
        policy.drain.max_parallel_evictions,
    )
    bad = [(pod, each) for pod, each in zip(pods, answers, strict=True) if each.answer not in _HARMLESS]
    if not bad:
        return
    if any(each.answer in _FINAL for _, each in bad):
        _back_off(desk, node, policy)
    detail = "; ".join(f"{pod.key}: {each.answer.value} {each.detail}".strip() for pod, each in bad)
    raise Declined(Refusal.PREFLIGHT, detail)


def _back_off(desk: Desk, node: Node, policy: Policy) -> None:
    """An eviction that is refused for good would be refused at the next pass too: try another node meanwhile."""

    def change(state: ClusterState, now: datetime) -> ClusterState:
        return backed_off(state, node.uid, node.name, policy.drain, Refusal.PREFLIGHT, now)

    change_cluster(desk.ports.state, desk.ports.clock, change)


def _would_drain(
    desk: Desk, node: Node, snapshot: Snapshot, state: ClusterState, policy: Policy, now: datetime
) -> None:
    """Dry run: everything is checked, nothing is claimed, no gap or rate is touched."""
    _none_of(over_limit(desk.order, node, snapshot, state, policy, now))
    ending.finish(desk, Outcome.WOULD_DRAIN)


def _claim(desk: Desk, node: Node, snapshot: Snapshot, proved: ClusterState, policy: Policy) -> None:
    """Budget and claim in one compare-and-set on the cluster's document.

    `proved` is the document that the proof of placement counted on; a stranger's claim since then makes it void.
    """
    price = load().of(node).per_hour
    pods = moving(snapshot, (node,), policy).get(node.uid, {})
    own_turns = turns(shared_by(node, snapshot, proved, policy))

    def change(state: ClusterState, now: datetime) -> ClusterState | None:
        if (held := state.claims.get(node.uid)) is not None:
            if held.order_id != desk.order.order_id:
                raise Declined(Refusal.CLAIMED_BY_OTHER)
            return None
        if now >= desk.order.expires_at:
            raise Declined(Refusal.EXPIRED)
        if now - snapshot.taken_at > READS_STAND_FOR:
            raise Stale("nodes and policy were read too long ago for a claim")
        if room_was_claimed(desk.order, proved, state):
            raise Stale("another claim was granted since the proof of placement")
        _none_of(over_limit(desk.order, node, snapshot, state, policy, now))
        claim = claim_for(desk.order, node, policy, snapshot.profile, now, cost_per_hour=price)
        return granted(state, node.uid, replace(claim, turns=own_turns), longest_rate(policy), pods)

    after = change_cluster(desk.ports.state, desk.ports.clock, change)
    _claimed(desk, node, after.claims[node.uid])


def _claimed(desk: Desk, node: Node, claim: Claim) -> None:
    """Write what the following steps need to know; the claim itself already stands."""
    pods = movable(desk.ports.cluster.pods_on(node.name), claim.since)
    desk.ledger.write(
        desk.time.now(),
        phase=DrainPhase.CLAIMED,
        node_uid=node.uid,
        deadline=deadline(claim, pods),
        max_grace=claim.settings.max_grace,
    )
    desk.act(Act.DRAIN, Result.ATTEMPTED, "The claim is granted.", phase=DrainPhase.CLAIMED.value)
