"""A release order: finds what Ebb holds of the node, and returns it."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from msgspec.structs import replace

from functions.drainer import finish, reads
from functions.drainer.restart import undo_restarts
from shared.core.cluster.node import Node, holding_order, read_annotation
from shared.core.draining.cordon import waits_long, wanted_by_person, watchdog_ends, word_of_lost_taint
from shared.core.draining.next_step import must_stop
from shared.core.healing.healing_input import breaker_over
from shared.core.placement.demand import is_waiting
from shared.core.policy import Policy
from shared.core.reasons import ReturnReason, reason_of_word
from shared.core.records.claims import left_to_person
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.orders import Order, Origin, outcome_of, result_of
from shared.core.records.state import Claim, ClusterState
from shared.ports import Ports
from shared.store.compare_and_set import change_cluster, read_cluster
from shared.store.drain_record import LeasedRecord, check_node, report_result
from shared.store.snapshots import deletion_begun_at


@dataclass(frozen=True)
class ReleaseContext:
    """What a release finds when it looks: the node, the claim that stands on it, the drain's record."""

    ports: Ports
    order: Order
    node: Node | None
    claim: Claim | None
    leased: LeasedRecord | None  # As the release has seized it, once; None where there is none.
    policy: Policy | None
    """Only read where a stop has to be looked for again; None also when it is missing, invalid or out of reach."""
    state: ClusterState
    now: datetime

    @property
    def record(self) -> DrainRecord | None:
        return self.leased.record if self.leased else None

    @property
    def phase(self) -> DrainPhase | None:
        """How far the drain is by its record; None without one."""
        return self.record.phase if self.record else None

    @property
    def is_held(self) -> bool:
        """Whether the node shows that this very order took it: by our taint, or by our annotation where it is gone."""
        return self.node is not None and holding_order(self.node) == self.order.order_id


def _is_orphan(context: ReleaseContext) -> bool:
    """No living drain stands behind the taint or the claim."""
    if context.claim is None or context.claim.order_id != context.order.order_id:
        return True
    return context.phase in {None, DrainPhase.SETTLED}


def _still_stopped(context: ReleaseContext) -> bool:
    if context.claim is None:
        return False
    return bool(must_stop(context.policy, context.claim.pool, paused=context.state.paused))


def _still_overruled(context: ReleaseContext) -> bool:
    """A person took the taint or the cordon off, and it was not the autoscaler that cleared it."""
    node = context.node
    if node is None:
        return True
    note = read_annotation(node)
    since = context.claim.since if context.claim else note.since if note else None
    if context.record is not None:
        since = context.record.cordon_set_at or since
    begun = None if node.unschedulable else deletion_begun_at(context.ports, "drain_step", node.name)
    return wanted_by_person(node, context.order.order_id, begun, since)


def _still_broken(context: ReleaseContext) -> bool:
    """Some pod still waits, or the pool's breaker stands open over a drain that has not emptied its node."""
    if context.claim is None:
        return False
    if breaker_over(context.claim, context.state, context.now) is None:
        return any(map(is_waiting, context.ports.cluster.unbound_pods()))
    return context.phase is not DrainPhase.DRAINED


def _still_demanded(context: ReleaseContext) -> bool:
    """Some pod still waits, for long where an upgrade may be emptying the node, and nobody else works on it."""
    if context.claim is None or _is_others(context.node):
        return False
    waiting = filter(is_waiting, context.ports.cluster.unbound_pods())
    order = context.order
    if order.not_before is not None:  # for a pod that preempts: others were there before, and stay
        return any(pod.key == order.pod for pod in waiting)
    return any(map(partial(waits_long, now=context.now), waiting) if _in_upgrade(context) else waiting)


def _still_lacking(context: ReleaseContext) -> bool:
    """Some buffer has fewer chunks with room than it is to have, or no count, and nobody else empties the node."""
    held = context.ports.cluster.buffers()[0].held
    lacking = any(buffer.ready is None or buffer.ready < buffer.replicas for buffer in held)
    return context.claim is not None and lacking and not _is_others(context.node) and not _in_upgrade(context)


def _is_others(node: Node | None) -> bool:
    """Whether others are seen to work on the node by now: to give it back would bring no room."""
    return node is not None and bool(node.lifecycle or node.outside)


def _in_upgrade(context: ReleaseContext) -> bool:
    return context.node is not None and reads.in_upgrade(context.ports, context.node, context.now)


def _still_overdue(context: ReleaseContext) -> bool:
    """Drained, and the autoscaler has had its time."""
    claim, record = context.claim, context.record
    if claim is None or context.node is None or record is None or record.phase is not DrainPhase.DRAINED:
        return False
    ends = watchdog_ends(record, claim.settings, in_upgrade=_in_upgrade(context))
    return ends is not None and context.now >= ends


