"""How pods and nodes begin and end: kubelets, the node controller, graceful deletion and garbage collection."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from infra.local.clocks import seconds_of, stamp
from infra.local.world.disks import claims_of, disks_of, held_elsewhere
from infra.local.world.kinds import KINDS, PLURAL_OF_KIND, Json
from infra.local.world.pods import (
    annotations_of,
    condition_of,
    controller_of,
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


DEFAULT_GRACE = 30


def _grace(pod: Json, asked: int | None) -> int:
    if not node_of(pod) or is_finished(pod):
        return 0
    own = pod["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE)
    return max(int(own if asked is None else asked), 0)


def delete_pod(store: Store, pod: Json, asked: int | None, actor: str, reason: Json | None = None) -> None:
    """Begin (or shorten) the pod's graceful end; remove it at once if its grace is zero.

    `asked` is the grace in seconds (None: the pod's own), `reason` a DisruptionTarget condition to set.
    """
    meta = pod["metadata"]
    grace, now = _grace(pod, asked), store.clock.now()
    if grace == 0:
        store.remove("pods", meta["namespace"], meta["name"], actor)
        return

    def end(thing: Json) -> None:
        deadline = now + grace
        if is_terminating(thing) and seconds_of(thing["metadata"]["deletionTimestamp"]) <= deadline:
            return
        thing["metadata"]["deletionTimestamp"] = stamp(deadline)
        thing["metadata"]["deletionGracePeriodSeconds"] = grace
        if reason is not None:
            set_condition(thing, now, reason)

    store.update("pods", meta["namespace"], meta["name"], end, actor)


def end_namespace(store: Store, namespace: Json, actor: str) -> None:
    """Begin a namespace's end: nothing new is created in it, and the garbage collector empties it."""

    def end(thing: Json) -> None:
        thing["metadata"].setdefault("deletionTimestamp", stamp(store.clock.now()))
        thing["status"] = {"phase": "Terminating"}

    store.update("namespaces", "", namespace["metadata"]["name"], end, actor)


POD_COLLECTOR = "pod-garbage-collector"
COLLECTOR = "generic-garbage-collector"


class GarbageCollector:
    """Removes what has lost its ground. `quarantine` is the seconds a pod may name a node that is not there."""

    def __init__(self, store: Store, quarantine: float) -> None:
        self._store = store
        self._quarantine = quarantine
        self._orphan_since: dict[str, float] = {}

    def step(self, now: float) -> None:
        self._collect_orphans(now)
        for namespace in self._store.all("namespaces"):
            if is_terminating(namespace):
                self._empty(namespace["metadata"]["name"])
        for plural in ("replicasets", "pods", "persistentvolumeclaims"):
            for thing in self._store.all(plural):
                if self._ownerless(thing):
                    self._collect(plural, thing)

    def _collect_orphans(self, now: float) -> None:
        nodes = {node["metadata"]["name"] for node in self._store.all("nodes")}
        orphans = [pod for pod in self._store.all("pods") if node_of(pod) and node_of(pod) not in nodes]
        since = {pod["metadata"]["uid"]: self._orphan_since.get(pod["metadata"]["uid"], now) for pod in orphans}
        self._orphan_since = since
        for pod in orphans:
            if since[pod["metadata"]["uid"]] + self._quarantine <= now:
                meta = pod["metadata"]
                self._store.remove("pods", meta["namespace"], meta["name"], POD_COLLECTOR)

    def _empty(self, namespace: str) -> None:
        """Delete everything in a terminating namespace, and the namespace once nothing is left."""
        left = [(plural, thing) for plural in KINDS for thing in self._store.all(plural, namespace)]
        for plural, thing in left:
            self._collect(plural, thing)
        if not left:
            self._store.remove("namespaces", "", namespace, COLLECTOR)

    def _ownerless(self, thing: Json) -> bool:
        owner = controller_of(thing)
        plural = PLURAL_OF_KIND.get(owner["kind"]) if owner else None
        if owner is None or plural is None or plural == "nodes":
            return False
        found = self._store.find(plural, thing["metadata"]["namespace"], owner["name"])
        return found is None or found["metadata"]["uid"] != owner["uid"]

    def _collect(self, plural: str, thing: Json) -> None:
        if plural == "pods":
            if not is_terminating(thing):
                delete_pod(self._store, thing, None, COLLECTOR)
            return
        meta = thing["metadata"]
        self._store.remove(plural, meta["namespace"], meta["name"], COLLECTOR)
