"""StatefulSets, their claims and their volumes."""

from infra.local.workloads.owned_objects import create_pod, owned_by, pod_from, write_status
from infra.local.world.deletion import delete_pod
from infra.local.world.disks import BIND_COMPLETED, SELECTED_NODE, Disks, Key, claim_of, claims_of, disks_of
from infra.local.world.kinds import Json
from infra.local.world.pods import is_finished, is_healthy, is_ready, is_terminating, labels_of, node_of
from infra.local.world.store import Store

VOLUMES_ACTOR = "persistentvolume-controller"
ZONE = "topology.kubernetes.io/zone"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"


class VolumeController:
    """Makes claims and disks, and takes away the disks whose claims are gone."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen = -1

    def step(self, now: float) -> None:
        del now
        version = self._store.version("pods", "nodes", "persistentvolumeclaims", "storageclasses")
        if version == self._seen:
            return
        for pod in self._store.all("pods"):
            self._claim(pod)
        disks = disks_of(self._store.all)
        for key, claim in disks.claims.items():
            if disks.volume(key) is None:
                self._provide(key, claim, disks)
        self._take_away()
        self._seen = version

    def _claim(self, pod: Json) -> None:
        """Make the claims of a pod's ephemeral volumes."""
        for volume in pod["spec"].get("volumes") or []:
            template, key = (volume.get("ephemeral") or {}).get("volumeClaimTemplate"), claim_of(pod, volume)
            if template is None or key is None or is_terminating(pod):
                continue
            if self._store.find("persistentvolumeclaims", *key) is None:
                make_claim(self._store, key, template, owned_by(pod))

    def _provide(self, key: Key, claim: Json, disks: Disks) -> None:
        storage_class = disks.storage_class(key)
        zone = self._zone(key, claim) if disks.waits_for_consumer(key) else self._first_zone()
        if storage_class and zone is not None:
            self._bind(key, claim, storage_class["provisioner"], zone)

    def _zone(self, key: Key, claim: Json) -> str | None:
        """The zone of the node that was chosen for the claim, or on which a pod uses it already."""
        chosen = (claim["metadata"].get("annotations") or {}).get(SELECTED_NODE)
        users = (node_of(pod) for pod in self._store.all("pods", key[0]) if node_of(pod) and key in claims_of(pod))
        found = self._store.find("nodes", "", chosen or next(users, ""))
        return labels_of(found).get(ZONE, "") if found else None

    def _first_zone(self) -> str | None:
        return min((labels_of(node).get(ZONE, "") for node in self._store.all("nodes")), default=None)

    def _bind(self, key: Key, claim: Json, driver: str, zone: str) -> None:
        name, modes = f"pvc-{claim['metadata']['uid']}", claim["spec"].get("accessModes") or ["ReadWriteOnce"]
        terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
        spec = {
            "accessModes": modes,
            "claimRef": {"namespace": key[0], "name": key[1], "uid": claim["metadata"]["uid"]},
            "csi": {"driver": driver, "volumeHandle": f"projects/local/zones/{zone}/disks/{name}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": claim["spec"].get("storageClassName", ""),
        }
        self._store.create("persistentvolumes", {"metadata": {"name": name}, "spec": spec}, VOLUMES_ACTOR)

        def bound(thing: Json) -> None:
            thing["metadata"].setdefault("annotations", {})[BIND_COMPLETED] = "yes"
            thing["spec"]["volumeName"] = name
            thing["status"] = {"phase": "Bound", "accessModes": modes}

        self._store.update("persistentvolumeclaims", *key, bound, VOLUMES_ACTOR)

    def _take_away(self) -> None:
        for volume in self._store.all("persistentvolumes"):
            reference = volume["spec"].get("claimRef") or {}
            deleted = volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete" and reference
            key = (reference.get("namespace", ""), reference.get("name", ""))
            if deleted and self._store.find("persistentvolumeclaims", *key) is None:
                self._store.remove("persistentvolumes", "", volume["metadata"]["name"], VOLUMES_ACTOR)


def make_claim(store: Store, key: Key, template: Json, owners: list[Json] | None = None) -> None:
    """Create a claim from a template; one that names no class gets the default one."""
    default = next((each for each in store.all("storageclasses") if _is_default(each)), None)
    given = {"storageClassName": default["metadata"]["name"]} if default else {}
    meta: Json = {**(template.get("metadata") or {}), "namespace": key[0], "name": key[1]}
    if owners:
        meta["ownerReferences"] = owners
    claim = {"metadata": meta, "spec": {**given, **template["spec"]}, "status": {"phase": "Pending"}}
    store.create("persistentvolumeclaims", claim, VOLUMES_ACTOR)


def _is_default(storage_class: Json) -> bool:
    return bool((storage_class["metadata"].get("annotations") or {}).get(_DEFAULT) == "true")


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
