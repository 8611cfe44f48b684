"""The claim: budget and claim in one compare-and-set, by a proof of placement that no other claim has made void.

Before the node is touched, each eviction and restart of the drain is asked for with dryRun=All: webhooks and PDBs
answer first. So a node from which a pod cannot leave is never cordoned, and one that was refused for good is not tried
at every pass.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from functions.drainer.finish import ActionResult, NodeAction
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Deployment
from shared.core.draining.admission import claim_to_be, exceeded_limits, no_place, room_was_claimed
from shared.core.draining.completion import deadline, grace_seconds
from shared.core.policy import STRICTEST_POD_RULES, Policy
from shared.core.reasons import Blocker, Reason, Refusal
from shared.core.records.claims import back_off, grant, longest_rate
from shared.core.records.drain_record import NO_OBJECTION, REFUSED_FOR_GOOD, DrainPhase, Objection
from shared.core.records.orders import Order
from shared.core.records.state import Claim, ClusterState
from shared.core.rules.pods import movable
from shared.core.rules.situation import Situation
from shared.core.rules.surges import surges_of
from shared.errors import Gone, Retryable, Stale, Terminal
from shared.port_types import Eviction
from shared.ports import Ports
from shared.store.compare_and_set import change_cluster, read_cluster
from shared.store.drain_record import LeasedRecord, StepTime

READS_STAND_FOR: Final = timedelta(seconds=60)
"""How old the drainer's own reads may be at the grant: an instance may be paused between two calls for any time."""
ADMITTED_WITHIN: Final = READS_STAND_FOR.total_seconds()
"""Seconds that an admission may take: what it has read does not stand for longer."""
PROOFS: Final = 5
"""How often the placement is proved for one message before it comes again."""


class Declined(Exception):
    """The order is not carried out; named, so that log and record agree."""

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


def check_admission(time: StepTime) -> None:
    """Raise Retryable where the time of an admission is over."""
    if time.taken() > ADMITTED_WITHIN:
        raise Retryable("the admission", f"its calls have taken more than {ADMITTED_WITHIN:.0f} s")


def keep_admitting(leased: LeasedRecord) -> None:
    """Renew the lease between two calls of an admission, as long as there is time: slow answers add up.

    Raises:
        Retryable: its time is over. Stale: we were overtaken.
    """
    check_admission(leased.time)
    leased.renew()


def prove_placement(ports: Ports, node: Node, snapshot: Snapshot, policy: Policy) -> Situation:
    """Prove the placement on a whole snapshot, together with every claim that stands by now; return what it rests on.

    Raises:
        Declined: a pod has no place.
    """
    state, _, _ = read_cluster(ports.state)
    situation = Situation(snapshot, state, policy)
    decline_if_any(no_place(snapshot.node_by_name[node.name], situation))
    return situation


class _RoomTakenError(Exception):
    """Somebody was granted a claim that the proof of placement did not count."""


def claim_one_by_one(ports: Ports, leased: LeasedRecord, order: Order, node: Node, proved: Situation) -> None:
    """Claim in turn with the other orders of this instance; where a claim was granted in between, prove once more.

    Raises:
        Stale: others were first every time.
    """
    with ports.shared.turn("proof of placement and claim", ports.clock.sleep):
        leased.renew()
        for _ in range(PROOFS):
            try:
                _claim(ports, leased, order, node, proved, proved_anew=True)
            except _RoomTakenError:
                proved = prove_placement(ports, node, proved.snapshot, proved.policy)
            else:
                return
    raise Stale(f"other claims were granted since each of {PROOFS} proofs of placement")


def claim_at_once(ports: Ports, leased: LeasedRecord, order: Order, node: Node, judged: Situation) -> None:
    """Claim by the planner's proof. Raises Stale where a stranger's claim was granted in between."""
    try:
        _claim(ports, leased, order, node, judged, proved_anew=False)
    except _RoomTakenError as fault:
        raise Stale("another claim was granted since the proof of placement") from fault


