"""What stands behind pods' volumes: claims, volumes and classes, their controller, and what nodes can attach."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from infra.local.world.kinds import Json
from infra.local.world.pods import annotations_of, is_finished, is_terminating, labels_of, node_of, owned_by
from infra.local.world.store import Key, Store

READS = ("persistentvolumeclaims", "persistentvolumes", "storageclasses", "csinodes")
"""The kinds that a `Disks` is made of."""
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
ACTOR = "persistentvolume-controller"
_ZONE = "topology.kubernetes.io/zone"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"


def claim_of(pod: Json, volume: Json) -> Key | None:
    """Namespace and name of the claim behind a pod's volume; one made for the pod has the pod's name."""
    meta = pod["metadata"]
    if "ephemeral" in volume:
        return meta["namespace"], f"{meta['name']}-{volume['name']}"
    name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
    return (meta["namespace"], name) if name else None


def claims_of(pod: Json) -> Iterator[Key]:
    """The claims that a pod uses."""
    return (key for volume in pod["spec"].get("volumes") or [] if (key := claim_of(pod, volume)) is not None)


_NOTHING: Json = {"spec": {}}


@dataclass(frozen=True)
class Disks:
    """Claims by namespace and name, the rest by name."""

    claims: dict[Key, Json] = field(default_factory=dict)
    volumes: dict[str, Json] = field(default_factory=dict)
    classes: dict[str, Json] = field(default_factory=dict)
    limits: dict[str, dict[str, int]] = field(default_factory=dict)
    """How many volumes can be attached, by node and driver."""

    def volume(self, key: Key) -> Json | None:
        """The volume that a claim is bound to, or None."""
        return self.volumes.get(self.claims.get(key, _NOTHING)["spec"].get("volumeName", ""))

    def storage_class(self, key: Key) -> Json:
        return self.classes.get(self.claims[key]["spec"].get("storageClassName", ""), {})

    def waits_for_consumer(self, key: Key) -> bool:
        return bool(self.storage_class(key).get("volumeBindingMode") == "WaitForFirstConsumer")

    def is_exclusive(self, key: Key) -> bool:
        return "ReadWriteOncePod" in (self.claims.get(key, _NOTHING)["spec"].get("accessModes") or [])

    def attached(self, pod: Json) -> Iterator[tuple[str, str]]:
        """Driver and handle of what the pod needs attached; a claim stands for its volume that is not made yet."""
        for key in claims_of(pod):
            csi = (self.volume(key) or _NOTHING)["spec"].get("csi")
            if csi:
                yield csi["driver"], csi["volumeHandle"]
            elif key in self.claims and self.waits_for_consumer(key):
                yield self.storage_class(key)["provisioner"], "/".join(key)


def disks_of(read: Callable[[str], Sequence[Json]]) -> Disks:
    """What stands behind volumes; `read` lists a kind. Without claims nothing else is read."""
    claims = {(claim["metadata"]["namespace"], claim["metadata"]["name"]): claim for claim in read(READS[0])}
    if not claims:
        return Disks()
    volumes, classes, nodes = ({thing["metadata"]["name"]: thing for thing in read(plural)} for plural in READS[1:])
    limits = {
        name: {
            driver["name"]: driver["allocatable"]["count"]
            for driver in node["spec"].get("drivers") or []
            if "count" in (driver.get("allocatable") or {})
        }
        for name, node in nodes.items()
    }
    return Disks(claims, volumes, classes, limits)


def held_elsewhere(pod: Json, pods: Sequence[Json], disks: Disks) -> bool:
    """Whether a disk of the pod is still attached to another node, where a pod that uses it has not ended."""
    own = set(disks.attached(pod))
    others = (other for other in pods if node_of(other) not in {"", node_of(pod)} and not is_finished(other))
    return bool(own) and any(not own.isdisjoint(disks.attached(other)) for other in others)


def make_claim(store: Store, key: Key, template: Json, owners: list[Json] | None = None) -> None:
    """Create a claim from a template; one that names no class gets the default one."""
    defaults = [thing for thing in store.all("storageclasses") if annotations_of(thing).get(_DEFAULT) == "true"]
    meta: Json = {**(template.get("metadata") or {}), "namespace": key[0], "name": key[1]}
    if owners:
        meta["ownerReferences"] = owners
    spec = {**({"storageClassName": defaults[0]["metadata"]["name"]} if defaults else {}), **template["spec"]}
    store.create("persistentvolumeclaims", {"metadata": meta, "spec": spec, "status": {"phase": "Pending"}}, ACTOR)


class VolumeController:
    """Makes the claims of ephemeral volumes and the disks of claims; removes the disks whose claims are gone."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen = -1

    def step(self, now: float) -> None:
        del now
        version = self._store.version("pods", "nodes", "persistentvolumeclaims", "storageclasses")
        if version == self._seen:
            return
        for pod in self._store.all("pods"):
            self._make_ephemeral_claims(pod)
        disks = disks_of(self._store.all)
        for key, claim in disks.claims.items():
            if disks.volume(key) is None and (storage_class := disks.storage_class(key)):
                self._provide(key, claim, storage_class["provisioner"], self._zone(key, claim, disks))
        self._remove_unclaimed()
        self._seen = version

    def _make_ephemeral_claims(self, pod: Json) -> None:
        for volume in pod["spec"].get("volumes") or []:
            template, key = (volume.get("ephemeral") or {}).get("volumeClaimTemplate"), claim_of(pod, volume)
            if template is None or key is None or is_terminating(pod):
                continue
            if self._store.find("persistentvolumeclaims", *key) is None:
                make_claim(self._store, key, template, owned_by(pod))

    def _zone(self, key: Key, claim: Json, disks: Disks) -> str | None:
        """The zone of the node that was chosen for the claim, or on which a pod uses it already; else the first one."""
        if not disks.waits_for_consumer(key):
            return min((labels_of(node).get(_ZONE, "") for node in self._store.all("nodes")), default=None)
        users = (node_of(pod) for pod in self._store.all("pods", key[0]) if node_of(pod) and key in claims_of(pod))
        node = self._store.find("nodes", "", annotations_of(claim).get(SELECTED_NODE) or next(users, ""))
        return labels_of(node).get(_ZONE, "") if node else None

    def _provide(self, key: Key, claim: Json, driver: str, zone: str | None) -> None:
        """Make the claim's disk in the zone; not before there is one."""
        if zone is None:
            return
        name, modes = f"pvc-{claim['metadata']['uid']}", claim["spec"].get("accessModes") or ["ReadWriteOnce"]
        terms = [{"matchExpressions": [{"key": _ZONE, "operator": "In", "values": [zone]}]}]
        spec = {
            "accessModes": modes,
            "claimRef": {"namespace": key[0], "name": key[1], "uid": claim["metadata"]["uid"]},
            "csi": {"driver": driver, "volumeHandle": f"projects/local/zones/{zone}/disks/{name}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": claim["spec"].get("storageClassName", ""),
        }
        self._store.create("persistentvolumes", {"metadata": {"name": name}, "spec": spec}, ACTOR)

        def bind(thing: Json) -> None:
            thing["metadata"].setdefault("annotations", {})[BIND_COMPLETED] = "yes"
            thing["spec"]["volumeName"] = name
            thing["status"] = {"phase": "Bound", "accessModes": modes}

        self._store.update(claim, bind, ACTOR)

    def _remove_unclaimed(self) -> None:
        for volume in self._store.all("persistentvolumes"):
            reference = volume["spec"].get("claimRef") or {}
            deleted = volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete" and reference
            key = (reference.get("namespace", ""), reference.get("name", ""))
            if deleted and self._store.find("persistentvolumeclaims", *key) is None:
                self._store.remove(volume, ACTOR)
