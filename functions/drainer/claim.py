"""The claim: budget and claim in one compare-and-set, by a proof of placement that no other claim has made void.

Before the node is touched, each eviction and restart of the drain is asked for with dryRun=All: webhooks and PDBs speak
first. So a node from which a pod cannot leave is never cordoned, and one that was refused for good is not tried at
every pass.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from functions.drainer.session import ActionResult, DrainSession, NodeAction
from functions.drainer.surge import refused_restart
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.draining.admission import claim_to_be, exceeded_limits, no_place, room_was_claimed
from shared.core.draining.completion import deadline, grace_seconds
from shared.core.policy import STRICTEST_POD_RULES, Policy
from shared.core.reasons import Blocker, Reason, Refusal
from shared.core.records.claims import back_off, grant, longest_rate
from shared.core.records.drain_record import NO_OBJECTION, REFUSED_FOR_GOOD, DrainPhase, Objection
from shared.core.records.state import Claim, ClusterState
from shared.core.rules.pods import movable
from shared.core.rules.situation import Situation
from shared.core.rules.surges import surges_of
from shared.errors import Stale
from shared.port_types import Eviction
from shared.store.compare_and_set import change_cluster, read_cluster

READS_STAND_FOR: Final = timedelta(seconds=60)
"""How old the drainer's own reads may be at the grant: an instance may be paused between two calls for any time."""
PROOFS: Final = 5
"""How often the placement is proved for one message before it comes again."""


class Declined(Exception):
    """The order is not carried out; named, so that log and record say the same."""

    def __init__(self, why: Reason, detail: str = "", found: tuple[Blocker, ...] = ()) -> None:
        super().__init__(f"{why.sentence} {detail}".strip())
        self.why, self.detail = why, detail
        self.found = found

    @property
    def objections(self) -> tuple[Objection, ...]:
        """All that stands in the way, as the record keeps it."""
        return tuple(Objection(each.reason.value, each.object, each.detail) for each in self.found)


def decline_if_any(found: tuple[Blocker, ...]) -> None:
    if found:
        raise Declined(found[0].reason, "; ".join(blocker.sentence for blocker in found), found)


@dataclass(frozen=True)
class Revalidation:
    """What an order was judged by: the snapshot, and the document whose claims its proof of placement counts."""

    snapshot: Snapshot
    state: ClusterState
    anew: bool
    """The planner's proof did not stand: the snapshot is of the whole cluster, and holds for this order alone."""


def prove_placement(session: DrainSession, node: Node, snapshot: Snapshot, policy: Policy) -> Revalidation:
    """Prove the placement on a whole picture, together with every claim that stands by now."""
    state, _, _ = read_cluster(session.ports.state)
    decline_if_any(no_place(snapshot.node_by_name[node.name], Situation(snapshot, state, policy)))
    return Revalidation(snapshot, state, anew=True)


class _RoomTakenError(Exception):
    """Somebody was granted a claim that the proof of placement did not count."""


def claim_one_by_one(session: DrainSession, node: Node, proof: Revalidation, policy: Policy) -> None:
    """Claim in turn with the other orders of this instance; where a claim came in between, prove once more.

    Raises:
        Stale: others were first every time.
    """
    with session.ports.shared.turn("proof of placement and claim", session.ports.clock.sleep):
        session.leased.renew(session.time.now())
        for _ in range(PROOFS):
            try:
                _claim(session, node, proof, policy)
            except _RoomTakenError:
                proof = prove_placement(session, node, proof.snapshot, policy)
            else:
                return
    raise Stale(f"other claims were granted since each of {PROOFS} proofs of placement")


def claim_at_once(session: DrainSession, node: Node, proof: Revalidation, policy: Policy) -> None:
    """Claim by the planner's proof. Raises Stale where a stranger's claim came in between."""
    try:
        _claim(session, node, proof, policy)
    except _RoomTakenError as fault:
        raise Stale("another claim was granted since the proof of placement") from fault


