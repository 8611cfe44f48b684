"""The working loop of a drain: look, ask the core for the next step, do it, write it down, look again.

No rule lives here, and what is seen is `observe`'s. A Deployment whose pods are to leave without a gap is restarted: it
is read in the same moment, the record is written before it is touched, and the write holds only on the version read.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace

from functions.drainer import finish
from functions.drainer.finish import ActionResult, NodeAction, log_surge, post_event
from functions.drainer.observe import Observer, with_others
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Deployment
from shared.core.draining.completion import grace_seconds
from shared.core.draining.drain import (
    LOOK_EVERY,
    Await,
    Compare,
    Cordon,
    Evict,
    GiveBack,
    LeaveToAutoscaler,
    Observation,
    Prove,
    RecordPhase,
    Restart,
    Settle,
    Step,
    held_by_budget,
    log_fields,
    stats_of,
)
from shared.core.draining.next_step import next_step
from shared.core.draining.replacements import with_baselines
from shared.core.draining.surging import asked_of, is_taken_back, why_not_restart
from shared.core.reasons import Halt
from shared.core.records.drain_record import ASKED, DrainPhase, DrainRecord, PodProgress
from shared.core.records.orders import continuation
from shared.errors import Gone, Retryable, Stale, Terminal
from shared.port_types import Eviction
from shared.ports import Ports
from shared.store.drain_record import LeasedRecord

LOOK_AGAIN: Final = timedelta(seconds=2)
"""After a failed read of what stands."""


def work(ports: Ports, leased: LeasedRecord) -> None:
    """Work until the drain needs nothing more from this order; near the soft deadline go on in a new message."""
    observer, blind = Observer(ports, leased), False
    while leased.time.left() > 0:
        leased.renew()
        try:
            observed, step = _look(ports, leased, observer)
        except (Retryable, Terminal) as fault:
            _look_again(ports, leased, fault, noted=blind)
            blind = True
            continue
        blind = False
        if _carry_out(ports, leased, observed, step):
            return
    _continue_later(ports, leased)


def _look(ports: Ports, leased: LeasedRecord, observer: Observer) -> tuple[Observation, Step]:
    """Return what stands and the step that follows, with the proof of placement if that is what follows."""
    observed, step = _observe(ports, leased, observer)
    if isinstance(step, Prove) and observed.node is not None:
        observer.prove(observed.node)  # and look at once, however long that took: in a new message it would be old
        leased.renew()
        return _observe(ports, leased, observer)
    return observed, step


def _observe(ports: Ports, leased: LeasedRecord, observer: Observer) -> tuple[Observation, Step]:
    now = leased.time.now()
    observed = observer.observe()
    step = _choose_step(ports, leased, observed, now)
    if not isinstance(step, GiveBack):
        return observed, step
    observed = observer.observe_anew()  # what undoes a drain rests on what stands in this moment
    return observed, _choose_step(ports, leased, observed, leased.time.now())


def _choose_step(ports: Ports, leased: LeasedRecord, observed: Observation, now: datetime) -> Step:
    step = next_step(leased.record, observed, now)
    if isinstance(step, Compare):
        return next_step(leased.record, with_others(ports, leased, observed), now)
    return step


def _look_again(ports: Ports, leased: LeasedRecord, fault: Retryable | Terminal, *, noted: bool) -> None:
    """Pass over a failed read: Pub/Sub repeats a message after minutes, and what was moved may wait for a place.

    Raises:
        Retryable, Terminal: the step's time is over; from here Pub/Sub repeats the message.
    """
    if leased.time.left() <= LOOK_AGAIN.total_seconds():
        raise fault
    if not noted:
        message = f"A read failed; it is repeated: {fault}"
        ports.log.event("drain_step", message, severity="WARNING", reason=type(fault).__name__.lower())
    leased.time.rest(LOOK_AGAIN)


def _continue_later(ports: Ports, leased: LeasedRecord) -> None:
    """Checkpoint, publish the continuation, then let the message be acknowledged.

    The generation in the record stays ours until the continuation is opened, so that this message still
    counts if publishing fails.
    """
    leased.close()
    ports.orders.publish(continuation(leased.record.order, leased.record.generation))
    ports.log.event("drain_step", "The step's time is over; the drain goes on in a new message.", reason="continued")


def _carry_out(ports: Ports, leased: LeasedRecord, observed: Observation, step: Step) -> bool:
    """Carry one step out and return whether it was the last."""
    match step:
        case Cordon(uncordoned):
            _cordon(ports, leased, uncordoned)
        case RecordPhase(DrainPhase.DRAINED):
            _record_drained(ports, leased, observed.node)
        case RecordPhase():
            _record_cordoned(ports, leased)
        case Restart():
            return _restart(ports, leased, observed, step)
        case Evict(pods):
            _evict(ports, leased, observed, pods)
        case Await(pause):
            leased.time.rest(pause)
        case LeaveToAutoscaler(replaced):
            leased.close()
            finish.mark_claim_drained(ports, leased, replaced=replaced)
            return True
        case GiveBack(why, detail, gave_way_for):
            _log_held(ports, leased, observed)
            finish.give_back(ports, leased, leased.record.node_uid, why, detail, gave_way_for)
            return True
        case Settle():
            finish.settle_removed(ports, leased)
            return True
    return False


def _cordon(ports: Ports, leased: LeasedRecord, node: Node) -> None:
    leased.write()  # the fence: fails when another step has overtaken this one
    order, about = leased.record.order, {"act": NodeAction.CORDON}
    ports.log.event("drain_step", "The node is to be cordoned.", result=ActionResult.ATTEMPTED, **about)
    try:
        taken = ports.cluster.take(node, order.order_id, leased.time.now())
    except (Stale, Gone):
        return  # the next look sees what changed
    message = "The node is cordoned and carries our taint."
    ports.log.event("drain_step", message, result=ActionResult.SUCCEEDED, **about)
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


def _record_drained(ports: Ports, leased: LeasedRecord, node: Node | None) -> None:
    """The autoscaler's turn: the planner's passes settle the claim when the node is gone."""
    now = leased.time.now()
    leased.write(phase=DrainPhase.DRAINED, drained_at=now)
    ended = {"act": NodeAction.DRAIN, "result": ActionResult.SUCCEEDED, **log_fields(stats_of(leased.record, now))}
    message = "The node is drained and left to the cluster autoscaler."
    ports.log.event("drain_step", message, phase=DrainPhase.DRAINED.value, **ended)
    post_event(ports, node, "EbbDrained", "All pods have a node again; left to the cluster autoscaler.")
    finish.mark_claim_drained(ports, leased)


def _evict(ports: Ports, leased: LeasedRecord, observed: Observation, pods: tuple[Pod, ...]) -> None:
    """Ask for evictions; what is asked is written before, for an answer may be lost with the step that asked."""
    known = leased.record.pods
    asked = {pod.key: _asked(pod, known.get(pod.key), leased.time.now()) for pod in pods}
    leased.write(**_stood(leased.record, observed, pods), pods={**known, **asked})  # fails when we were overtaken
    cluster, most = ports.cluster, leased.record.max_grace
    answers = ports.together(lambda pod: cluster.evict(pod, grace_seconds(pod, most)), pods, len(pods))
    answered: dict[str, PodProgress] = {}
    for pod, reply in zip(pods, answers, strict=True):
        now = leased.time.now()
        _log_eviction(ports, pod, reply, known.get(pod.key), now)
        answered[pod.key] = replace(
            asked[pod.key], answer=reply.answer.value, detail=reply.detail, refused=reply.refused, at=now
        )
    leased.write(pods={**known, **answered})


def _stood(record: DrainRecord, observed: Observation, pods: tuple[Pod, ...]) -> dict[str, Any]:
    """Return how workloads and buffers stand before these pods move, for the record."""
    room = record.buffers or (dict(observed.proof.buffers) if observed.proof else {})
    return {"before": with_baselines(record, observed, pods), "buffers": room}


def _asked(pod: Pod, before: PodProgress | None, now: datetime) -> PodProgress:
    attempts = before.attempts + 1 if before and before.uid == pod.uid else 1
    return PodProgress(uid=pod.uid, answer=ASKED, owner=pod.spec.workload, attempts=attempts, at=now)


def _log_eviction(ports: Ports, pod: Pod, reply: Eviction, before: PodProgress | None, now: datetime) -> None:
    """Log the answer, and which PodDisruptionBudget has held the pod since the answer before."""
    fields = {"pod": pod.key, "answer": reply.answer.value, "detail": reply.detail, **_held(pod, before, now)}
    ports.log.event("eviction", f"{pod.key}: {reply.answer.value}", **fields)


def _log_held(ports: Ports, leased: LeasedRecord, observed: Observation) -> None:
    """Log the pods that a PodDisruptionBudget has held to the end: a shut one is not asked again and again."""
    for pod in observed.pods:
        row = leased.record.pods.get(pod.key)
        if row is not None and (held := _held(pod, row, leased.time.now())):
            fields = {"pod": pod.key, "answer": row.answer, "detail": row.detail, **held}
            ports.log.event("eviction", f"{pod.key}: held", **fields)


def _held(pod: Pod, before: PodProgress | None, now: datetime) -> dict[str, Any]:
    held = held_by_budget(before, pod.uid, now)
    return {"pdb": held[0], "blocked_seconds": round(held[1].total_seconds(), 3)} if held else {}


def _restart(ports: Ports, leased: LeasedRecord, observed: Observation, step: Restart) -> bool:
    """Restart a Deployment, or find that this drain has; True where that was refused for good and ends the drain.

    Raises:
        Stale: another step has overtaken this one.
    """
    record, order_id = leased.record, leased.record.order.order_id
    found = _read_deployment(ports, step.deployment)
    asked = record.surges.get(step.deployment)
    if found is None:  # what stood behind its pods is read again by and by
        leased.time.rest(LOOK_EVERY)
        return False
    if asked is not None and found.stamp == order_id:
        _record_written(ports, leased, found.name)  # an answer was lost, or the step that asked
        return False
    if asked is not None and is_taken_back(found, asked, order_id):
        detail = f"{found.name}: somebody has undone the restart, or changed it meanwhile"
        finish.give_back(ports, leased, record.node_uid, Halt.SURGE_FAILED, detail)
        return True
    if why_not_restart(found, step.pods):
        leased.time.rest(LOOK_EVERY)
        return False
    surges = {**record.surges, found.name: asked_of(found, leased.time.now())}
    leased.write(surges=surges, **_stood(record, observed, step.pods))  # before it is touched: fails when overtaken
    log_surge(ports, found.name, "asked", f"for {', '.join(pod.key for pod in step.pods)}")
    return _write_restart(ports, leased, found, is_first=asked is None)


def _read_deployment(ports: Ports, name: str) -> Deployment | None:
    try:
        return ports.cluster.deployment(name)
    except Gone:
        return None


def _write_restart(ports: Ports, leased: LeasedRecord, found: Deployment, *, is_first: bool) -> bool:
    try:
        ports.cluster.restart(found, leased.record.order.order_id)
    except (Stale, Gone):
        if is_first:  # else what an earlier attempt sent may be what changed it: it stays on record, to be undone
            others = {name: each for name, each in leased.record.surges.items() if name != found.name}
            leased.write(surges=others)
        return False  # the next look sees what changed
    except Terminal as fault:
        log_surge(ports, found.name, "refused", str(fault))
        finish.give_back(ports, leased, leased.record.node_uid, Halt.SURGE_REFUSED, str(fault))
        return True
    _record_written(ports, leased, found.name)
    return False


def _record_written(ports: Ports, leased: LeasedRecord, name: str) -> None:
    surges = leased.record.surges
    leased.write(surges={**surges, name: replace(surges[name], written=True, at=leased.time.now())})
    log_surge(ports, name, "restarted", "its controller ends the old pod once the new one is available")
