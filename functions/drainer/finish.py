"""Ends a drain: node, record, claim, log line and result; undoes what the drain wrote."""

from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace as changed

from functions.drainer.session import ActionResult, DrainSession, NodeAction
from shared.core.cluster.node import Node, holding_order
from shared.core.cluster.workloads import Deployment
from shared.core.draining.cordon import untainted
from shared.core.draining.evicting import counted_at
from shared.core.draining.surging import left_to_people, restarts, stamp_to_restore, take_back_by_hand
from shared.core.reasons import Halt, Outcome, Reason
from shared.core.records.claims import left_to_person, mark_drained, settle
from shared.core.records.drain_record import DrainPhase, Surge
from shared.core.records.orders import outcome_of, result_of
from shared.core.records.state import ClusterState
from shared.errors import Gone, Retryable, Stale, Terminal
from shared.store.compare_and_set import change_cluster
from shared.store.drain_record import report_result

TRIES: Final = 5


def undo_restarts(session: DrainSession) -> None:
    """Undo what hangs of the restarts that this drain asked for; what is rolled out, or another's by now, is left.

    Raises:
        Retryable: the record could not be written; a later step goes on.
        Stale: somebody else has written the record of the drain, which is over.
    """
    surges = {name: _looked_at(session, name, asked) for name, asked in restarts(session.record)}
    if surges == session.record.surges or not surges:
        return
    if session.record.phase is DrainPhase.SETTLED:
        session.leased.amend(surges=surges)
    else:
        session.leased.remember(surges=surges)


def _looked_at(session: DrainSession, name: str, asked: Surge) -> Surge:
    """Undo one, and return what is known of it now: by that a pass sees whether another look is worth a release."""
    try:
        generation = _undo(session, name, asked)
    except Retryable as fault:
        _log(session, name, "later", f"{fault}; the next passes try again", severity="WARNING")
        return asked
    except Terminal as fault:  # the node is given back all the same; a person has to undo the rest
        _log(session, name, "stuck", f"{fault}; {take_back_by_hand(name)}", severity="WARNING")
        is_over = session.record.phase is DrainPhase.SETTLED
        return changed(asked, stuck=True, refused=asked.refused + int(is_over))
    return changed(asked, stuck=False, looked_at=generation)


def _undo(session: DrainSession, name: str, asked: Surge) -> int | None:
    """Return the generation at which nothing of ours was left; None where it was undone now, or is no more."""
    for _ in range(TRIES):
        try:
            return _restore(session, session.ports.cluster.deployment(name), asked)
        except Gone:
            return None
        except Stale:
            continue
    raise Retryable("deployment", f"{name} changed {TRIES} times while its restart was being undone")


def _restore(session: DrainSession, found: Deployment, asked: Surge) -> int | None:
    stamp = stamp_to_restore(found, asked, session.record.order.order_id)
    if stamp is None:
        _log(session, found.name, "left", "nothing of the restart hangs, or it is somebody else's by now")
        return found.generation
    session.ports.cluster.restart(found, stamp)
    _log(session, found.name, "undone", "the old pod's template is the newest again")
    return None


def _log(session: DrainSession, name: str, answer: str, detail: str, severity: str = "INFO") -> None:
    message = f"{name}: {answer}, {detail}"
    session.log_event("surge", message, severity=severity, workload=name, answer=answer, detail=detail)


def give_back(session: DrainSession, uid: str, why: Halt, detail: str = "", gave_way_for: tuple[str, ...] = ()) -> None:
    """Uncordon and untaint the node if it is ours, undo restarts, back off, settle; `gave_way_for` as in the step.

    The node comes first: a Deployment that cannot be written (its webhook is down) must not keep it cordoned.

    Raises:
        Retryable: the node or a document could not be written; the record says `halting`, so a later step goes on.
        Stale: another step has overtaken this one.
    """
    record = session.record
    if record.phase is not DrainPhase.HALTING:
        begun = {
            "phase": DrainPhase.HALTING,
            "node_uid": uid,
            "why": why.value,
            "detail": detail,
            "gave_way_for": gave_way_for,
        }
        session.leased.write(session.time.now(), **begun)
    node = restore_node(session, session.order.node, uid, record.order.order_id)
    undo_restarts(session)
    session = session.with_pool(node.pool if node else "")
    session.post_event(node, "EbbGaveNodeBack", f"{why.sentence} {detail}".strip())
    _wait_until_counted(session)
    settle_claim(session, uid, record.order.order_id, why, session.record.gave_way_for)
    said = (detail, left_to_people(session.record))
    conclude(session, outcome_of(why), why, "; ".join(part for part in said if part))


