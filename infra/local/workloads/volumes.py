"""The volume controllers: claims of ephemeral volumes, and a disk for each claim, in the zone where it is to be used.

Source: kubernetes pkg/controller/volume/{ephemeral,persistentvolume}, and what a CSI provisioner does: at once for a
class that binds immediately, else where the scheduler or a pod that runs already says. A disk goes with its claim.
"""

from infra.local.workloads.owned_objects import owned_by
from infra.local.world.disks import BIND_COMPLETED, SELECTED_NODE, Disks, Key, claim_of, claims_of, disks_of
from infra.local.world.kinds import Json
from infra.local.world.pods import is_terminating, labels_of, node_of
from infra.local.world.store import Store

ACTOR = "persistentvolume-controller"
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
        self._store.create("persistentvolumes", {"metadata": {"name": name}, "spec": spec}, ACTOR)

        def bound(thing: Json) -> None:
            thing["metadata"].setdefault("annotations", {})[BIND_COMPLETED] = "yes"
            thing["spec"]["volumeName"] = name
            thing["status"] = {"phase": "Bound", "accessModes": modes}

        self._store.update("persistentvolumeclaims", *key, bound, ACTOR)

    def _take_away(self) -> None:
        for volume in self._store.all("persistentvolumes"):
            reference = volume["spec"].get("claimRef") or {}
            deleted = volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete" and reference
            key = (reference.get("namespace", ""), reference.get("name", ""))
            if deleted and self._store.find("persistentvolumeclaims", *key) is None:
                self._store.remove("persistentvolumes", "", volume["metadata"]["name"], ACTOR)


def make_claim(store: Store, key: Key, template: Json, owners: list[Json] | None = None) -> None:
    """Create a claim from a template; one that names no class gets the default one."""
    default = next((each for each in store.all("storageclasses") if _is_default(each)), None)
    given = {"storageClassName": default["metadata"]["name"]} if default else {}
    meta: Json = {**(template.get("metadata") or {}), "namespace": key[0], "name": key[1]}
    if owners:
        meta["ownerReferences"] = owners
    claim = {"metadata": meta, "spec": {**given, **template["spec"]}, "status": {"phase": "Pending"}}
    store.create("persistentvolumeclaims", claim, ACTOR)


def _is_default(storage_class: Json) -> bool:
    return bool((storage_class["metadata"].get("annotations") or {}).get(_DEFAULT) == "true")
