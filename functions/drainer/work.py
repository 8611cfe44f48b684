"""The working loop of a drain: look, ask the core for the next step, do it, write it down, look again.

No rule lives here, and what is seen is `eyes`'.
"""

from datetime import datetime
from typing import Any

from msgspec.structs import replace as changed

from functions.drainer import finish as ending
from functions.drainer.observe import Eyes
from functions.drainer.other_drains import with_others
from functions.drainer.session import Act, Desk, Result
from shared.core.cluster.snapshot import Node, Pod
from shared.core.draining.drain_stats import held_by_budget
from shared.core.draining.next_step import grace_seconds, next_step
from shared.core.draining.observation import Scene
from shared.core.draining.replacements import with_first
from shared.core.draining.steps import Await, Compare, Cordon, Evict, GiveBack, Leave, Note, Prove, Settle, Step
from shared.core.records.evictions import ASKED
from shared.core.records.state import DrainPhase, PodProgress
from shared.errors import Gone, Stale
from shared.ports import Eviction


def work(desk: Desk) -> bool:
    """Work until the drain needs nothing more from this order (True) or the soft deadline is near (False)."""
    eyes = Eyes(desk)
    while desk.time.left() > 0:
        scene, step = _look(desk, eyes)
        if isinstance(step, Prove) and scene.node is not None:
            eyes.prove(scene.node)
            scene, step = _look(desk, eyes)  # at once, however long that took: in a new message it would be too old
        if _done(desk, scene, step):
            return True
    return False


def _look(desk: Desk, eyes: Eyes) -> tuple[Scene, Step]:
    now = desk.time.now()
    desk.ledger.renew(now)
    scene = eyes.look()
    step = _next(desk, scene, now)
    if not isinstance(step, GiveBack):
        return scene, step
    scene = eyes.look_anew()  # what undoes a drain rests on what stands in this moment
    return scene, _next(desk, scene, desk.time.now())


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
            _tell_held(desk, scene)
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
    """Cordon and own the node; attempt and success are told apart (docs/acceptance.md row 103)."""
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
    """Ask for evictions; what is asked is written before, for an answer may be lost with the step that asked."""
    ledger, known = desk.ledger, desk.ledger.record.pods
    asked = {pod.key: _asked(pod, known.get(pod.key), desk.time.now()) for pod in pods}
    stood = with_first(ledger.record, scene, pods)
    ledger.write(desk.time.now(), before=stood, pods={**known, **asked})  # the fence: fails when we were overtaken
    cluster, most = desk.ports.cluster, ledger.record.max_grace
    answers = desk.ports.together(lambda pod: cluster.evict(pod, grace_seconds(pod, most)), pods, len(pods))
    answered: dict[str, PodProgress] = {}
    for pod, said in zip(pods, answers, strict=True):
        _tell_eviction(desk, pod, said, known.get(pod.key))
        answered[pod.key] = changed(asked[pod.key], answer=said.answer.value, detail=said.detail, at=desk.time.now())
    ledger.write(desk.time.now(), pods={**known, **answered})


def _asked(pod: Pod, before: PodProgress | None, now: datetime) -> PodProgress:
    attempts = before.attempts + 1 if before and before.uid == pod.uid else 1
    return PodProgress(uid=pod.uid, answer=ASKED, owner=pod.spec.workload, attempts=attempts, at=now)


def _tell_eviction(desk: Desk, pod: Pod, answer: Eviction, before: PodProgress | None) -> None:
    """Tell the answer, and which PodDisruptionBudget has held the pod since the answer before."""
    said, held = answer.answer.value, _held(desk, pod, before)
    desk.tell("eviction", f"{pod.key}: {said}", pod=pod.key, answer=said, detail=answer.detail, **held)


def _tell_held(desk: Desk, scene: Scene) -> None:
    """Tell of the pods that a PodDisruptionBudget has held to the end: a shut one is not asked again and again."""
    for pod in scene.pods:
        row = desk.ledger.record.pods.get(pod.key)
        if row is not None and (held := _held(desk, pod, row)):
            desk.tell("eviction", f"{pod.key}: held", pod=pod.key, answer=row.answer, detail=row.detail, **held)


def _held(desk: Desk, pod: Pod, before: PodProgress | None) -> dict[str, Any]:
    held = held_by_budget(before, pod.uid, desk.time.now())
    return {"pdb": held[0], "blocked_seconds": round(held[1].total_seconds(), 3)} if held else {}
