"""Deployments and ReplicaSets: a lost pod is replaced by one with a new name; a new template replaces all at once.

Rolling updates are not modelled: Ebb never changes a template, and a scenario that does gets the new pods at once.
"""

from collections import Counter

from infra.local.workloads.owned_objects import owned_by, pod_from, template_hash, write_status
from infra.local.world.deletion import delete_pod
from infra.local.world.kinds import Json
from infra.local.world.pods import is_finished, is_ready, is_terminating, node_of
from infra.local.world.store import Store, copied

ACTOR = "replicaset-controller"


def replica_set_for(deployment: Json) -> Json:
    """The ReplicaSet of a Deployment's present template; not stored."""
    spec = deployment["spec"]
    digest = template_hash(spec["template"])
    template: Json = copied(spec["template"])
    template.setdefault("metadata", {}).setdefault("labels", {})["pod-template-hash"] = digest
    meta = deployment["metadata"]
    selector = {"matchLabels": {**(spec["selector"].get("matchLabels") or {}), "pod-template-hash": digest}}
    return {
        "metadata": {
            "name": f"{meta['name']}-{digest}",
            "namespace": meta["namespace"],
            "labels": template["metadata"]["labels"],
            "ownerReferences": owned_by(deployment),
        },
        "spec": {"replicas": spec.get("replicas", 1), "selector": selector, "template": template},
    }


def _scale(store: Store, replica_set: Json, replicas: int) -> None:
    if replica_set["spec"].get("replicas") == replicas:
        return
    meta = replica_set["metadata"]
    store.update(
        "replicasets",
        meta["namespace"],
        meta["name"],
        lambda thing: thing["spec"].update(replicas=replicas),
        "deployment-controller",
    )


def _counts(pods: list[Json]) -> Json:
    ready = sum(is_ready(pod) for pod in pods)
    return {"replicas": len(pods), "readyReplicas": ready, "availableReplicas": ready}


def _given_up_first(living: list[Json]) -> list[Json]:
    """Unbound pods first, then unready ones, then those beside most others of their kind, then the youngest.

    Source: kubernetes pkg/controller, ActivePodsWithRanks.
    """
    beside = Counter(node_of(pod) for pod in living)
    youngest = sorted(living, key=lambda pod: pod["metadata"]["creationTimestamp"], reverse=True)
    return sorted(youngest, key=lambda pod: (bool(node_of(pod)), is_ready(pod), -beside[node_of(pod)]))


class DeploymentController:
    """Keeps one ReplicaSet of the present template at the wanted size and all others at zero."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._wanted: dict[str, tuple[int, Json]] = {}

    def step(self, now: float) -> None:
        del now
        for deployment in self._store.all("deployments"):
            self._sync(deployment)

    def _current_replica_set(self, deployment: Json) -> Json:
        """The ReplicaSet of the present template, made once for each generation of the spec."""
        uid, generation = deployment["metadata"]["uid"], deployment["metadata"]["generation"]
        if self._wanted.get(uid, (0, {}))[0] != generation:
            self._wanted[uid] = (generation, replica_set_for(deployment))
        return self._wanted[uid][1]

    def _sync(self, deployment: Json) -> None:
        wanted = self._current_replica_set(deployment)
        sets = self._store.controlled("replicasets", deployment)
        if all(item["metadata"]["name"] != wanted["metadata"]["name"] for item in sets):
            sets.append(self._store.create("replicasets", wanted, "deployment-controller"))
        for item in sets:
            current = item["metadata"]["name"] == wanted["metadata"]["name"]
            _scale(self._store, item, wanted["spec"]["replicas"] if current else 0)
        living: dict[str, list[Json]] = {
            item["metadata"]["name"]: [pod for pod in self._store.controlled("pods", item) if not is_terminating(pod)]
            for item in sets
        }
        updated = len(living[wanted["metadata"]["name"]])
        ending = sum(is_terminating(pod) for item in sets for pod in self._store.controlled("pods", item))
        counts = _counts([pod for pods in living.values() for pod in pods])
        status = {**counts, "updatedReplicas": updated, "terminatingReplicas": ending}
        write_status(self._store, "deployments", deployment, status)


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
            self._store.create("pods", pod_from(owner), ACTOR)
        for pod in _given_up_first(living)[:-missing] if missing < 0 else ():
            delete_pod(self._store, pod, None, ACTOR)
        write_status(self._store, plural, owner, {**_counts(living), "terminatingReplicas": ending})

    def _waits_for_the_end(self, owner: Json) -> bool:
        """Whether the Deployment behind a ReplicaSet replaces pods only once they have ended (KEP-5882)."""
        for each in owner["metadata"].get("ownerReferences") or []:
            deployment = self._store.find("deployments", owner["metadata"]["namespace"], each["name"])
            if deployment is not None:
                return bool(deployment["spec"].get("podReplacementPolicy") == "TerminationComplete")
        return False
