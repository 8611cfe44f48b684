"""A release: give one node back, whoever holds it. Never refused by pause, dry run, policy or budgets.

It removes only a taint of the order id it names; without a standing claim it still frees an orphan. What the
planner found is looked at again on fresh reads before anything is undone; a person's word needs no proof.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from functions.drainer import finish as ending
from functions.drainer.read_policy import read_policy
from functions.drainer.session import Desk
from functions.drainer.why_not_deleted import failed_at, why_kept
from shared.core.cluster.annotation import held_for
from shared.core.cluster.snapshot import Node
from shared.core.draining.next_step import must_stop, shaken, untainted
from shared.core.placement.demand import is_waiting
from shared.core.reasons import Halt
from shared.core.records.orders import Order, Origin
from shared.core.records.result import outcome_of, result_of
from shared.core.records.state import Claim, DrainPhase
from shared.errors import EbbError, Gone
from shared.ports import Ports
from shared.store.compare_and_set import read_cluster
from shared.store.drain_record import Ledger, StepTime


class Case:
    """What a release finds when it looks: the node, the claim that stands on it, the drain's record."""

    def __init__(self, desk: Desk, node: Node | None, claim: Claim | None, *, paused: bool) -> None:
        self.desk, self.node, self.claim, self.paused = desk, node, claim, paused

    @property
    def order_id(self) -> str:
        return self.desk.order.order_id


def release(ports: Ports, order: Order, seconds: float) -> None:
    """Carry a release out. Raises Retryable or Stale when the message should come again."""
    state, _, read_at = read_cluster(ports.state)
    node = _node(ports, order)
    uid = order.node_uid or (node.uid if node else "") or _uid_by_name(state.claims, order.node)
    claim = state.claims.get(uid)
    named = _named(order, claim, node)
    desk = Desk(ports, named, Ledger(ports.state, f"release-{order.order_id}"), StepTime(read_at, ports.clock, seconds))
    desk.pool = claim.pool if claim else node.pool if node else ""
    case = Case(desk, node, claim, paused=state.paused)
    if _is_ending(case):  # what was found is no longer there to be found again: the ending itself has undone it
        ending.go_on(desk)
        return
    why = _why(order)
    if not _REPEATED[why](case, read_at):
        desk.tell("drain_step", f"The release is void: {why.value} no longer holds.", reason=why.value)
        return
    detail = _detail(ports, node, why, read_at)
    _undo(case, uid, why, detail)


def _detail(ports: Ports, node: Node | None, why: Halt, now: datetime) -> str:
    if node is None:
        return ""
    return why_kept(ports, node, now) if why is Halt.WATCHDOG else untainted(node)


def _undo(case: Case, uid: str, why: Halt, detail: str) -> None:
    """End the drain through its record where there is one; else only free the node."""
    desk = case.desk
    try:
        desk.ledger.seize(case.order_id)
    except KeyError:
        ending.free(desk, desk.order.node, uid, case.order_id)
        ending.settle_claim(desk, uid, case.order_id, why)
        outcome = outcome_of(why)
        message = f"{why.sentence} The node was given back."
        desk.tell("drain_result", message, outcome=outcome.value, reason=why.value)
        desk.ports.orders.report(result_of(desk.order, outcome, why, detail))
        return
    if desk.ledger.record.phase is DrainPhase.SETTLED:
        ending.free(desk, desk.order.node, uid, case.order_id)
        ending.settle_claim(desk, uid, case.order_id, why)
        return
    ending.give_back(desk, uid, why, detail)


def _is_ending(case: Case) -> bool:
    """Whether a step died while it ended this very drain."""
    try:
        case.desk.ledger.seize(case.order_id)
    except KeyError:
        return False
    return case.desk.ledger.record.phase is DrainPhase.HALTING


def _node(ports: Ports, order: Order) -> Node | None:
    try:
        node = ports.cluster.node(order.node)
    except Gone:
        return None
    return node if order.node_uid in {"", node.uid} else None


def _uid_by_name(claims: dict[str, Claim], name: str) -> str:
    return next((uid for uid, claim in sorted(claims.items()) if claim.node == name), "")


def _named(order: Order, claim: Claim | None, node: Node | None) -> Order:
    """A person names only the node: the claim that stands, or else what we wrote on the node, names the order."""
    if order.origin is Origin.PLANNER:
        return order
    held = held_for(node) if node else None
    return replace(order, order_id=(claim.order_id if claim else held) or order.order_id)


def _why(order: Order) -> Halt:
    if order.origin is Origin.PLANNER and order.why in set(Halt):
        return next(halt for halt in Halt if halt.value == order.why)
    return Halt.RELEASED


def _always(case: Case, now: datetime) -> bool:
    del case, now
    return True


def _orphaned(case: Case, now: datetime) -> bool:
    """No living drain stands behind the taint or the claim."""
    del now
    if case.claim is None or case.claim.order_id != case.order_id:
        return True
    try:
        case.desk.ledger.seize(case.order_id)
    except KeyError:
        return True
    return case.desk.ledger.record.phase is DrainPhase.SETTLED


def _still_stopped(case: Case, now: datetime) -> bool:
    del now
    if case.claim is None:
        return False
    return bool(must_stop(read_policy(case.desk), case.claim.pool, paused=case.paused))


def _still_overruled(case: Case, now: datetime) -> bool:
    """A person took the taint or the cordon off, and it was not the autoscaler that failed on the node."""
    del now
    node = case.node
    if node is None or node.drain_taint != case.order_id:
        return True
    return not node.unschedulable and not shaken(
        node, failed_at(case.desk, node), case.claim.since if case.claim else None
    )


def _still_wanted(case: Case, now: datetime) -> bool:
    """Some pod still waits for a place."""
    del now
    return case.claim is not None and any(map(is_waiting, case.desk.ports.cluster.unbound_pods()))


def _still_demanded(case: Case, now: datetime) -> bool:
    """Some pod still waits, and GKE has not begun to empty the pool's nodes itself."""
    return _still_wanted(case, now) and not _upgrades(case)


def _upgrades(case: Case) -> bool:
    """Whether GKE upgrades the pool: then its cordon is GKE's, too. Unknown, when it cannot be asked, is no."""
    try:
        pool = case.desk.ports.pools.read().pools.get(case.desk.pool)
    except EbbError:
        return False
    return pool is not None and pool.upgrading


def _still_overdue(case: Case, now: datetime) -> bool:
    """Drained, and the autoscaler has had its time."""
    if case.claim is None or case.node is None:
        return False
    try:
        case.desk.ledger.seize(case.order_id)
    except KeyError:
        return False
    record = case.desk.ledger.record
    drained = record.phase is DrainPhase.DRAINED and record.drained_at is not None
    overdue = drained and now - (record.drained_at or now) >= case.claim.settings.watchdog
    return overdue and not _upgrades(case)


_REPEATED: Final[dict[Halt, Callable[[Case, datetime], bool]]] = {
    **dict.fromkeys(Halt, _always),
    Halt.ORPHAN: _orphaned,
    Halt.PAUSED: _still_stopped,
    Halt.OVERRULED: _still_overruled,
    Halt.DEMAND: _still_demanded,
    Halt.BREAKER: _still_wanted,
    Halt.WATCHDOG: _still_overdue,
}
"""How each finding of the planner is repeated on fresh reads."""
