"""The working loop of a drain: look, ask the core for the next step, do it, write it down, look again.

No rule lives here, and what is seen is `observe`'s.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace as changed

from functions.drainer import finish
from functions.drainer.observe import Observer
from functions.drainer.other_drains import with_others
from functions.drainer.session import ActionResult, DrainSession, NodeAction
from functions.drainer.surge import restart
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.draining.completion import grace_seconds
from shared.core.draining.next_step import next_step
from shared.core.draining.observation import Observation
from shared.core.draining.replacements import with_baselines
from shared.core.draining.steps import (
    Await,
    Compare,
    Cordon,
    Evict,
    GiveBack,
    LeaveToAutoscaler,
    Prove,
    RecordPhase,
    Restart,
    Settle,
    Step,
    held_by_budget,
)
from shared.core.records.drain_record import ASKED, DrainPhase, PodProgress
from shared.core.records.orders import continuation
from shared.errors import Gone, Retryable, Stale, Terminal
from shared.port_types import Eviction

LOOK_AGAIN: Final = timedelta(seconds=2)
"""After a failed read of what stands."""


def work(session: DrainSession) -> None:
    """Work until the drain needs nothing more from this order; near the soft deadline go on in a new message."""
    observer, blind = Observer(session), False
    while session.time.left() > 0:
        session.leased.renew(session.time.now())
        try:
            observed, step = _look(session, observer)
        except (Retryable, Terminal) as fault:
            _look_again(session, fault, noted=blind)
            blind = True
            continue
        blind = False
        session = session.with_pool(observed.claim.pool if observed.claim else "").with_policy(observed.policy)
        if _carry_out(session, observed, step):
            return
    _continue_later(session)


def _look(session: DrainSession, observer: Observer) -> tuple[Observation, Step]:
    """Return what stands and the step that follows, with the proof of placement if that is what follows."""
    observed, step = _observe(session, observer)
    if isinstance(step, Prove) and observed.node is not None:
        observer.prove(observed.node)  # and look at once, however long that took: in a new message it would be old
        session.leased.renew(session.time.now())
        return _observe(session, observer)
    return observed, step


def _look_again(session: DrainSession, fault: Retryable | Terminal, *, noted: bool) -> None:
    """Pass over a failed read: Pub/Sub repeats a message after minutes, and what was moved may wait for a place.

    Raises:
        Retryable, Terminal: the step's time is over; from here Pub/Sub repeats the message.
    """
    if session.time.left() <= LOOK_AGAIN.total_seconds():
        raise fault
    if not noted:
        message = f"A read failed; it is repeated: {fault}"
        session.log_event("drain_step", message, severity="WARNING", reason=type(fault).__name__.lower())
    session.time.rest(LOOK_AGAIN)


def _continue_later(session: DrainSession) -> None:
    """Checkpoint, publish the continuation, then let the message be acknowledged.

    The generation in the record stays ours until the continuation is opened, so that this message still
    counts if publishing fails.
    """
    session.leased.close(session.time.now())
    session.ports.orders.publish(continuation(session.order, session.order.generation))
    session.log_event("drain_step", "The step's time is over; the drain goes on in a new message.", reason="continued")


def _observe(session: DrainSession, observer: Observer) -> tuple[Observation, Step]:
    now = session.time.now()
    observed = observer.observe()
    step = _choose_step(session, observed, now)
    if not isinstance(step, GiveBack):
        return observed, step
    observed = observer.observe_anew()  # what undoes a drain rests on what stands in this moment
    return observed, _choose_step(session, observed, session.time.now())


def _choose_step(session: DrainSession, observed: Observation, now: datetime) -> Step:
    step = next_step(session.record, observed, now)
    if isinstance(step, Compare):
        return next_step(session.record, with_others(session, observed), now)
    return step


def _carry_out(session: DrainSession, observed: Observation, step: Step) -> bool:
    """Carry one step out and return whether it was the last."""
    match step:
        case Cordon(uncordoned):
            _cordon(session, uncordoned)
        case RecordPhase(DrainPhase.DRAINED):
            _record_drained(session, observed.node)
        case RecordPhase():
            _record_cordoned(session)
        case Restart():
            return restart(session, observed, step)
        case Evict(pods):
            _evict(session, observed, pods)
        case Await(pause):
            session.time.rest(pause)
        case LeaveToAutoscaler():
            session.leased.close(session.time.now())
            finish.mark_claim_drained(session)
            return True
        case GiveBack(why, detail, gave_way_for):
            _log_held(session, observed)
            finish.give_back(session, session.record.node_uid, why, detail, gave_way_for)
            return True
        case Settle():
            finish.settle_removed(session, session.record.node_uid)
            return True
    return False


def _cordon(session: DrainSession, node: Node) -> None:
    session.leased.write(session.time.now())  # the fence: fails when another step has overtaken this one
    try:
        taken = _take_node(session, node)
    except (Stale, Gone):
        return  # the next look sees what changed
    if session.record.phase is DrainPhase.DRAINED:  # the autoscaler had cleared the cordon, which is set again
        now = session.time.now()
        session.leased.write(now, cordoned_again_at=now)
        return
    session.post_event(
        taken, "EbbCordoned", f"Cordoned to be drained ({session.order.reason.value}), order {session.order.order_id}."
    )
    _record_cordoned(session)


def _take_node(session: DrainSession, node: Node) -> Node:
    """Cordon and own the node; attempt and success are told apart (docs/acceptance.md row 103)."""
    session.log_action(NodeAction.CORDON, ActionResult.ATTEMPTED, "The node is to be cordoned.")
    taken = session.ports.cluster.take(node, session.order.order_id, session.time.now())
    session.log_action(NodeAction.CORDON, ActionResult.SUCCEEDED, "The node is cordoned and carries our taint.")
    return taken


def _record_cordoned(session: DrainSession) -> None:
    now = session.time.now()
    session.leased.write(now, phase=DrainPhase.CORDONED, cordoned_at=now)
    session.log_event(
        "drain_step", "The pods are evicted once the cordon has settled.", phase=DrainPhase.CORDONED.value
    )


def _record_drained(session: DrainSession, node: Node | None) -> None:
    """The autoscaler's turn: the planner's passes settle the claim when the node is gone."""
    now = session.time.now()
    session.leased.write(now, phase=DrainPhase.DRAINED, drained_at=now)
    message = "The node is drained and left to the cluster autoscaler."
    session.log_action(
        NodeAction.DRAIN, ActionResult.SUCCEEDED, message, phase=DrainPhase.DRAINED.value, **session.stats(now)
    )
    session.post_event(node, "EbbDrained", "All pods have a node again; left to the cluster autoscaler.")
    finish.mark_claim_drained(session)


def _evict(session: DrainSession, observed: Observation, pods: tuple[Pod, ...]) -> None:
    """Ask for evictions; what is asked is written before, for an answer may be lost with the step that asked."""
    leased, known = session.leased, session.record.pods
    asked = {pod.key: _asked(pod, known.get(pod.key), session.time.now()) for pod in pods}
    stood = with_baselines(leased.record, observed, pods)
    room = leased.record.buffers or (dict(observed.proof.buffers) if observed.proof else {})
    # the fence: fails when we were overtaken
    leased.write(session.time.now(), before=stood, buffers=room, pods={**known, **asked})
    cluster, most = session.ports.cluster, leased.record.max_grace
    answers = session.ports.together(lambda pod: cluster.evict(pod, grace_seconds(pod, most)), pods, len(pods))
    answered: dict[str, PodProgress] = {}
    for pod, said in zip(pods, answers, strict=True):
        _log_eviction(session, pod, said, known.get(pod.key))
        answered[pod.key] = changed(
            asked[pod.key], answer=said.answer.value, detail=said.detail, refused=said.refused, at=session.time.now()
        )
    leased.write(session.time.now(), pods={**known, **answered})


def _asked(pod: Pod, before: PodProgress | None, now: datetime) -> PodProgress:
    attempts = before.attempts + 1 if before and before.uid == pod.uid else 1
    return PodProgress(uid=pod.uid, answer=ASKED, owner=pod.spec.workload, attempts=attempts, at=now)


def _log_eviction(session: DrainSession, pod: Pod, answer: Eviction, before: PodProgress | None) -> None:
    """Tell the answer, and which PodDisruptionBudget has held the pod since the answer before."""
    said, held = answer.answer.value, _held(session, pod, before)
    session.log_event("eviction", f"{pod.key}: {said}", pod=pod.key, answer=said, detail=answer.detail, **held)


def _log_held(session: DrainSession, observed: Observation) -> None:
    """Tell of the pods that a PodDisruptionBudget has held to the end: a shut one is not asked again and again."""
    for pod in observed.pods:
        row = session.record.pods.get(pod.key)
        if row is not None and (held := _held(session, pod, row)):
            session.log_event("eviction", f"{pod.key}: held", pod=pod.key, answer=row.answer, detail=row.detail, **held)


def _held(session: DrainSession, pod: Pod, before: PodProgress | None) -> dict[str, Any]:
    held = held_by_budget(before, pod.uid, session.time.now())
    return {"pdb": held[0], "blocked_seconds": round(held[1].total_seconds(), 3)} if held else {}
