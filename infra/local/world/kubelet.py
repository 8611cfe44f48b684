"""Kubelets of the simulated cluster: pods start, become Ready and end; nodes come, boot and go."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from infra.local.clocks import seconds_of, stamp
from infra.local.world.disks import claims_of, disks_of, held_elsewhere
from infra.local.world.kinds import Json
from infra.local.world.pods import (
    annotations_of,
    condition_of,
    is_finished,
    is_ready,
    is_terminating,
    node_of,
    phase_of,
    set_condition,
)
from infra.local.world.store import Store

ACTOR = "kubelet"
PREFIX = "local.ebb.internal/"


@dataclass(frozen=True)
class KubeletTimes:
    """Seconds of world time: to readiness (drawn between the two) and to shut down (None: the whole grace).

    `attach` comes before readiness where a pod has a disk: it is detached elsewhere first, and attached here.
    """

    ready_after: tuple[float, float] = (2.0, 5.0)
    shutdown: float | None = None
    attach: float = 0.0


def knob(pod: Json, name: str) -> str | None:
    """The value of one of the steering annotations, or None."""
    return annotations_of(pod).get(PREFIX + name)


def run(pod: Json, now: float, *, ready: bool) -> None:
    """Write the status of a pod whose containers have started."""
    pod.setdefault("status", {})["phase"] = "Running"
    pod["status"].setdefault("startTime", stamp(now))
    for name in ("Initialized", "PodScheduled"):
        set_condition(pod, now, {"type": name, "status": "True"})
    for name in ("ContainersReady", "Ready"):
        set_condition(pod, now, {"type": name, "status": str(ready)})


def _succeed(pod: Json, now: float) -> None:
    pod["status"]["phase"] = "Succeeded"
    set_condition(pod, now, {"type": "Ready", "status": "False", "reason": "PodCompleted"})


class Kubelet:
    """Runs the pods that are bound to living nodes. `dead` names nodes whose kubelet has stopped."""

    def __init__(self, store: Store, times: KubeletTimes) -> None:
        self._store = store
        self._times = times
        self._ready_at: dict[str, float] = {}
        self._gone_at: dict[str, float] = {}
        self.dead: set[str] = set()

    def step(self, now: float) -> None:
        known: set[str] = set()
        for pod in self._store.all("pods"):
            known.add(pod["metadata"]["uid"])
            if node_of(pod) and node_of(pod) not in self.dead:
                self._tend(pod, now)
        for due in (self._ready_at, self._gone_at):
            for uid in due.keys() - known:
                del due[uid]

    def _tend(self, pod: Json, now: float) -> None:
        if is_terminating(pod):
            self._end(pod, now)
        elif not is_finished(pod):
            self._start(pod, now)
            self._finish(pod, now)

    def _start(self, pod: Json, now: float) -> None:
        ready = knob(pod, "never-ready") != "true"
        if phase_of(pod) == "Running" and (is_ready(pod) or not ready):
            return
        uid = pod["metadata"]["uid"]
        if uid not in self._ready_at:
            if self._waits_for_disk(pod):
                return
            own = knob(pod, "ready-after")
            drawn = self._store.random.uniform(*self._times.ready_after)
            attach = self._times.attach if any(claims_of(pod)) else 0.0
            self._ready_at[uid] = now + attach + (drawn if own is None else float(own))
        if self._ready_at[uid] <= now:
            self._write(pod, lambda thing: run(thing, now, ready=ready))

    def _waits_for_disk(self, pod: Json) -> bool:
        """Whether a disk is still attached elsewhere, for a pod that uses it there has not ended."""
        return any(claims_of(pod)) and held_elsewhere(pod, self._store.all("pods"), disks_of(self._store.all))

    def _finish(self, pod: Json, now: float) -> None:
        length, started = knob(pod, "run-for"), pod.get("status", {}).get("startTime")
        if length is not None and started is not None and seconds_of(started) + float(length) <= now:
            self._write(pod, lambda thing: _succeed(thing, now))

    def _end(self, pod: Json, now: float) -> None:
        meta = pod["metadata"]
        own = knob(pod, "shutdown")
        needed = self._times.shutdown if own is None else float(own)
        if meta["uid"] not in self._gone_at and needed is not None:
            self._gone_at[meta["uid"]] = now + needed
        deadline = seconds_of(meta["deletionTimestamp"])
        if min(self._gone_at.get(meta["uid"], deadline), deadline) <= now:
            self._store.remove("pods", meta["namespace"], meta["name"], ACTOR)

    def _write(self, pod: Json, change: Callable[[Json], None]) -> None:
        self._store.update("pods", pod["metadata"]["namespace"], pod["metadata"]["name"], change, ACTOR)


NODES_ACTOR = "node-controller"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"


def set_ready(node: Json, now: float, status: str) -> None:
    """Write the node's Ready condition and the taint that goes with it."""
    reason = {"True": "KubeletReady", "False": "KubeletNotReady"}.get(status, "NodeStatusUnknown")
    set_condition(node, now, {"type": "Ready", "status": status, "reason": reason})
    taints: list[Json] = node["spec"].get("taints") or []
    kept = [taint for taint in taints if taint["key"] not in {NOT_READY, UNREACHABLE}]
    if status != "True":
        key = NOT_READY if status == "False" else UNREACHABLE
        kept.append({"key": key, "effect": "NoSchedule"})
    node["spec"]["taints"] = kept
    if not kept:
        del node["spec"]["taints"]


class NodeController:
    """Boots new nodes and notices dead ones. `boot` is seconds from creation to Ready."""

    def __init__(self, store: Store, kubelet: Kubelet, boot: float) -> None:
        self._store = store
        self._kubelet = kubelet
        self._boot = boot

    def step(self, now: float) -> None:
        for node in self._store.all("nodes"):
            wanted = self._wanted(node, now)
            if (condition_of(node, "Ready") or {}).get("status") != wanted:
                name = node["metadata"]["name"]
                self._store.update("nodes", "", name, partial(set_ready, now=now, status=wanted), NODES_ACTOR)

    def _wanted(self, node: Json, now: float) -> str:
        if node["metadata"]["name"] in self._kubelet.dead:
            return "Unknown"
        booted = seconds_of(node["metadata"]["creationTimestamp"]) + self._boot <= now
        return "True" if booted else "False"
