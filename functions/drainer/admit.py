"""The first step of a drain: judge the order on fresh reads, try each eviction dry, claim. No rule lives here.

Each eviction and restart of the drain is tried with dryRun=All before the node is touched: webhooks and PDBs answer
first, so a node from which a pod cannot leave is never cordoned. The claim is one compare-and-set of budget and claim,
by a proof of placement that no other claim has made void. What is declined is forgotten: the next pass orders again.
"""

import dataclasses
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from functions.drainer import finish, reads
from functions.drainer.hold import living_wave
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Deployment
from shared.core.draining.admission import (
    claim_to_be,
    exceeded_limits,
    needs_whole_snapshot,
    no_place,
    objections,
    refusal_of,
    room_was_claimed,
)
from shared.core.draining.completion import deadline, grace_seconds
from shared.core.planning.selection import savings_of
from shared.core.policy import STRICTEST_POD_RULES, Policy
from shared.core.reasons import Blocker, Outcome, Reason, Refusal
from shared.core.records.claims import back_off, grant, longest_rate, without_order
from shared.core.records.commitments import CommitmentReading
from shared.core.records.drain_record import NO_OBJECTION, REFUSED_FOR_GOOD, DrainPhase, Objection
from shared.core.records.orders import Order, quoted_value
from shared.core.records.state import Claim, ClusterState
from shared.core.rules.gates import IGNORABLE, idle_words
from shared.core.rules.pods import movable
from shared.core.rules.situation import Situation
from shared.core.rules.surges import surges_of
from shared.errors import Gone, Retryable, Stale, Terminal
from shared.ports import COMMITMENTS_KEY, ClusterReading, Eviction, Ports
from shared.readings import DatedReading
from shared.store.compare_and_set import change_cluster, read_cluster, read_lenient
from shared.store.drain_record import LeasedRecord, StepTime
from shared.store.snapshots import read_optional, snapshot_of, with_unknown_workloads

READS_STAND_FOR: Final = timedelta(seconds=60)
"""How old the drainer's own reads may be at the grant: an instance may be paused between two calls for any time."""
ADMITTED_WITHIN: Final = READS_STAND_FOR.total_seconds()
"""Seconds that an admission may take: what it has read does not stand for longer."""
PROOFS: Final = 5  # How often the placement is proved for one message before it comes again.
_MOST_WORDS: Final = 5  # Of an order's `ignore` that are named in its line.


class Declined(Exception):
    """The order is not carried out; named, so that log and record agree."""

    def __init__(self, why: Reason, detail: str = "", found: tuple[Blocker, ...] = ()) -> None:
        super().__init__(f"{why.sentence} {detail}".strip())
        self.why, self.detail, self.found = why, detail, found


def _decline_if_any(found: tuple[Blocker, ...]) -> None:
    if found:
        raise Declined(found[0].reason, "; ".join(blocker.sentence for blocker in found), found)


def admit(ports: Ports, leased: LeasedRecord, order: Order) -> bool:
    """Take the order to claimed; False when it ends here (refused, dry run). Raises Retryable: nothing is done yet."""
    state, _, now = read_cluster(ports.state)
    node = reads.node_named(ports, order.node)
    refusal = refusal_of(order, node, state, now)
    if node is not None:
        ports.log.add(pool=node.pool)
    if node is None or refusal is not None:
        return _refuse(ports, leased, Declined(refusal or Refusal.NODE_UNKNOWN))
    held = state.claims.get(node.uid)
    if held is not None:  # a crash between the claim and its record
        _record_claim(ports, leased, node, held, reads.policy_in_reach(ports))
        return True
    policy = reads.valid_policy(ports)
    if policy is None:
        return _refuse(ports, leased, Declined(Refusal.POLICY_INVALID))
    remark = _idle_words(ports, order, policy)
    _keep_admitting(leased)
    try:
        return _check_and_claim(ports, leased, order, node, state, policy, now)
    except Declined as declined:
        return _refuse(ports, leased, declined, remark)


def _refuse(ports: Ports, leased: LeasedRecord, declined: Declined, remark: str = "") -> bool:
    """End the order here; `remark` is what else the person who gave it should know."""
    _mark_answered(ports, leased)
    detail = f"{declined.detail} {remark}".strip()
    found = tuple(Objection(blocker.reason.value, blocker.object, blocker.detail) for blocker in declined.found)
    finish.conclude(ports, leased, Outcome.REFUSED, declined.why, detail, objections=found, remark=remark)
    return False


def _mark_answered(ports: Ports, leased: LeasedRecord) -> None:
    """Let the planner know that this order is no longer on its way; first, so that the end of a drain is its end."""
    change_cluster(ports.state, ports.clock, lambda state, _: without_order(state, leased.record.order.order_id))


