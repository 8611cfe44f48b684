"""What earlier passes and drains left behind, and who repairs it. Healing is never switched off.

Each repair rests on the snapshot and on what the state held before it began. Before something is undone, its cause is
looked for again on fresh reads (docs/decisions/healing.md).
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.node import Node, holding_order, read_annotation
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.draining.cordon import uncordoned_by_autoscaler, watchdog_ends
from shared.core.draining.next_step import must_stop
from shared.core.healing.healing_input import HealingInput, Repair, RepairKind, StandingClaim, breaker_over
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord, has_returned
from shared.core.records.orders import is_order_id
from shared.core.records.state import ClusterState

SILENT_AFTER: Final = timedelta(seconds=60)  # A step that ended well has published its continuation by then.


def find_repairs(inputs: HealingInput) -> tuple[Repair, ...]:
    """Return what is to be repaired: claims, then orphan taints, each node at most once; then restarts that hang."""
    # In between stand the rules that failed by a fault of Ebb, as repairs that nobody can make.
    # A claim that is younger than the snapshot has a node that the snapshot may not show as it is.
    claims = sorted(
        (uid, claim) for uid, claim in inputs.state.claims.items() if claim.since < inputs.snapshot.began_at
    )
    standing = (StandingClaim(inputs, uid, claim) for uid, claim in claims)
    of_claims = (repair for held in standing for repair in _first_found(held))
    return (*of_claims, *_orphan_repairs(inputs), *restart_repairs(inputs))


def _first_found(held: StandingClaim) -> Iterator[Repair]:
    """Yield what the first rule finds; one that fails hides nothing of the others: a node must not wait for its fix."""
    for rule in _CLAIM_RULES:
        try:
            found = rule(held)
        except Exception as fault:  # noqa: BLE001 - whatever it is, the other rules can speak
            yield held.repair(RepairKind.FAULT, detail=f"{type(fault).__name__}: {fault}")
            continue
        if found is not None:
            yield found
            return


def _node_gone(held: StandingClaim) -> Repair | None:
    return held.repair(RepairKind.SETTLE) if held.node is None and not has_returned(held.record) else None


def _settled_record(held: StandingClaim) -> Repair | None:
    """The record is settled, the claim still stands: the step died between the two writes."""
    if held.record is None or held.record.phase is not DrainPhase.SETTLED:
        return None
    return held.release(ReturnReason.ORPHAN, "the drain had already ended")


def _must_stop_now(held: StandingClaim) -> Repair | None:
    """A drained node has no step that would notice a pause: the pass does."""
    word = must_stop(held.inputs.policy, held.claim.pool, paused=held.inputs.state.paused)
    return held.release(ReturnReason.PAUSED, word) if word else None


def _demand(held: StandingClaim) -> Repair | None:
    """Demand has returned: the room that this node is goes first (before any new node is bought)."""
    found = held.inputs.wanted.get(held.claim.node)
    return held.release(ReturnReason.DEMAND, found.pod.key) if found and found.not_before is None else None


def _later_demand(held: StandingClaim) -> Repair | None:
    """The same for a pod whose place elsewhere is being emptied; the release is void where it gets that place."""
    found = held.inputs.wanted.get(held.claim.node)
    return held.release(ReturnReason.DEMAND, found.pod.key, found.not_before) if found else None


def _buffer(held: StandingClaim) -> Repair | None:
    """The same of room that a capacity buffer has nowhere else."""
    buffer = held.inputs.wanted_by_buffers.get(held.claim.node)
    return held.release(ReturnReason.BUFFER, buffer) if buffer else None


def _breaker(held: StandingClaim) -> Repair | None:
    """Drains go wrong in this pool: what is not emptied yet is returned."""
    # At once for a stranded pod, which the room helps; else once the breaker is in the state, or it would be void.
    inputs = held.inputs
    breaker = inputs.stranded.get(held.claim.pool) or breaker_over(held.claim, inputs.state, inputs.now)
    if breaker is None or held.record is None or held.record.phase is DrainPhase.DRAINED:
        return None
    return held.release(ReturnReason.BREAKER, breaker.why)


def _never_ended(held: StandingClaim) -> Repair | None:
    """A drain past its deadline by as long as a drained node is waited for: its steps cannot read what they need."""
    record = held.record
    if record is None or record.deadline is None or record.phase in {DrainPhase.DRAINED, DrainPhase.SETTLED}:
        return None
    overdue = held.inputs.now >= record.deadline + held.claim.settings.watchdog
    return held.release(ReturnReason.DEADLINE, "no step could end the drain") if overdue else None


def _silent(held: StandingClaim) -> Repair | None:
    record = held.record
    if record is None:
        return held.release(ReturnReason.ORPHAN, "no record of the drain can be read")
    at_work = not record.is_silent(held.inputs.now, SILENT_AFTER)
    if record.phase in {DrainPhase.DRAINED, DrainPhase.SETTLED} or at_work:
        return None
    return held.repair(RepairKind.CONTINUE, detail=f"silent in phase {record.phase.value}")


def _taken_back(held: StandingClaim) -> Repair | None:
    node, record = held.node, held.drained_record
    if node is None or record is None:
        return None
    if node.drain_taint == held.claim.order_id and (node.unschedulable or _cleared_by_autoscaler(held, node, record)):
        return None
    return held.release(ReturnReason.OVERRULED)


def _watchdog(held: StandingClaim) -> Repair | None:
    record = held.drained_record
    if record is None:
        return None
    in_upgrade = held.node is not None and held.inputs.may_be_taken(held.node)
    ends = watchdog_ends(record, held.claim.settings, in_upgrade=in_upgrade)
    return held.release(ReturnReason.WATCHDOG) if ends is not None and held.inputs.now >= ends else None


def _record_unseen(held: StandingClaim) -> Repair | None:
    """The step that wrote the node down as drained was lost before it wrote the claim: nobody sees what it moved."""
    record = held.drained_record
    if record is None or held.claim.drained or not record.is_silent(held.inputs.now, SILENT_AFTER):
        return None
    return held.repair(RepairKind.CONTINUE, detail="silent before its claim was drained")


def _cordon_lost(held: StandingClaim) -> Repair | None:
    """The autoscaler failed to delete a drained node and cleared its cordon, which is to be set again."""
    node, record = held.node, held.drained_record
    if node is None or record is None or node.unschedulable or not _cleared_by_autoscaler(held, node, record):
        return None
    return held.repair(RepairKind.CONTINUE, detail="uncordoned by the autoscaler")


def _cleared_by_autoscaler(held: StandingClaim, node: Node, record: DrainRecord) -> bool:
    return uncordoned_by_autoscaler(node, held.inputs.begun_deletions.get(node.name), record.cordon_set_at)


def _orphan_repairs(inputs: HealingInput) -> Iterator[Repair]:
    """Our taint or annotation without a living claim: also the whole cluster's nodes after the state was lost."""
    for node in inputs.snapshot.nodes:
        order_id = holding_order(node)
        if order_id is None or node.uid in inputs.state.claims or taken_since(node, inputs.snapshot.began_at):
            continue
        yield Repair(RepairKind.RELEASE, node.uid, node.name, order_id, ReturnReason.ORPHAN, pool=node.pool)