def resume(session: DrainSession) -> None:
    """End a drain whose ending had begun, for the reason it was begun for. Raises as `give_back`.

    A reason that another version gave, and this one does not know, becomes a detail.
    """
    record = session.record
    why = next((halt for halt in Halt if halt.value == record.why), None)
    if why is None:
        give_back(session, record.node_uid, Halt.ORPHAN, f"{record.why}: {record.detail}".rstrip(": "))
        return
    give_back(session, record.node_uid, why, record.detail)


def settle_removed(session: DrainSession, uid: str) -> None:
    """Settle a drain whose node is gone; the record first, for a step that was overtaken must not end the claim.

    A crash in between leaves a claim without a node, which the next pass settles.
    """
    conclude(session, Outcome.REMOVED)
    _wait_until_counted(session)
    settle_claim(session, uid, session.record.order.order_id, None)


def conclude(session: DrainSession, outcome: Outcome, why: Reason | None = None, detail: str = "", **more: Any) -> None:
    """Write the outcome to the record, the log and the results topic; `more` is for the record alone."""
    now = session.time.now()
    session.leased.settle(now, outcome, why, detail, **more)
    result = result_of(session.record.order, outcome, why, detail)
    sentence = f"{outcome.sentence} {_because(why, detail)}".strip()
    report_result(session.log_event, session.ports.orders, result, sentence, **session.stats(now))


def _because(why: Reason | None, detail: str) -> str:
    """The details of a refusal are whole sentences, the reason's own first; other details follow it."""
    said = why.sentence if why else ""
    return detail if detail.startswith(said) else f"{said} {detail}".strip()


def restore_node(session: DrainSession, name: str, uid: str, order_id: str) -> Node | None:
    """Undo what that order did to the node; None when that node is gone.

    Where somebody has removed our taint alone, our annotation proves whose the cordon is, and it is undone too.
    """
    cluster = session.ports.cluster
    for _ in range(TRIES):
        try:
            node = cluster.node(name)
            if node.uid != uid:
                return None
            return _uncordon(session.with_pool(node.pool), node, order_id) if holding_order(node) == order_id else node
        except Gone:
            return None
        except Stale:
            continue
    raise Retryable("node", f"{name} changed {TRIES} times while it was being given back")


def mark_claim_drained(session: DrainSession) -> None:
    """Let other drains move the workloads whose pods this one has moved; done once, and safe to repeat."""
    record = session.record
    _wait_until_counted(session)

    def change(state: ClusterState, now: datetime) -> ClusterState:
        del now
        return mark_drained(state, record.node_uid, record.order.order_id)

    change_cluster(session.ports.state, session.ports.clock, change)


def _wait_until_counted(session: DrainSession) -> None:
    """Keep what the claim moves until the workloads' status counts the pods let go as away: other drains go by it."""
    seen = counted_at(session.record)
    if seen is not None:
        session.time.rest(seen - session.time.now())


def _uncordon(session: DrainSession, node: Node, order_id: str) -> Node:
    """Take the taint off and uncordon; attempt and success are told apart (docs/acceptance.md row 103)."""
    if node.drain_taint is None and not node.unschedulable:  # all but the annotation is undone already
        return session.ports.cluster.give_back(node, order_id)
    session.log_action(
        NodeAction.UNCORDON,
        ActionResult.ATTEMPTED,
        f"The node is to be uncordoned and untainted. {untainted(node)}".strip(),
    )
    freed = session.ports.cluster.give_back(node, order_id)
    if freed.unschedulable:
        session.log_event(
            "drain_step", "The node stays cordoned: somebody has cordoned it since.", reason="cordoned_by_other"
        )
        return freed
    session.log_action(NodeAction.UNCORDON, ActionResult.SUCCEEDED, "The node is uncordoned and free of our taint.")
    return freed


def leave_to_person(session: DrainSession, uid: str, why: Halt) -> None:
    """Leave a node alone that a person wants and no claim holds; before it is freed, for then nothing tells of it."""

    def change(state: ClusterState, now: datetime) -> ClusterState | None:
        return left_to_person(state, uid, session.order.node, why, now)

    change_cluster(session.ports.state, session.ports.clock, change)


def settle_claim(
    session: DrainSession, uid: str, order_id: str, why: Halt | None, gave_way_for: tuple[str, ...] = ()
) -> None:
    """Take the order's claim out of the budgets, with a back-off if the drain failed."""

    def change(state: ClusterState, now: datetime) -> ClusterState | None:
        claim = state.claims.get(uid)
        return settle(state, uid, why, now, gave_way_for) if claim and claim.order_id == order_id else None

    change_cluster(session.ports.state, session.ports.clock, change)
