"""Ends a drain: node, record, claim, log line and result; undoes what the drain wrote."""

from datetime import datetime
from typing import Any

from functions.drainer.restart import undo_restarts
from shared.core.cluster.node import Node, holding_order
from shared.core.draining.cordon import word_of_lost_taint
from shared.core.draining.drain import LastStep, LeaveToAutoscaler, ReturnNode, Settle, log_fields
from shared.core.draining.evicting import counted_at
from shared.core.reasons import Outcome, Reason, ReturnReason, reason_of_word
from shared.core.records.claims import mark_drained, settle
from shared.core.records.drain_record import DrainPhase
from shared.core.records.orders import continuation, outcome_of, result_of
from shared.core.records.state import ClusterState
from shared.errors import EbbError
from shared.ports import Ports
from shared.store.compare_and_set import change_cluster, while_stale
from shared.store.drain_record import LeasedRecord, report_result


def end(ports: Ports, leased: LeasedRecord, ending: LastStep | None) -> None:
    """End a drain for this order; without an ending it goes on in a new message. Raises as `return_node`."""
    match ending:
        case LeaveToAutoscaler(replaced):
            leased.close()
            mark_claim_drained(ports, leased, replaced=replaced)
        case ReturnNode(why, detail, gave_way_for):
            return_node(ports, leased, leased.record.node_uid, why, detail, gave_way_for)
        case Settle():
            settle_removed(ports, leased)
        case None:
            _continue_later(ports, leased)


def _continue_later(ports: Ports, leased: LeasedRecord) -> None:
    """Checkpoint and publish the continuation; if that fails, this message still counts, by the record's generation."""
    leased.close()
    ports.orders.publish(continuation(leased.record.order, leased.record.generation))
    ports.log.event("drain_step", "The step's time is over; the drain goes on in a new message.", reason="continued")


def return_node(
    ports: Ports,
    leased: LeasedRecord,
    uid: str,
    why: ReturnReason,
    detail: str = "",
    gave_way_for: tuple[str, ...] = (),
) -> None:
    """Uncordon and untaint the node if it is ours, undo restarts, back off, settle; `gave_way_for` as in the step.

    The node comes first: a Deployment that cannot be written (its webhook is down) must not keep it cordoned. The claim
    goes last: by it the next pass finds what this step leaves, also where no message names the order. Raises
    Retryable: the record is `halting`, so a later step goes on; Stale: another step has overtaken this one.
    """
    order = leased.record.order
    if leased.record.phase is not DrainPhase.HALTING:
        begun = {"phase": DrainPhase.HALTING, "node_uid": uid, "why": why.value, "detail": detail}
        leased.write(**begun, gave_way_for=gave_way_for)
    node = restore_node(ports, order.node, uid, order.order_id)
    left = undo_restarts(ports, leased)
    post_event(ports, node, "EbbGaveNodeBack", f"{why.sentence} {detail}".strip())
    _wait_until_counted(leased)
    conclude(ports, leased, outcome_of(why), why, "; ".join(part for part in (detail, left) if part))
    settle_claim(ports, uid, order.order_id, why, leased.record.gave_way_for)


def resume(ports: Ports, leased: LeasedRecord) -> None:
    """End a drain for the reason that its ending had begun for; another version's reason becomes a detail."""
    record = leased.record
    why, detail = record.return_reason, record.detail
    if why is None:
        why, detail = ReturnReason.ORPHAN, f"{record.why}: {detail}".rstrip(": ")
    return_node(ports, leased, record.node_uid, why, detail)


def settle_removed(ports: Ports, leased: LeasedRecord) -> None:
    """Settle a drain whose node is gone, record first; if this dies then, the next pass settles the claim."""
    conclude(ports, leased, Outcome.REMOVED)
    _wait_until_counted(leased)
    settle_claim(ports, leased.record.node_uid, leased.record.order.order_id, None)


def conclude(
    ports: Ports, leased: LeasedRecord, outcome: Outcome, why: Reason | None = None, detail: str = "", **more: Any
) -> None:
    """Write the outcome to the record, the log and the results topic; `more` is for the record alone."""
    leased.settle(outcome, why, detail, **more)
    _report(ports, leased, outcome, why, detail)


