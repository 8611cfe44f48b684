"""How pods and nodes begin and end: kubelets, the node controller, graceful deletion and garbage collection."""

from functools import partial

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from infra.local.clocks import seconds_of, stamp
from infra.local.world.kinds import PLURAL_OF_KIND, Json
from infra.local.world.pods import (
    annotations_of,
    claims_of,
    condition_of,
    controller_of,
    disks_of,
    is_finished,
    is_ready,
    is_terminating,
    node_of,
    phase_of,
    set_condition,
    taints_of,
)
from infra.local.world.store import Store

ACTOR = "kubelet"
PREFIX = "local.ebb.internal/"


class KubeletTimes(BaseModel, frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True):
    """Seconds of world time; a scenario writes them."""

    ready_after: tuple[float, float] = (2.0, 5.0)
    """Drawn between the two, once a pod's disks are detached elsewhere."""
    shutdown: float | None = None
    """None: a pod's whole grace."""
    node_boot: float = 20.0
    """From a node's creation until it is Ready."""


def knob(pod: Json, name: str) -> str | None:
    return annotations_of(pod).get(PREFIX + name)


def run(pod: Json, now: float, *, ready: bool) -> None:
    """Write the status of a pod whose containers have started."""
    pod.setdefault("status", {})["phase"] = "Running"
    pod["status"].setdefault("startTime", stamp(now))
    for name in ("Initialized", "PodScheduled"):
        set_condition(pod, now, {"type": name, "status": "True"})
    for name in ("ContainersReady", "Ready"):
        set_condition(pod, now, {"type": name, "status": str(ready)})


class Kubelet:
    """Boots nodes, and runs the pods that are bound to living ones. `dead` names nodes whose kubelet has stopped."""

    def __init__(self, store: Store, times: KubeletTimes) -> None:
        self._store = store
        self.times = times
        self._ready_at: dict[str, float] = {}
        self._gone_at: dict[str, float] = {}
        self.dead: set[str] = set()

    def step(self, now: float) -> None:
        for node in self._store.all("nodes"):
            status = self._status(node, now)
            if (condition_of(node, "Ready") or {}).get("status") != status:
                self._store.update(node, partial(set_ready, now=now, status=status), NODES_ACTOR)
        self._run_pods(now)

    def _status(self, node: Json, now: float) -> str:
        if node["metadata"]["name"] in self.dead:
            return "Unknown"
        return str(seconds_of(node["metadata"]["creationTimestamp"]) + self.times.node_boot <= now)

    def _run_pods(self, now: float) -> None:
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

    def _start(self, pod: Json, now: float) -> None:
        ready = knob(pod, "never-ready") != "true"
        if phase_of(pod) == "Running" and (is_ready(pod) or not ready):
            return
        uid = pod["metadata"]["uid"]
        if uid not in self._ready_at:
            if any(claims_of(pod)) and disks_of(self._store.all).is_held_elsewhere(pod, self._store.all("pods")):
                return
            own, drawn = knob(pod, "ready-after"), self._store.random.uniform(*self.times.ready_after)
            self._ready_at[uid] = now + (drawn if own is None else float(own))
        if self._ready_at[uid] <= now:
            self._store.update(pod, partial(run, now=now, ready=ready), ACTOR)

    def _end(self, pod: Json, now: float) -> None:
        meta = pod["metadata"]
        own = knob(pod, "shutdown")
        needed = self.times.shutdown if own is None else float(own)
        if needed is not None:
            self._gone_at.setdefault(meta["uid"], now + needed)
        deadline = seconds_of(meta["deletionTimestamp"])
        if min(self._gone_at.get(meta["uid"], deadline), deadline) <= now:
            self._store.remove(pod, ACTOR)


NODES_ACTOR = "node-controller"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"


def set_ready(node: Json, now: float, status: str) -> None:
    """Write the node's Ready condition and the taint that goes with it."""
    reason = {"True": "KubeletReady", "False": "KubeletNotReady"}.get(status, "NodeStatusUnknown")
    set_condition(node, now, {"type": "Ready", "status": status, "reason": reason})
    taints = taints_of(node)
    kept = [taint for taint in taints if taint["key"] not in {NOT_READY, UNREACHABLE}]
    if status != "True":
        key = NOT_READY if status == "False" else UNREACHABLE
        kept.append({"key": key, "effect": "NoSchedule"})
    node["spec"]["taints"] = kept
    if not kept:
        del node["spec"]["taints"]


DEFAULT_GRACE = 30
COLLECTOR = "generic-garbage-collector"


def _grace(pod: Json, requested: int | None) -> int:
    if not node_of(pod) or is_finished(pod):
        return 0
    own = pod["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE)
    return max(int(own if requested is None else requested), 0)


def delete_pod(store: Store, pod: Json, requested: int | None, actor: str, reason: Json | None = None) -> None:
    """Begin or shorten the pod's graceful end; `requested` is the grace in seconds (None: the pod's own)."""
    grace, now = _grace(pod, requested), store.clock.now()
    if grace == 0:
        store.remove(pod, actor)
        return

    def end(thing: Json) -> None:
        deadline = now + grace
        if is_terminating(thing) and seconds_of(thing["metadata"]["deletionTimestamp"]) <= deadline:
            return
        thing["metadata"] |= {"deletionTimestamp": stamp(deadline), "deletionGracePeriodSeconds": grace}
        if reason is not None:
            set_condition(thing, now, reason)

    store.update(pod, end, actor)


_QUARANTINE = 40.0
"""Seconds that a pod outlives its node."""


class GarbageCollector:
    """Removes what lost its owner, and pods whose node has been gone for a while."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._orphan_since: dict[str, float] = {}

    def step(self, now: float) -> None:
        self._remove_orphans(now)
        for plural in ("replicasets", "pods"):
            for thing in self._store.all(plural):
                if self._has_lost_its_owner(thing):
                    self._collect(plural, thing)

    def _remove_orphans(self, now: float) -> None:
        nodes = {"", *(node["metadata"]["name"] for node in self._store.all("nodes"))}
        orphans = {pod["metadata"]["uid"]: pod for pod in self._store.all("pods") if node_of(pod) not in nodes}
        self._orphan_since = {uid: self._orphan_since.get(uid, now) for uid in orphans}
        for uid, since in self._orphan_since.items():
            if since + _QUARANTINE <= now:
                self._store.remove(orphans[uid], "pod-garbage-collector")

    def _has_lost_its_owner(self, thing: Json) -> bool:
        reference = controller_of(thing)
        if reference is None or (plural := PLURAL_OF_KIND.get(reference["kind"], "nodes")) == "nodes":
            return False
        owner = self._store.find(plural, thing["metadata"]["namespace"], reference["name"])
        return owner is None or owner["metadata"]["uid"] != reference["uid"]

    def _collect(self, plural: str, thing: Json) -> None:
        if plural != "pods":
            self._store.remove(thing, COLLECTOR)
        elif not is_terminating(thing):
            delete_pod(self._store, thing, None, COLLECTOR)
