"""The working loop of a drain: look, do the step that follows, write it down, look again. No rules here."""

from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace

from functions.drainer import finish
from functions.drainer.finish import post_event
from functions.drainer.observe import Observer
from functions.drainer.restart import restart
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.draining.completion import grace_seconds
from shared.core.draining.drain import (
    Await,
    Cordon,
    Evict,
    LastStep,
    LeaveToAutoscaler,
    Observation,
    Restart,
    ReturnNode,
    Settle,
    Step,
    WritePhase,
)
from shared.core.draining.replacements import replicas_before
from shared.core.records.drain_record import ASKED, DrainPhase, PodProgress
from shared.errors import Gone, Retryable, Stale, Terminal
from shared.ports import Eviction, Ports
from shared.store.drain_record import LeasedRecord

LOOK_AGAIN: Final = timedelta(seconds=2)  # After a failed read of what stands, and a write that somebody else overtook.


def work(ports: Ports, leased: LeasedRecord) -> None:
    """Work until the drain needs nothing more from this order; near the soft deadline go on in a new message."""
    finish.end(ports, leased, _work(ports, leased))


def _work(ports: Ports, leased: LeasedRecord) -> LastStep | None:
    """Return how the drain ends for this order; None if the step's time is over before."""
    observer, blind = Observer(ports, leased), False
    while leased.time.left() > 0:
        try:
            observed, step = observer.look()
        except (Retryable, Terminal) as fault:
            _look_again(ports, leased, fault, noted=blind)
            blind = True
            continue
        blind = False
        if (ending := _act(ports, leased, observed, step)) is not None:
            return ending
    return None


def _look_again(ports: Ports, leased: LeasedRecord, fault: Retryable | Terminal, *, noted: bool) -> None:
    """Pass over a failed read: Pub/Sub would repeat after minutes. Raises it at the end of the step's time."""
    if leased.time.left() <= LOOK_AGAIN.total_seconds():
        raise fault
    if not noted:
        message = f"A read failed; it is repeated: {fault}"
        ports.log.event("drain_step", message, severity="WARNING", reason=type(fault).__name__.lower())
    leased.time.rest(LOOK_AGAIN)


def _act(ports: Ports, leased: LeasedRecord, observed: Observation, step: Step) -> LastStep | None:
    """Carry one step out; return how the drain ends for this order, or None if it goes on."""
    match step:
        case Cordon(uncordoned):
            _cordon(ports, leased, uncordoned)
        case WritePhase(DrainPhase.CORDONED):
            _record_cordoned(ports, leased)
        case Await(pause):
            leased.time.rest(pause)
        case ReturnNode():
            _log_held(ports, leased, observed)
            return step
        case LeaveToAutoscaler() | Settle():
            return step
        case Evict() | Restart():
            before = replicas_before(leased.record, observed, step.pods)
            if isinstance(step, Evict):
                _evict(ports, leased, step.pods, before)
            else:
                return restart(ports, leased, step, before)
        case WritePhase():
            finish.record_drained(ports, leased, observed.node)
    return None


def _cordon(ports: Ports, leased: LeasedRecord, node: Node) -> None:
    leased.write()  # the lease's guard: fails when another step has overtaken this one
    order = leased.record.order
    ports.log.event("drain_step", "The node is to be cordoned.", act="cordon", result="attempted")
    try:
        taken = ports.cluster.take(node, order.order_id, leased.time.now())
    except (Stale, Gone):
        leased.time.rest(LOOK_AGAIN)  # the next look sees what changed, perhaps again and again
        return
    message = "The node is cordoned and carries our taint."
    ports.log.event("drain_step", message, act="cordon", result="succeeded")
    if leased.record.phase is DrainPhase.DRAINED:  # the autoscaler had cleared the cordon, which is set again
        leased.write(cordoned_again_at=leased.time.now())
        return
    message = f"Cordoned to be drained ({order.reason.value}), order {order.order_id}."
    post_event(ports, taken, "EbbCordoned", message)
    _record_cordoned(ports, leased)


def _record_cordoned(ports: Ports, leased: LeasedRecord) -> None:
    leased.write(phase=DrainPhase.CORDONED, cordoned_at=leased.time.now())
    message = "The pods are evicted once the cordon has settled."
    ports.log.event("drain_step", message, phase=DrainPhase.CORDONED.value)


def _evict(ports: Ports, leased: LeasedRecord, pods: tuple[Pod, ...], before: dict[str, Any]) -> None:
    """Ask for evictions; what is asked is written before, for an answer may be lost with the step that asked."""
    known = leased.record.pods
    progress = {pod.key: _progress_after_request(pod, known.get(pod.key), leased.time.now()) for pod in pods}
    leased.write(**before, pods={**known, **progress})  # fails when we were overtaken
    cluster, most = ports.cluster, leased.record.max_grace
    answers = ports.together(lambda pod: cluster.evict(pod, grace_seconds(pod, most)), pods, len(pods))
    answered: dict[str, PodProgress] = {}
    for pod, reply in zip(pods, answers, strict=True):
        now = leased.time.now()
        _log_eviction(ports, pod, reply, known.get(pod.key), now)
        answered[pod.key] = replace(
            progress[pod.key], answer=reply.answer.value, detail=reply.detail, refused=reply.refused, at=now
        )
    leased.write(pods={**known, **answered})


def _progress_after_request(pod: Pod, before: PodProgress | None, now: datetime) -> PodProgress:
    attempts = before.attempts + 1 if before and before.uid == pod.uid else 1
    return PodProgress(uid=pod.uid, answer=ASKED, owner=pod.spec.workload, attempts=attempts, at=now)


def _log_eviction(ports: Ports, pod: Pod, reply: Eviction, before: PodProgress | None, now: datetime) -> None:
    """Log the answer, and which PodDisruptionBudget has held the pod since the answer before."""
    fields = {"pod": pod.key, "answer": reply.answer.value, "detail": reply.detail, **_budget_fields(pod, before, now)}
    ports.log.event("eviction", f"{pod.key}: {reply.answer.value}", **fields)


def _log_held(ports: Ports, leased: LeasedRecord, observed: Observation) -> None:
    """Log the pods that a PodDisruptionBudget has held to the end: a shut one is not asked again and again."""
    for pod in observed.pods:
        row = leased.record.pods.get(pod.key)
        if row is not None and (held := _budget_fields(pod, row, leased.time.now())):
            fields = {"pod": pod.key, "answer": row.answer, "detail": row.detail, **held}
            ports.log.event("eviction", f"{pod.key}: held", **fields)


def _budget_fields(pod: Pod, before: PodProgress | None, now: datetime) -> dict[str, Any]:
    held = before.held_by_budget(pod.uid, now) if before else None
    return {"pdb": held[0], "blocked_seconds": round(held[1].total_seconds(), 3)} if held else {}
