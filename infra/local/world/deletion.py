"""Graceful deletion of pods, and garbage collection of what a deleted object owned."""

from infra.local.clocks import seconds_of, stamp
from infra.local.world.kinds import KINDS, PLURAL_OF_KIND, Json
from infra.local.world.pods import controller_of, is_finished, is_terminating, node_of, set_condition
from infra.local.world.store import Store

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