def _idle_words(ports: Ports, order: Order, policy: Policy) -> str:
    """Return, and log, which words of the order's `ignore` the policy does not let count."""
    words = idle_words(order.reason, order.ignore, policy)
    if not words:
        return ""
    allowed = ", ".join(sorted(policy.manual_may_ignore)) or "nothing"
    named = ", ".join(word if word in IGNORABLE else quoted_value(word) for word in words[:_MOST_WORDS])
    more = f" and {len(words) - _MOST_WORDS} more" if len(words) > _MOST_WORDS else ""
    sentence = f"Of ignore, {named}{more} did not count: manual.mayIgnore of the policy allows {allowed}."
    ports.log.event("drain_step", sentence, severity="WARNING", reason="ignore_not_allowed")
    return sentence


def _check_and_claim(
    ports: Ports, leased: LeasedRecord, order: Order, node: Node, state: ClusterState, policy: Policy, now: datetime
) -> bool:
    """Judge the node by the planner's rules on fresh reads; prove placement again where the order asks for it."""
    unbound = reads.unbound_pods(ports, now)
    _keep_admitting(leased)
    nodes = reads.nodes(ports, now)
    _keep_admitting(leased)
    proves = needs_whole_snapshot(order, state, unbound, nodes.value, now)
    if proves:
        snapshot = reads.whole_snapshot(ports, order, state, now)
        _keep_admitting(leased)
        node = _as_listed(ports, node, snapshot.nodes)
    else:
        node = _as_listed(ports, node, nodes.value)
        snapshot = _partial_snapshot(ports, leased, node, nodes, now)
    seen = snapshot.node_by_name.get(node.name)
    if seen is None or seen.uid != node.uid:
        raise Declined(Refusal.NODE_REPLACED)
    judged = Situation(snapshot, state, policy)
    _decline_if_any(objections(order, node, judged))
    if proves:
        judged = _prove_placement(ports, node, judged)
    _keep_admitting(leased)
    _preflight(ports, leased, node, judged)
    _keep_admitting(leased)
    if policy.dry_run or order.dry_run:
        _conclude_dry_run(ports, leased, order, node, judged, now)
        return False
    (_claim_one_by_one if proves else _claim_at_once)(ports, leased, order, node, judged)
    return True


def _with_listed_commitments(ports: Ports, node: Node, judged: Situation) -> Situation:
    """Return the situation with the planner's last list of commitments: only the claim's saving counts by it."""
    policy, what = judged.policy, "the planner's list of commitments"
    if not policy.commitments.read:
        return judged
    found = read_optional(ports.log, "drain_step", what, lambda: read_lenient(ports.state, COMMITMENTS_KEY).value, None)
    paid = (found or CommitmentReading()).applied_to(policy.commitments, node.region, judged.now)
    return dataclasses.replace(judged, policy=dataclasses.replace(policy, commitments=paid))


def _as_listed(ports: Ports, node: Node, listed: Iterable[Node]) -> Node:
    """Return the node, read once more if a list has another version: that may be the younger one."""
    if any(other.uid == node.uid and other.resource_version == node.resource_version for other in listed):
        return node
    again = reads.node_named(ports, node.name)
    if again is None or again.uid != node.uid:
        raise Declined(Refusal.NODE_REPLACED)
    return again