def _claim(session: DrainSession, node: Node, proof: Revalidation, policy: Policy) -> None:
    """Budget and claim in one compare-and-set on the cluster's document.

    A claim that the proof did not count makes it void: one by a stranger, or any where the proof was made anew.
    """
    snapshot, counted = proof.snapshot, proof.state
    claim, pods = claim_to_be(session.order, node, Situation(snapshot, counted, policy))
    claim = replace(claim, cost_per_hour=session.ports.prices.of(node).per_hour)

    def change(state: ClusterState, now: datetime) -> ClusterState | None:
        if (held := state.claims.get(node.uid)) is not None:
            if held.order_id != session.order.order_id:
                raise Declined(Refusal.CLAIMED_BY_OTHER)
            return None
        if now >= session.order.expires_at:
            raise Declined(Refusal.EXPIRED)
        if now - snapshot.taken_at > READS_STAND_FOR:
            raise Stale("nodes and policy were read too long ago for a claim")
        if room_was_claimed(session.order, counted, state, proved_anew=proof.anew):
            raise _RoomTakenError
        decline_if_any(exceeded_limits(session.order, node, Situation(snapshot, state, policy), now))
        return grant(state, node.uid, replace(claim, since=now), longest_rate(policy), pods)

    after = change_cluster(session.ports.state, session.ports.clock, change)
    record_claim(session, node, after.claims[node.uid], policy)


def record_claim(session: DrainSession, node: Node, claim: Claim, policy: Policy | None) -> None:
    """Write what the following steps need to know; the claim itself already stands."""
    pods = movable(session.ports.cluster.pods_on(node.name), claim.since)
    session.leased.write(
        session.time.now(),
        phase=DrainPhase.CLAIMED,
        node_uid=node.uid,
        deadline=deadline(claim, pods),
        max_grace=claim.settings.max_grace,
        rules=policy.pool(claim.pool).pod_rules if policy else STRICTEST_POD_RULES,
    )
    session.log_action(
        NodeAction.DRAIN, ActionResult.ATTEMPTED, "The claim is granted.", phase=DrainPhase.CLAIMED.value
    )


def preflight(session: DrainSession, node: Node, snapshot: Snapshot, policy: Policy) -> None:
    """Try what the drain would do to each pod and each Deployment of the node.

    Raises:
        Declined: something was refused; the node is backed off where it would be refused at the next pass too.
        Retryable: something did not answer.
    """
    moving = movable(snapshot.pods_by_node[node.name], snapshot.taken_at)
    surging, pods = surges_of(moving, Situation(snapshot, ClusterState(), policy).drain_context(node.pool))
    refused = refused_restart(session, surging)
    if refused:
        _back_off(session, node, policy)
        raise Declined(Refusal.PREFLIGHT, refused)
    most, cluster = policy.drain.max_grace, session.ports.cluster

    def ask(pod: Pod) -> Eviction:
        session.check_admission()
        return cluster.evict(pod, grace_seconds(pod, most), dry_run=True)

    answers = session.ports.together(ask, pods, policy.drain.max_parallel_evictions)
    bad = [(pod, each) for pod, each in zip(pods, answers, strict=True) if each.answer not in NO_OBJECTION]
    if not bad:
        return
    if any(each.answer in REFUSED_FOR_GOOD for _, each in bad):
        _back_off(session, node, policy)
    detail = "; ".join(f"{pod.key}: {each.answer.value} {each.detail}".strip() for pod, each in bad)
    raise Declined(Refusal.PREFLIGHT, detail)


def _back_off(session: DrainSession, node: Node, policy: Policy) -> None:
    """An eviction that is refused for good would be refused at the next pass too: try another node meanwhile."""

    def change(state: ClusterState, now: datetime) -> ClusterState:
        return back_off(state, node.uid, node.name, policy.drain, Refusal.PREFLIGHT, now)

    change_cluster(session.ports.state, session.ports.clock, change)
