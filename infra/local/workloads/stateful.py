"""StatefulSets: pods have names that come back, one at a time and in order unless told otherwise."""

from infra.local.workloads.owned_objects import create_pod, pod_from, write_status
from infra.local.workloads.volumes import make_claim
from infra.local.world.deletion import delete_pod
from infra.local.world.kinds import Json
from infra.local.world.pods import is_finished, is_healthy, is_ready, is_terminating
from infra.local.world.store import Store

ACTOR = "statefulset-controller"


class StatefulSetController:
    """Re-creates `name-0 … name-n` under the same names, once the old pod of that name is wholly gone."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def step(self, now: float) -> None:
        del now
        for owner in self._store.all("statefulsets"):
            self._sync(owner)

    def _sync(self, owner: Json) -> None:
        pods = {pod["metadata"]["name"]: pod for pod in self._store.controlled("pods", owner)}
        wanted = [f"{owner['metadata']['name']}-{ordinal}" for ordinal in range(owner["spec"].get("replicas", 1))]
        self._fill(owner, wanted, pods)
        surplus = [pod for name, pod in sorted(pods.items(), reverse=True) if name not in wanted]
        for pod in surplus[:1]:
            if not is_terminating(pod):
                delete_pod(self._store, pod, None, ACTOR)
        ready = sum(is_ready(pod) for pod in pods.values())
        status = {"replicas": len(pods), "readyReplicas": ready, "availableReplicas": ready}
        write_status(self._store, "statefulsets", owner, status)

    def _fill(self, owner: Json, wanted: list[str], pods: dict[str, Json]) -> None:
        parallel = owner["spec"].get("podManagementPolicy") == "Parallel"
        for name in wanted:
            pod = pods.get(name)
            if pod is None:
                make_claims(self._store, owner, name)
                create_pod(self._store, stateful_pod(owner, name), ACTOR)
            elif is_finished(pod) and not is_terminating(pod):
                delete_pod(self._store, pod, 0, ACTOR)
            if not parallel and (pod is None or not is_healthy(pod)):
                return


def stateful_pod(owner: Json, name: str) -> Json:
    """The set's pod of that name, with the volumes of its own claims; not stored."""
    pod = pod_from(owner, name)
    for template in _templates(owner):
        volume = template["metadata"]["name"]
        mounted = {"name": volume, "persistentVolumeClaim": {"claimName": f"{volume}-{name}"}}
        pod["spec"].setdefault("volumes", []).append(mounted)
    return pod


def make_claims(store: Store, owner: Json, name: str) -> None:
    """Make the claims of that pod which are not there; they outlive it."""
    for template in _templates(owner):
        key = (owner["metadata"]["namespace"], f"{template['metadata']['name']}-{name}")
        if store.find("persistentvolumeclaims", *key) is None:
            make_claim(store, key, template)


def _templates(owner: Json) -> list[Json]:
    templates: list[Json] = owner["spec"].get("volumeClaimTemplates") or []
    return templates
