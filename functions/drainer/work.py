"""The working loop of a drain: look, ask the core for the next step, do it, write it down, look again.

No rule lives here, and what is seen is `eyes`'.
"""

from datetime import datetime
from typing import Any

from functions.drainer import ending
from functions.drainer.desk import Act, Desk, Result
from functions.drainer.eyes import Eyes
from functions.drainer.others import with_others
from shared.core.account import held_by_budget
from shared.core.draining import grace_seconds, next_step
from shared.core.replacements import with_first
from shared.core.scene import Scene
from shared.core.snapshot import Node, Pod
from shared.core.state import DrainPhase, PodProgress
from shared.core.steps import Await, Compare, Cordon, Evict, GiveBack, Leave, Note, Prove, Settle, Step
from shared.errors import Gone, Stale
from shared.ports import Eviction


def work(desk: Desk) -> bool:
    """Work until the drain needs nothing more from this order (True) or the soft deadline is near (False)."""
    eyes = Eyes(desk)
    while desk.time.left() > 0:
        now = desk.time.now()
        desk.ledger.renew(now)
        scene = eyes.look()
        step = _next(desk, scene, now)
        if isinstance(step, GiveBack):  # what undoes a drain rests on what stands in this moment
            scene = eyes.look_anew()
            step = _next(desk, scene, desk.time.now())
        if isinstance(step, Prove) and scene.node is not None:
            eyes.prove(scene.node)
        elif _done(desk, scene, step):
            return True
    return False


def _next(desk: Desk, scene: Scene, now: datetime) -> Step:
    step = next_step(desk.ledger.record, scene, now)
    if isinstance(step, Compare):
        return next_step(desk.ledger.record, with_others(desk, scene), now)
    return step


def _done(desk: Desk, scene: Scene, step: Step) -> bool:
    """Carry one step out and return whether it was the last."""
    match step:
        case Cordon(uncordoned):
            _cordon(desk, uncordoned)
        case Note(DrainPhase.DRAINED):
            _drained(desk, scene.node)
        case Note():
            _cordoned(desk)
        case Evict(pods):
            _evict(desk, scene, pods)
        case Await(pause):
            desk.time.rest(pause)
        case Leave():
            desk.ledger.close(desk.time.now())
            ending.give_turns_up(desk)
            return True
        case GiveBack(why, detail, moved):
            ending.give_back(desk, desk.ledger.record.node_uid, why, detail, moved)
            return True
        case Settle():
            ending.removed(desk, desk.ledger.record.node_uid)
            return True
    return False


def _cordon(desk: Desk, node: Node) -> None:
    desk.ledger.write(desk.time.now())  # the fence: fails when another step has overtaken this one
    try:
        taken = _take(desk, node)
    except (Stale, Gone):
        return  # the next look sees what changed
    if desk.ledger.record.phase is DrainPhase.DRAINED:
        return  # the autoscaler had cleared the cordon of the drained node; it is set again
    desk.note(taken, "EbbCordoned", f"Cordoned to be drained ({desk.order.reason.value}), order {desk.order.order_id}.")
    _cordoned(desk)


def _take(desk: Desk, node: Node) -> Node:
    """Cordon and own the node; attempt and success are told apart (acceptance row 103)."""
    desk.act(Act.CORDON, Result.ATTEMPTED, "The node is to be cordoned.")
    taken = desk.ports.cluster.take(node, desk.order.order_id, desk.time.now())
    desk.act(Act.CORDON, Result.SUCCEEDED, "The node is cordoned and carries our taint.")
    return taken


def _cordoned(desk: Desk) -> None:
    now = desk.time.now()
    desk.ledger.write(now, phase=DrainPhase.CORDONED, cordoned_at=now)
    desk.tell("drain_step", "The pods are evicted once the cordon has settled.", phase=DrainPhase.CORDONED.value)


def _drained(desk: Desk, node: Node | None) -> None:
    """The autoscaler's turn: the planner's passes settle the claim when the node is gone."""
    now = desk.time.now()
    desk.ledger.write(now, phase=DrainPhase.DRAINED, drained_at=now)
    message = "The node is drained and left to the cluster autoscaler."
    desk.act(Act.DRAIN, Result.SUCCEEDED, message, phase=DrainPhase.DRAINED.value, **desk.took(now))
    desk.note(node, "EbbDrained", "All pods have a node again; left to the cluster autoscaler.")
    ending.give_turns_up(desk)


def _evict(desk: Desk, scene: Scene, pods: tuple[Pod, ...]) -> None:
    stood = with_first(desk.ledger.record, scene, pods)
    desk.ledger.write(desk.time.now(), before=stood)  # the fence: fails when another step has overtaken this one
    cluster, most = desk.ports.cluster, desk.ledger.record.max_grace
    answers = desk.ports.together(lambda pod: cluster.evict(pod, grace_seconds(pod, most)), pods, len(pods))
    progress = dict(desk.ledger.record.pods)
    for pod, answer in zip(pods, answers, strict=True):
        before = progress.get(pod.key)
        _tell_eviction(desk, pod, answer, before)
        attempts = before.attempts + 1 if before and before.uid == pod.uid else 1
        progress[pod.key] = _progress(desk, pod, answer, attempts)
    desk.ledger.write(desk.time.now(), pods=progress)


def _tell_eviction(desk: Desk, pod: Pod, answer: Eviction, before: PodProgress | None) -> None:
    """Tell the answer, and which PodDisruptionBudget has held the pod since the answer before."""
    held = held_by_budget(before, pod.uid, desk.time.now())
    blocked: dict[str, Any] = {"pdb": held[0], "blocked_seconds": round(held[1].total_seconds(), 3)} if held else {}
    said = answer.answer.value
    desk.tell("eviction", f"{pod.key}: {said}", pod=pod.key, answer=said, detail=answer.detail, **blocked)


def _progress(desk: Desk, pod: Pod, answer: Eviction, attempts: int) -> PodProgress:
    return PodProgress(
        uid=pod.uid,
        answer=answer.answer.value,
        detail=answer.detail,
        owner=pod.spec.workload,
        attempts=attempts,
        at=desk.time.now(),
    )
