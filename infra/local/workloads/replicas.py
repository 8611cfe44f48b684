"""ReplicaSets: the wanted number of pods, and which pods go first when there are too many."""

import re
from collections import Counter

from infra.local.workloads.deployments import counts_of
from infra.local.workloads.owned_objects import create_pod, pod_from, write_status
from infra.local.world.deletion import delete_pod
from infra.local.world.kinds import Json
from infra.local.world.pods import is_finished, is_ready, is_terminating, node_of
from infra.local.world.store import Store

_COST = "controller.kubernetes.io/pod-deletion-cost"
_WRITTEN = re.compile(r"0|[1-9][0-9]*|-[0-9]+")
_BITS = 31


def given_up_first(living: list[Json]) -> list[Json]:
    """Unbound pods first, then unready ones, then the cheapest, those beside most of their kind, the youngest."""
    beside = Counter(node_of(pod) for pod in living)
    youngest = sorted(living, key=lambda pod: pod["metadata"]["creationTimestamp"], reverse=True)
    return sorted(
        youngest, key=lambda pod: (bool(node_of(pod)), is_ready(pod), deletion_cost(pod), -beside[node_of(pod)])
    )


def deletion_cost(pod: Json) -> int:
    """The cost that somebody wrote on the pod; 0 without one, and where it is no integer of 32 bits."""
    written = (pod["metadata"].get("annotations") or {}).get(_COST, "")
    cost = int(written) if _WRITTEN.fullmatch(written) else 0
    return cost if -(2**_BITS) <= cost < 2**_BITS else 0


ACTOR = "replicaset-controller"


class ReplicaSetController:
    """Creates and deletes pods until the living ones are as many as wanted."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def step(self, now: float) -> None:
        del now
        for plural in ("replicasets", "replicationcontrollers"):
            for owner in self._store.all(plural):
                self._sync(plural, owner)

    def _sync(self, plural: str, owner: Json) -> None:
        pods = self._store.controlled("pods", owner)
        living = [pod for pod in pods if not is_terminating(pod) and not is_finished(pod)]
        ending = sum(is_terminating(pod) for pod in pods)
        missing = int(owner["spec"].get("replicas", 1)) - len(living)
        if missing > 0 and self._waits_for_the_end(owner):
            missing = max(missing - ending, 0)
        for _ in range(missing):
            create_pod(self._store, pod_from(owner), ACTOR)
        for pod in given_up_first(living)[:-missing] if missing < 0 else ():
            delete_pod(self._store, pod, None, ACTOR)
        write_status(self._store, plural, owner, {**counts_of(living), "terminatingReplicas": ending})

    def _waits_for_the_end(self, owner: Json) -> bool:
        """Whether the Deployment behind a ReplicaSet replaces pods only once they have ended (KEP-5882)."""
        for each in owner["metadata"].get("ownerReferences") or []:
            deployment = self._store.find("deployments", owner["metadata"]["namespace"], each["name"])
            if deployment is not None:
                return bool(deployment["spec"].get("podReplacementPolicy") == "TerminationComplete")
        return False
