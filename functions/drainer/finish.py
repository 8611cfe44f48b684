"""How a drain ends: the node given back or seen gone, the claim settled, the result told. Safe to repeat.

The order of writes is the promise: first the record says that the drain is being ended, then the cluster is
put right, then the claim leaves the budgets, last the record is settled. A claim is settled only when the
node was seen gone or free of our taint (docs/decisions/claims.md).
"""

from datetime import datetime
from typing import Any, Final

from functions.drainer.session import Act, Desk, Result, word
from shared.core.cluster.annotation import held_for
from shared.core.cluster.snapshot import Node
from shared.core.draining.eviction_order import seen_at
from shared.core.draining.next_step import untainted
from shared.core.reasons import Halt, Outcome, Reason
from shared.core.records.claims import moved as drained
from shared.core.records.claims import settled
from shared.core.records.result import outcome_of, result_of
from shared.core.records.state import ClusterState, DrainPhase
from shared.errors import Gone, Retryable, Stale
from shared.store.compare_and_set import change_cluster

TRIES: Final = 5


def give_back(desk: Desk, uid: str, why: Halt, detail: str = "", moved: tuple[str, ...] = ()) -> None:
    """Uncordon and untaint the node if it is ours, back off, settle; `moved` as in the step of that name.

    Raises:
        Retryable: the node or a document could not be written; the record says `halting`, so a later step goes on.
        Stale: another step has overtaken this one.
    """
    record = desk.ledger.record
    if record.phase is not DrainPhase.HALTING:
        begun = {
            "phase": DrainPhase.HALTING,
            "node_uid": uid,
            "why": why.value,
            "detail": detail,
            "gave_way_for": moved,
        }
        desk.ledger.write(desk.time.now(), **begun)
    node = free(desk, desk.order.node, uid, record.order.order_id)
    desk.note(node, "EbbGaveNodeBack", f"{why.sentence} {detail}".strip())
    _until_seen(desk)
    settle_claim(desk, uid, record.order.order_id, why, desk.ledger.record.gave_way_for)
    finish(desk, outcome_of(why), why, detail)


def go_on(desk: Desk) -> None:
    """End a drain whose ending had begun, for the reason it was begun for. Raises as `give_back`.

    A reason that another version gave, and this one does not know, becomes a detail.
    """
    record = desk.ledger.record
    why = next((halt for halt in Halt if halt.value == record.why), None)
    if why is None:
        give_back(desk, record.node_uid, Halt.ORPHAN, f"{record.why}: {record.detail}".rstrip(": "))
        return
    give_back(desk, record.node_uid, why, record.detail)


def removed(desk: Desk, uid: str) -> None:
    """Settle a drain whose node is gone; the record first, for a step that was overtaken must not end the claim.

    A crash in between leaves a claim without a node, which the next pass settles.
    """
    finish(desk, Outcome.REMOVED)
    _until_seen(desk)
    settle_claim(desk, uid, desk.ledger.record.order.order_id, None)


def finish(desk: Desk, outcome: Outcome, why: Reason | None = None, detail: str = "", **more: Any) -> None:
    """Write the outcome to the record, the log and the results topic; `more` is for the record alone."""
    record, now = desk.ledger.record, desk.time.now()
    desk.ledger.close(now, phase=DrainPhase.SETTLED, outcome=outcome.value, why=word(why), detail=detail, **more)
    sentence = f"{outcome.sentence} {_because(why, detail)}".strip()
    desk.tell("drain_result", sentence, outcome=outcome.value, reason=word(why), detail=detail, **desk.took(now))
    desk.ports.orders.report(result_of(record.order, outcome, why, detail))


def _because(why: Reason | None, detail: str) -> str:
    """The details of a refusal are whole sentences, the reason's own first; other details follow it."""
    said = why.sentence if why else ""
    return detail if detail.startswith(said) else f"{said} {detail}".strip()


def free(desk: Desk, name: str, uid: str, order_id: str) -> Node | None:
    """Undo what that order did to the node; None when that node is gone.

    Where somebody has removed our taint alone, our annotation proves whose the cordon is, and it is undone too.
    """
    cluster = desk.ports.cluster
    for _ in range(TRIES):
        try:
            node = cluster.node(name)
            if node.uid != uid:
                return None
            desk.pool = node.pool
            return _uncordoned(desk, node, order_id) if held_for(node) == order_id else node
        except Gone:
            return None
        except Stale:
            continue
    raise Retryable("node", f"{name} changed {TRIES} times while it was being given back")


def give_turns_up(desk: Desk) -> None:
    """Let other drains move the workloads whose pods this one has moved; done once, and safe to repeat."""
    record = desk.ledger.record
    _until_seen(desk)

    def change(state: ClusterState, now: datetime) -> ClusterState:
        del now
        return drained(state, record.node_uid, record.order.order_id)

    change_cluster(desk.ports.state, desk.ports.clock, change)


def _until_seen(desk: Desk) -> None:
    """Keep the turns until the workloads' status counts the pods let go as away: other drains go by it."""
    seen = seen_at(desk.ledger.record)
    if seen is not None:
        desk.time.rest(seen - desk.time.now())


def _uncordoned(desk: Desk, node: Node, order_id: str) -> Node:
    """Take the taint off and uncordon; attempt and success are told apart (docs/acceptance.md row 103)."""
    if node.drain_taint is None and not node.unschedulable:  # all but the annotation is undone already
        return desk.ports.cluster.give_back(node, order_id)
    desk.act(Act.UNCORDON, Result.ATTEMPTED, f"The node is to be uncordoned and untainted. {untainted(node)}".strip())
    freed = desk.ports.cluster.give_back(node, order_id)
    if freed.unschedulable:
        desk.tell("drain_step", "The node stays cordoned: somebody has cordoned it since.", reason="cordoned_by_other")
        return freed
    desk.act(Act.UNCORDON, Result.SUCCEEDED, "The node is uncordoned and free of our taint.")
    return freed


def settle_claim(desk: Desk, uid: str, order_id: str, why: Halt | None, moved: tuple[str, ...] = ()) -> None:
    """Take the order's claim out of the budgets, with a back-off if the drain failed."""

    def change(state: ClusterState, now: datetime) -> ClusterState | None:
        claim = state.claims.get(uid)
        return settled(state, uid, why, now, moved) if claim and claim.order_id == order_id else None

    change_cluster(desk.ports.state, desk.ports.clock, change)
