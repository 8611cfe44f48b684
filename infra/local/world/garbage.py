"""The garbage collectors: pods of nodes that are gone, objects whose controller or namespace is going.

Sources: kubernetes pkg/controller/podgc (orphaned pods, 40 s quarantine) and pkg/controller/garbagecollector.
"""

from infra.local.world.deletion import delete_pod
from infra.local.world.kinds import KINDS, PLURAL_OF_KIND, Json
from infra.local.world.pods import controller_of, is_terminating, node_of
from infra.local.world.store import Store

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