def _partial_snapshot(
    ports: Ports, leased: LeasedRecord, node: Node, nodes: DatedReading[tuple[Node, ...]], now: datetime
) -> Snapshot:
    """All nodes for the counts, but only this node's pods: the planner's snapshot is young enough for the rest."""
    budgets = reads.disruption_budgets(ports, now)
    _keep_admitting(leased)
    pods = ports.cluster.pods_on(node.name)
    _keep_admitting(leased)
    known = ports.cluster.workloads_of(pod.spec.workload for pod in pods)
    _keep_admitting(leased)
    storage = reads.storage_of(ports, pods, now)
    _keep_admitting(leased)
    reading = ClusterReading(
        (*(other for other in nodes.value if other.name != node.name), node),
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
    _decline_if_any(exceeded_limits(order, node, judged, now))
    _mark_answered(ports, leased)
    surging, _ = surges_of(judged.moving(node.name), judged.drain_context(node.pool))
    detail = "; ".join(f"would restart {deployment.name}" for deployment in surging)
    finish.conclude(ports, leased, Outcome.WOULD_DRAIN, detail=detail)


def _preflight(ports: Ports, leased: LeasedRecord, node: Node, judged: Situation) -> None:
    """Try each eviction and restart of the drain. Raises Declined, with a back-off if the next pass would fail too."""
    policy = judged.policy
    surging, pods = surges_of(judged.moving(node.name), judged.drain_context(node.pool))
    refused = _refused_restart(ports, leased, surging)
    if refused:
        _back_off(ports, node, policy)
        raise Declined(Refusal.PREFLIGHT, refused)

    def ask(pod: Pod) -> Eviction:
        _check_admission(leased.time)
        return ports.cluster.evict(pod, grace_seconds(pod, policy.drain.max_grace), dry_run=True)

    answers = ports.together(ask, pods, policy.drain.max_parallel_evictions)
    bad = [(pod, answer) for pod, answer in zip(pods, answers, strict=True) if answer.answer not in NO_OBJECTION]
    if not bad:
        return
    if any(answer.answer in REFUSED_FOR_GOOD for _, answer in bad):
        _back_off(ports, node, policy)
    detail = "; ".join(f"{pod.key}: {each.answer.value} {each.detail}".strip() for pod, each in bad)
    raise Declined(Refusal.PREFLIGHT, detail)


def _refused_restart(ports: Ports, leased: LeasedRecord, surging: Iterable[Deployment]) -> str:
    """Try each restart with dryRun=All, and return what was refused for good. One that has changed is judged later."""
    for found in surging:
        _check_admission(leased.time)
        try:
            ports.cluster.restart(found, leased.record.order.order_id, dry_run=True)
        except (Stale, Gone):
            continue
        except Terminal as fault:
            return f"{found.name}: {fault}"
    return ""


def _back_off(ports: Ports, node: Node, policy: Policy) -> None:
    """An eviction that is refused for good would be refused at the next pass too: try another node meanwhile."""
    change_cluster(
        ports.state,
        ports.clock,
        lambda state, now: back_off(state, node.uid, node.name, policy.drain, Refusal.PREFLIGHT, now),
    )


def _prove_placement(ports: Ports, node: Node, judged: Situation) -> Situation:
    """Prove the placement on a whole snapshot with every claim that stands by now. Raises Declined: no place."""
    situation = Situation(judged.snapshot, read_cluster(ports.state)[0], judged.policy)
    _decline_if_any(no_place(situation.snapshot.node_by_name[node.name], situation, living_wave(ports)))
    return situation


class _RoomTakenError(Exception):
    """Somebody was granted a claim that the proof of placement did not count."""


def _claim_one_by_one(ports: Ports, leased: LeasedRecord, order: Order, node: Node, proved: Situation) -> None:
    """Claim in turn with this instance's other orders; after a claim in between prove once more. Raises Stale."""
    with ports.shared.turn("proof of placement and claim", ports.clock.sleep):
        leased.renew()
        for _ in range(PROOFS):
            try:
                _claim(ports, leased, order, node, proved, proved_anew=True)
            except _RoomTakenError:
                proved = _prove_placement(ports, node, proved)
            else:
                return
    raise Stale(f"other claims were granted since each of {PROOFS} proofs of placement")


def _claim_at_once(ports: Ports, leased: LeasedRecord, order: Order, node: Node, judged: Situation) -> None:
    """Claim by the planner's proof. Raises Stale where a stranger's claim was granted in between."""
    try:
        _claim(ports, leased, order, node, judged, proved_anew=False)
    except _RoomTakenError as fault:
        raise Stale("another claim was granted since the proof of placement") from fault


def _claim(
    ports: Ports, leased: LeasedRecord, order: Order, node: Node, judged: Situation, *, proved_anew: bool
) -> None:
    """Budget and claim in one compare-and-set. A claim that the proof did not count makes it void."""
    snapshot, policy = judged.snapshot, judged.policy
    claim, pods = claim_to_be(order, node, judged)
    saves = savings_of(_with_listed_commitments(ports, node, judged), ports.prices).of(node)
    covered = ports.prices.of(node).per_hour - saves
    claim = replace(claim, cost_per_hour=saves, covered_per_hour=covered or UNSET)

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
        _decline_if_any(exceeded_limits(order, node, Situation(snapshot, state, policy), now))
        return grant(state, node.uid, replace(claim, since=now), longest_rate(policy), pods)

    after = change_cluster(ports.state, ports.clock, change)
    _record_claim(ports, leased, node, after.claims[node.uid], policy)


def _record_claim(ports: Ports, leased: LeasedRecord, node: Node, claim: Claim, policy: Policy | None) -> None:
    """Write what the following steps need to know; the claim itself already stands."""
    pods = movable(ports.cluster.pods_on(node.name), claim.since)
    leased.write(
        phase=DrainPhase.CLAIMED,
        node_uid=node.uid,
        deadline=deadline(claim, pods),
        max_grace=claim.settings.max_grace,
        rules=policy.pool(claim.pool).pod_rules if policy else STRICTEST_POD_RULES,
    )
    message = "The claim is granted."
    ports.log.event("drain_step", message, phase=DrainPhase.CLAIMED.value, act="drain", result="attempted")


def _check_admission(time: StepTime) -> None:
    """Raise Retryable where the time of an admission is over."""
    if time.seconds_taken() > ADMITTED_WITHIN:
        raise Retryable("the admission", f"its calls have taken more than {ADMITTED_WITHIN:.0f} s")


def _keep_admitting(leased: LeasedRecord) -> None:
    """Renew the lease between two calls of an admission: slow answers add up. Raises Retryable: its time is over."""
    _check_admission(leased.time)
    leased.renew()