def true_reason(context: ReleaseContext, why: ReturnReason) -> ReturnReason:
    """Return the true reason to return the node: what is left of an orphan shows whether a person took it back.

    The cordon, the taint and the annotation are written and undone in one patch: a part of them is somebody's work.
    A claim whose drain has returned its node goes for that drain's own reason: its step died before it settled it.
    """
    if why is ReturnReason.ORPHAN and context.is_held and _still_overruled(context):
        return ReturnReason.OVERRULED
    if why is ReturnReason.ORPHAN and context.claim is not None and context.record is not None:
        return context.record.return_reason or why
    return why


STILL_HOLDS: Final[dict[ReturnReason, Callable[[ReleaseContext], bool]]] = {
    **dict.fromkeys(ReturnReason, lambda _: True),
    ReturnReason.ORPHAN: _is_orphan,
    ReturnReason.PAUSED: _still_stopped,
    ReturnReason.OVERRULED: _still_overruled,
    ReturnReason.DEMAND: _still_demanded,
    ReturnReason.BUFFER: _still_lacking,
    ReturnReason.BREAKER: _still_broken,
    ReturnReason.WATCHDOG: _still_overdue,
}
"""How each finding of the planner is repeated on fresh reads."""


def release(ports: Ports, order: Order, seconds: float) -> None:
    """Carry a release out. Raises Retryable or Stale when the message should come again."""
    state, _, now = read_cluster(ports.state)
    found = reads.node_named(ports, order.node)
    node = found if found and order.node_uid in {"", found.uid} else None
    uid = order.node_uid or (node.uid if node else "")
    if not uid:  # a person names only the node, which may be gone
        uid = next((known for known, claim in sorted(state.claims.items()) if claim.node == order.node), "")
    claim = state.claims.get(uid)
    order = _with_order_id(order, claim, node)
    pool = claim.pool if claim else node.pool if node else ""
    ports = dataclasses.replace(ports, log=ports.log.bind(order_id=order.order_id, pool=pool))
    # Once in a release: the findings are judged by this very record, and the return is written on its version. A
    # step that has written in between makes that write Stale, and the message comes again, to judge what stands then.
    leased = LeasedRecord.seize(ports.state, ports.clock, order.order_id, f"release-{order.order_id}", seconds)
    if leased is not None and (leased.record.phase is not DrainPhase.SETTLED or leased.record.order.node != order.node):
        check_node(leased.record, order)
    if leased is not None and leased.record.phase is DrainPhase.HALTING:  # a step died while it ended this very drain
        finish.resume(ports, leased)  # what was found cannot be found again: the ending itself has undone it
        return
    why = _reason(order)
    policy = reads.policy_in_reach(ports) if why is ReturnReason.PAUSED and claim else None
    context = ReleaseContext(ports, order, node, claim, leased, policy, state, now)
    if not STILL_HOLDS[why](context):
        ports.log.event("drain_step", f"The release is void: {why.value} no longer holds.", reason=why.value)
        return
    _return_node(context, uid, true_reason(context, why))


def _return_node(context: ReleaseContext, uid: str, why: ReturnReason) -> None:
    """End the drain through its record where there is one; else only free the node."""
    ports, order, leased = context.ports, context.order, context.leased
    if context.claim is None and context.is_held:
        _leave_to_person(context, uid, why)
    detail = _detail(context, why)
    if leased is None:
        _free(context, uid, why)
        result = result_of(order, outcome_of(why), why, detail)
        report_result(ports, result, f"{why.sentence} The node was uncordoned.")
    elif leased.record.phase is DrainPhase.SETTLED:
        if context.claim is not None and context.claim.order_id == order.order_id:
            finish.report_again(ports, leased)
        _free(context, uid, why)
        undo_restarts(ports, leased)
    else:
        finish.return_node(ports, leased, uid, why, detail)


def _leave_to_person(context: ReleaseContext, uid: str, why: ReturnReason) -> None:
    """Leave a node alone that a person wants and no claim holds; before it is freed, while it still shows that."""
    ports, name = context.ports, context.order.node
    change_cluster(ports.state, ports.clock, lambda state, now: left_to_person(state, uid, name, why, now))


def _detail(context: ReleaseContext, why: ReturnReason) -> str:
    if context.node is None:
        return ""
    is_kept = why is ReturnReason.WATCHDOG
    return reads.why_kept(context.ports, context.node, context.now) if is_kept else word_of_lost_taint(context.node)


def _free(context: ReleaseContext, uid: str, why: ReturnReason) -> None:
    ports, order = context.ports, context.order
    finish.restore_node(ports, order.node, uid, order.order_id)
    gave_way_for = context.record.gave_way_for if context.record else ()
    finish.settle_claim(ports, uid, order.order_id, why, gave_way_for)


def _with_order_id(order: Order, claim: Claim | None, node: Node | None) -> Order:
    """A person names only the node: the claim that stands, or else what we wrote on the node, names the order."""
    if order.origin is Origin.PLANNER:
        return order
    held = holding_order(node) if node else None
    return replace(order, order_id=(claim.order_id if claim else held) or order.order_id)


def _reason(order: Order) -> ReturnReason:
    found = reason_of_word(order.why, ReturnReason) if order.origin is Origin.PLANNER else None
    return found if isinstance(found, ReturnReason) else ReturnReason.RELEASED