def report_again(ports: Ports, leased: LeasedRecord) -> None:
    """Report the end of a drain whose step died before its claim had ended: it may have done so or not."""
    record = leased.record
    outcome = reason_of_word(record.outcome, Outcome)
    if isinstance(outcome, Outcome):  # else it is the word of another version
        _report(ports, leased, outcome, record.return_reason, record.detail)


def _report(ports: Ports, leased: LeasedRecord, outcome: Outcome, why: Reason | None, detail: str) -> None:
    result = result_of(leased.record.order, outcome, why, detail)
    sentence = f"{outcome.sentence} {_because(why, detail)}".strip()
    report_result(ports, result, sentence, **log_fields(leased.record, leased.time.now()))


def _because(why: Reason | None, detail: str) -> str:
    """Return the reason's sentence and the details; those of a refusal begin with that sentence."""
    own = why.sentence if why else ""
    return detail if detail.startswith(own) else f"{own} {detail}".strip()


def restore_node(ports: Ports, name: str, uid: str, order_id: str) -> Node | None:
    """Undo what that order did to the node, by our taint or, without it, our annotation; None when it is gone."""

    def restore() -> Node | None:
        node = ports.cluster.node(name)
        if node.uid != uid:
            return None
        ports.log.add(pool=node.pool)
        return _uncordon(ports, node, order_id) if holding_order(node) == order_id else node

    return while_stale(f"node {name}", restore)


def _uncordon(ports: Ports, node: Node, order_id: str) -> Node:
    """Remove the taint and uncordon; attempt and success have a line each (docs/acceptance.md row 103)."""
    if node.drain_taint is None and not node.unschedulable:  # all but the annotation is undone already
        return ports.cluster.return_node(node, order_id)
    message = f"The node is to be uncordoned and untainted. {word_of_lost_taint(node)}".strip()
    ports.log.event("drain_step", message, act="uncordon", result="attempted")
    freed = ports.cluster.return_node(node, order_id)
    if freed.unschedulable:
        message = "The node stays cordoned: somebody has cordoned it since."
        ports.log.event("drain_step", message, reason="cordoned_by_other")
        return freed
    message = "The node is uncordoned and free of our taint."
    ports.log.event("drain_step", message, act="uncordon", result="succeeded")
    return freed


def post_event(ports: Ports, node: Node | None, reason: str, message: str) -> None:
    """Post an event on the node; one that cannot be written is logged and does no harm."""
    if node is None:
        return
    try:
        ports.cluster.note(node, reason, message)
    except EbbError as error:
        ports.log.event("drain_step", f"The event {reason} could not be written: {error}", severity="WARNING")


def record_drained(ports: Ports, leased: LeasedRecord, node: Node | None) -> None:
    """The autoscaler's turn: the planner's passes settle the claim when the node is gone."""
    now = leased.time.now()
    leased.write(phase=DrainPhase.DRAINED, drained_at=now)
    ended = {"act": "drain", "result": "succeeded", **log_fields(leased.record, now)}
    message = "The node is drained and left to the cluster autoscaler."
    ports.log.event("drain_step", message, phase=DrainPhase.DRAINED.value, **ended)
    post_event(ports, node, "EbbDrained", "All pods have a node again; left to the cluster autoscaler.")
    mark_claim_drained(ports, leased)


def mark_claim_drained(ports: Ports, leased: LeasedRecord, *, replaced: bool = False) -> None:
    """Let other drains move what this one has moved; `replaced` also ends its use of budgets. Safe to repeat."""
    uid, order_id = leased.record.node_uid, leased.record.order.order_id
    _wait_until_counted(leased)
    change_cluster(
        ports.state, ports.clock, lambda state, now: mark_drained(state, uid, order_id, now if replaced else None)
    )


def _wait_until_counted(leased: LeasedRecord) -> None:
    """Keep what the claim moves until the workloads' status counts the pods let go as away: other drains go by it."""
    seen = counted_at(leased.record)
    if seen is not None:
        leased.time.rest(seen - leased.time.now())


def settle_claim(
    ports: Ports, uid: str, order_id: str, why: ReturnReason | None, gave_way_for: tuple[str, ...] = ()
) -> None:
    """Take the order's claim out of the budgets, with a back-off if the drain failed."""

    def change(state: ClusterState, now: datetime) -> ClusterState | None:
        claim = state.claims.get(uid)
        return settle(state, uid, why, now, gave_way_for) if claim and claim.order_id == order_id else None

    change_cluster(ports.state, ports.clock, change)
