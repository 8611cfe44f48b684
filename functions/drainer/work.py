"""The working loop of a drain: look, ask the core for the next step, do it, write it down, look again.

No rule lives here. Each look reads the node and its pods afresh; what changes slowly (policy, claim, PDBs, the pods'
workloads, pods without a node) is read again every few seconds.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from functions.drainer import ending, pictures
from functions.drainer.desk import Act, Desk, Result
from functions.drainer.lingering import failed_at
from shared.cas import read_cluster
from shared.core.account import held_by_budget
from shared.core.drainability import movable
from shared.core.draining import grace_seconds, next_step
from shared.core.policy import Policy
from shared.core.scene import Scene
from shared.core.sharing import sharers
from shared.core.snapshot import Node, Pod
from shared.core.state import Claim, DrainPhase, PodProgress
from shared.core.steps import Await, Cordon, Evict, GiveBack, Note, Settle, Step
from shared.errors import BadPolicy, EbbError, Gone, Stale
from shared.ports import Eviction

SLOW_LOOK: Final = timedelta(seconds=5)


class Eyes:
    """What the drainer sees; the slow parts are remembered for a few seconds."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._slow: Scene | None = None
        self._looked_at = float("-inf")

    def look(self) -> Scene:
        """Return the scene of this moment. Raises Retryable when a part cannot be read."""
        node = self._node()
        pods = self._desk.ports.cluster.pods_on(node.name) if node else ()
        return replace(self._slow_look(pods), node=node, pods=pods, deletion_failed_at=self._failed_at(node))

    def _failed_at(self, node: Node | None) -> datetime | None:
        """Ask for the autoscaler's failures only where our cordon is gone and our taint is not."""
        cleared = node is not None and node.drain_taint is not None and not node.unschedulable
        return failed_at(self._desk, node) if node and cleared else None

    def _node(self) -> Node | None:
        record = self._desk.ledger.record
        try:
            node = self._desk.ports.cluster.node(record.order.node)
        except Gone:
            return None
        return node if node.uid == record.node_uid else None

    def _slow_look(self, pods: tuple[Pod, ...]) -> Scene:
        ports, now = self._desk.ports, self._desk.time.now()
        moment = ports.clock.monotonic()
        if self._slow is None or moment - self._looked_at >= SLOW_LOOK.total_seconds():
            state, _, _ = read_cluster(ports.state)
            seen = pictures.beside(ports, now)
            workloads, workloads_at = pictures.workloads(ports, movable(pods, now), now)
            self._slow = Scene(
                node=None,
                claim=self._claim(state.claims),
                disruption_budgets=seen.disruption_budgets,
                workloads=workloads,
                workloads_at=workloads_at,
                sharers=sharers(state.claims, self._desk.ledger.record.node_uid),
                working=sum(not claim.drained for claim in state.claims.values()),
                unbound=seen.unbound,
                policy=policy_in_reach(self._desk),
                paused=state.paused,
            )
            self._looked_at = moment
        return self._slow

    def _claim(self, claims: dict[str, Claim]) -> Claim | None:
        claim = claims.get(self._desk.ledger.record.node_uid)
        self._desk.pool = claim.pool if claim else self._desk.pool
        return claim


def read_policy(desk: Desk) -> Policy | None:
    """Return the policy, or None when it is missing or invalid, which is said in the log."""
    try:
        policy = desk.ports.policy.read()
    except BadPolicy as fault:
        desk.tell("policy_invalid", str(fault), severity="ERROR")
        return None
    desk.policy_hash = policy.hash
    return policy


def policy_in_reach(desk: Desk) -> Policy | None:
    """A drain that has begun does not hang on the policy's bucket: it ends by its claim's settings meanwhile."""
    try:
        return read_policy(desk)
    except EbbError as fault:
        desk.tell("drain_step", f"The drain goes on as it was begun: {fault}", severity="WARNING")
        return None


def work(desk: Desk) -> bool:
    """Work until the drain needs nothing more from this order (True) or the soft deadline is near (False)."""
    eyes = Eyes(desk)
    while desk.time.left() > 0:
        now = desk.time.now()
        desk.ledger.renew(now)
        scene = eyes.look()
        if _done(desk, scene.node, next_step(desk.ledger.record, scene, now)):
            return True
    return False


def look_after(desk: Desk) -> None:
    """A drained node, looked at once more: gone, taken back by a person, or uncordoned by the autoscaler."""
    scene = Eyes(desk).look()
    step = next_step(desk.ledger.record, scene, desk.time.now())
    if isinstance(step, Cordon):
        _take(desk, step.node, "The autoscaler had cleared the cordon of the drained node; it is set again.")
    if isinstance(step, GiveBack | Settle):
        _done(desk, scene.node, step)
        return
    desk.ledger.close(desk.time.now())
    ending.give_turns_up(desk)


def _done(desk: Desk, node: Node | None, step: Step) -> bool:
    """Carry one step out and return whether it was the last."""
    match step:
        case Cordon(uncordoned):
            _cordon(desk, uncordoned)
        case Note(DrainPhase.DRAINED):
            _drained(desk, node)
            return True
        case Note():
            _cordoned(desk)
        case Evict(pods):
            _evict(desk, pods)
        case Await(pause):
            desk.time.rest(pause)
        case GiveBack(why, detail):
            ending.give_back(desk, desk.ledger.record.node_uid, why, detail)
            return True
        case Settle():
            ending.removed(desk, desk.ledger.record.node_uid)
            return True
    return False


def _cordon(desk: Desk, node: Node) -> None:
    desk.ledger.write(desk.time.now())  # the fence: fails when another step has overtaken this one
    try:
        taken = _take(desk, node, "The node is to be cordoned.")
    except (Stale, Gone):
        return  # the next look sees what changed
    desk.note(taken, "EbbCordoned", f"Cordoned to be drained ({desk.order.reason.value}), order {desk.order.order_id}.")
    _cordoned(desk)


def _take(desk: Desk, node: Node, message: str) -> Node:
    """Cordon and own the node; attempt and success are told apart (acceptance row 103)."""
    desk.act(Act.CORDON, Result.ATTEMPTED, message)
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
    desk.ledger.close(now, phase=DrainPhase.DRAINED, drained_at=now)
    message = "The node is drained and left to the cluster autoscaler."
    desk.act(Act.DRAIN, Result.SUCCEEDED, message, phase=DrainPhase.DRAINED.value, **desk.took(now))
    desk.note(node, "EbbDrained", "All pods have moved; left to the cluster autoscaler.")
    ending.give_turns_up(desk)


def _evict(desk: Desk, pods: tuple[Pod, ...]) -> None:
    desk.ledger.write(desk.time.now())  # the fence: fails when another step has overtaken this one
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
