"""A release: give one node back, whoever holds it. Never refused by pause, dry run, policy or budgets.

It removes only a taint of the order id it names; without a standing claim it still frees an orphan. What the
planner found is looked at again (`release_findings`) before anything is undone; a person's word needs no proof.
"""

from msgspec.structs import replace

from functions.drainer import finish
from functions.drainer.release_findings import STILL_HOLDS, ReleaseContext, reason_found
from functions.drainer.session import DrainSession, read_policy
from functions.drainer.undo import undo_restarts
from functions.drainer.why_not_deleted import why_kept
from shared.core.cluster.node import Node, holding_order
from shared.core.draining.cordon import untainted
from shared.core.outcomes import Halt
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.orders import Order, Origin, outcome_of, result_of
from shared.core.records.state import Claim
from shared.errors import Gone
from shared.ports import Ports
from shared.store.compare_and_set import read_cluster
from shared.store.drain_record import LeasedRecord, StepTime, check_node
from shared.store.drain_result import report_result


def release(ports: Ports, order: Order, seconds: float) -> None:
    """Carry a release out. Raises Retryable or Stale when the message should come again."""
    state, _, now = read_cluster(ports.state)
    node = _read_node(ports, order)
    uid = order.node_uid or (node.uid if node else "") or _uid_by_name(state.claims, order.node)
    claim = state.claims.get(uid)
    leased, time = LeasedRecord(ports.state, f"release-{order.order_id}"), StepTime(now, ports.clock, seconds)
    pool = claim.pool if claim else node.pool if node else ""
    session = DrainSession(ports, _with_order_id(order, claim, node), leased, time, pool=pool)
    record = _seize(session)
    if record is not None and (record.phase is not DrainPhase.SETTLED or record.order.node != order.node):
        check_node(record, order)
    if record is not None and record.phase is DrainPhase.HALTING:  # a step died while it ended this very drain
        finish.resume(session)  # what was found is no longer there to be found again: the ending itself has undone it
        return
    why = _reason(order)
    policy = read_policy(session) if why is Halt.PAUSED and claim else None
    context = ReleaseContext(session.with_policy(policy), node, claim, record, policy, state, now)
    if not STILL_HOLDS[why](context):
        said = f"The release is void: {why.value} no longer holds."
        context.session.log_event("drain_step", said, reason=why.value)
        return
    _give_back(context, uid, reason_found(context, why))


def _seize(session: DrainSession) -> DrainRecord | None:
    """Seize the drain's record and return it; None where there is none.

    Once in a release: the findings are judged by this very record, and the giving back is written on its version. A
    step that has written in between makes that write Stale, and the message comes again, to judge what stands then.
    """
    try:
        session.leased.seize(session.order.order_id)
    except KeyError:
        return None
    return session.record


def _give_back(context: ReleaseContext, uid: str, why: Halt) -> None:
    """End the drain through its record where there is one; else only free the node."""
    session, order = context.session, context.session.order
    if context.claim is None and context.is_held:
        finish.leave_to_person(session, uid, why)
    detail = _detail(context, why)
    if context.record is None:
        _free(context, uid, why)
        result = result_of(order, outcome_of(why), why, detail)
        report_result(session.log_event, session.ports.orders, result, f"{why.sentence} The node was given back.")
    elif context.record.phase is DrainPhase.SETTLED:
        _free(context, uid, why)
        undo_restarts(session)
    else:
        finish.give_back(session, uid, why, detail)


def _detail(context: ReleaseContext, why: Halt) -> str:
    if context.node is None:
        return ""
    is_kept = why is Halt.WATCHDOG
    return why_kept(context.session.ports, context.node, context.now) if is_kept else untainted(context.node)


def _free(context: ReleaseContext, uid: str, why: Halt) -> None:
    """Free the node and settle its claim; the drain has no record to end."""
    session, order = context.session, context.session.order
    finish.restore_node(session, order.node, uid, order.order_id)
    finish.settle_claim(session, uid, order.order_id, why)


def _read_node(ports: Ports, order: Order) -> Node | None:
    try:
        node = ports.cluster.node(order.node)
    except Gone:
        return None
    return node if order.node_uid in {"", node.uid} else None


def _uid_by_name(claims: dict[str, Claim], name: str) -> str:
    return next((uid for uid, claim in sorted(claims.items()) if claim.node == name), "")


def _with_order_id(order: Order, claim: Claim | None, node: Node | None) -> Order:
    """A person names only the node: the claim that stands, or else what we wrote on the node, names the order."""
    if order.origin is Origin.PLANNER:
        return order
    held = holding_order(node) if node else None
    return replace(order, order_id=(claim.order_id if claim else held) or order.order_id)


def _reason(order: Order) -> Halt:
    if order.origin is Origin.PLANNER and order.why in set(Halt):
        return next(halt for halt in Halt if halt.value == order.why)
    return Halt.RELEASED