def _claim(
    ports: Ports, leased: LeasedRecord, order: Order, node: Node, judged: Situation, *, proved_anew: bool
) -> None:
    """Budget and claim in one compare-and-set on the cluster's document.

    A claim that the proof did not count makes it void: one by a stranger, or any where the proof was made again.
    """
    snapshot, policy = judged.snapshot, judged.policy
    claim, pods = claim_to_be(order, node, judged)
    claim = replace(claim, cost_per_hour=ports.prices.of(node).per_hour)

    def change(state: ClusterState, now: datetime) -> ClusterState | None:
        if (held := state.claims.get(node.uid)) is not None:
            if held.order_id != order.order_id:
                raise Declined(Refusal.CLAIMED_BY_OTHER)
            return None
        if now >= order.expires_at:
            raise Declined(Refusal.EXPIRED)
        if now - snapshot.taken_at > READS_STAND_FOR:
            raise Stale("nodes and policy were read too long ago for a claim")
        if room_was_claimed(order, judged.state, state, proved_anew=proved_anew):
            raise _RoomTakenError
        decline_if_any(exceeded_limits(order, node, Situation(snapshot, state, policy), now))
        return grant(state, node.uid, replace(claim, since=now), longest_rate(policy), pods)

    after = change_cluster(ports.state, ports.clock, change)
    record_claim(ports, leased, node, after.claims[node.uid], policy)


def record_claim(ports: Ports, leased: LeasedRecord, node: Node, claim: Claim, policy: Policy | None) -> None:
    """Write what the following steps need to know; the claim itself already stands."""
    pods = movable(ports.cluster.pods_on(node.name), claim.since)
    leased.write(
        phase=DrainPhase.CLAIMED,
        node_uid=node.uid,
        deadline=deadline(claim, pods),
        max_grace=claim.settings.max_grace,
        rules=policy.pool(claim.pool).pod_rules if policy else STRICTEST_POD_RULES,
    )
    begun = {"act": NodeAction.DRAIN, "result": ActionResult.ATTEMPTED}
    ports.log.event("drain_step", "The claim is granted.", phase=DrainPhase.CLAIMED.value, **begun)


def preflight(ports: Ports, leased: LeasedRecord, node: Node, judged: Situation) -> None:
    """Try what the drain would do to each pod and each Deployment of the node.

    Raises:
        Declined: something was refused; the node is backed off where it would be refused at the next pass too.
        Retryable: something did not answer.
    """
    policy = judged.policy
    surging, pods = surges_of(judged.moving(node.name), judged.drain_context(node.pool))
    refused = _refused_restart(ports, leased, surging)
    if refused:
        _back_off(ports, node, policy)
        raise Declined(Refusal.PREFLIGHT, refused)

    def ask(pod: Pod) -> Eviction:
        check_admission(leased.time)
        return ports.cluster.evict(pod, grace_seconds(pod, policy.drain.max_grace), dry_run=True)

    answers = ports.together(ask, pods, policy.drain.max_parallel_evictions)
    bad = [(pod, each) for pod, each in zip(pods, answers, strict=True) if each.answer not in NO_OBJECTION]
    if not bad:
        return
    if any(each.answer in REFUSED_FOR_GOOD for _, each in bad):
        _back_off(ports, node, policy)
    detail = "; ".join(f"{pod.key}: {each.answer.value} {each.detail}".strip() for pod, each in bad)
    raise Declined(Refusal.PREFLIGHT, detail)


def _refused_restart(ports: Ports, leased: LeasedRecord, surging: Iterable[Deployment]) -> str:
    """Try each restart with dryRun=All, and return what was refused for good; empty where nothing was.

    A Deployment that has changed since it was read is judged when the drain gets to it. Raises Retryable.
    """
    for found in surging:
        check_admission(leased.time)
        try:
            ports.cluster.restart(found, leased.record.order.order_id, dry_run=True)
        except (Stale, Gone):
            continue
        except Terminal as fault:
            return f"{found.name}: {fault}"
    return ""


def _back_off(ports: Ports, node: Node, policy: Policy) -> None:
    """An eviction that is refused for good would be refused at the next pass too: try another node meanwhile."""

    def change(state: ClusterState, now: datetime) -> ClusterState:
        return back_off(state, node.uid, node.name, policy.drain, Refusal.PREFLIGHT, now)

    change_cluster(ports.state, ports.clock, change)