def taken_since(node: Node, began_at: datetime) -> bool:
    """Whether our annotation is as young as the snapshot: its claim may be younger than the state we read."""
    note = read_annotation(node)
    return note is not None and note.since >= began_at


ClaimRule = Callable[[StandingClaim], Repair | None]
_CLAIM_RULES: Final[tuple[ClaimRule, ...]] = (
    # what has already ended
    _node_gone, _settled_record,
    # what must be returned now
    _must_stop_now, _demand, _buffer, _breaker,
    # what must go on, or has gone on too long: the watchdog before the cordon, or failing deletions would put it off,
    # and before a drained node's next step, or lost messages would
    _never_ended, _silent, _taken_back, _watchdog, _record_unseen, _cordon_lost,
    # what may end by itself hides nothing else
    _later_demand,
)  # fmt: skip


LOOKED_FOR: Final = timedelta(days=1)  # After a drain's end: a webhook that is down for a night is back by then.
MOST: Final = 20  # So many are looked at in a pass: each costs the reading of its drain's record.
MOST_REFUSED: Final = 3  # So many releases may be refused to undo one; then a person was warned often enough.


def hanging(workloads: Iterable[Workload], state: ClusterState) -> dict[str, tuple[Deployment, ...]]:
    """Return by drain, none that holds a claim, the Deployments that carry its stamp and are not rolled out."""
    # The owner of a Deployment may write there what he likes: another drain's id, or what is no id at all.
    held = {claim.order_id for claim in state.claims.values()}
    left: dict[str, tuple[Deployment, ...]] = {}
    for found in {workload.deployment for workload in workloads if workload.deployment is not None}:
        rolled_out = found.observed and found.created == found.updated
        if is_order_id(found.stamp) and found.stamp not in held and not rolled_out:
            left[found.stamp] = (*left.get(found.stamp, ()), found)
    return left


def in_turn(found: Iterable[str], now: datetime, interval: timedelta) -> tuple[str, ...]:
    """Return the drains that are looked at in this pass: a few, and in each pass the next few, round and round."""
    # What nobody knows must not keep the others waiting. The turn changes in the middle of an interval.
    rows = sorted(found)
    turn = round(now.timestamp() / interval.total_seconds())
    return tuple(rows[(turn * MOST + place) % len(rows)] for place in range(min(MOST, len(rows))))


def restart_repairs(inputs: HealingInput) -> Iterator[Repair]:
    """Yield a release of each settled drain that has left one waiting: the drainer looks again and undoes it."""
    for order_id, found in sorted(hanging(inputs.snapshot.workloads.values(), inputs.state).items()):
        record = inputs.records.get(order_id)
        if record is None or record.phase is not DrainPhase.SETTLED or record.updated_at is None:
            continue
        ours = sorted(deployment.name for deployment in found if _is_worth_a_look(deployment, record))
        if ours and inputs.now - record.updated_at < LOOKED_FOR:
            detail = f"{ours[0]} still waits for a pod on its behalf"
            yield Repair(RepairKind.RELEASE, record.node_uid, record.order.node, order_id, ReturnReason.ORPHAN, detail)


def _is_worth_a_look(found: Deployment, record: DrainRecord) -> bool:
    """Whether it may be ours to undo: not where a look has found that it is not, and nobody has changed it since."""
    restart = record.surges.get(found.name)
    if restart is None or restart.uid != found.uid or record.drained_at is not None:
        return False
    return restart.looked_at != found.generation and restart.refused < MOST_REFUSED
