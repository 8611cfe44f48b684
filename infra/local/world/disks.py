"""What stands behind the volumes of pods: claims, volumes, their classes, and how many a node can attach."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from infra.local.world.kinds import Json
from infra.local.world.pods import is_finished, node_of

READS = ("persistentvolumeclaims", "persistentvolumes", "storageclasses", "csinodes")
"""The kinds that a `Disks` is made of."""
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
WAITS = "WaitForFirstConsumer"
Key = tuple[str, str]


def claim_of(pod: Json, volume: Json) -> Key | None:
    """Namespace and name of the claim behind a pod's volume; one made for the pod bears the pod's name."""
    meta = pod["metadata"]
    if "ephemeral" in volume:
        return meta["namespace"], f"{meta['name']}-{volume['name']}"
    name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
    return (meta["namespace"], name) if name else None


def claims_of(pod: Json) -> Iterator[Key]:
    """The claims that a pod uses."""
    return (key for volume in pod["spec"].get("volumes") or [] if (key := claim_of(pod, volume)) is not None)


@dataclass(frozen=True)
class Disks:
    """Claims by namespace and name, the rest by name."""

    claims: dict[Key, Json] = field(default_factory=dict)
    volumes: dict[str, Json] = field(default_factory=dict)
    classes: dict[str, Json] = field(default_factory=dict)
    limits: dict[str, dict[str, int]] = field(default_factory=dict)
    """By node and driver."""

    def volume(self, key: Key) -> Json | None:
        """The volume that a claim is bound to, or None."""
        return self.volumes.get((self.claims.get(key) or {"spec": {}})["spec"].get("volumeName", ""))

    def storage_class(self, key: Key) -> Json:
        return self.classes.get(self.claims[key]["spec"].get("storageClassName", ""), {})

    def waits_for_consumer(self, key: Key) -> bool:
        return bool(self.storage_class(key).get("volumeBindingMode") == WAITS)

    def is_exclusive(self, key: Key) -> bool:
        return "ReadWriteOncePod" in ((self.claims.get(key) or {"spec": {}})["spec"].get("accessModes") or [])

    def attached(self, pod: Json) -> Iterator[tuple[str, str]]:
        """Driver and handle of what the pod needs attached; of a volume yet to be made the claim stands for it."""
        for key in claims_of(pod):
            csi = ((self.volume(key) or {"spec": {}})["spec"]).get("csi")
            if csi:
                yield csi["driver"], csi["volumeHandle"]
            elif key in self.claims and self.waits_for_consumer(key):
                yield self.storage_class(key)["provisioner"], "/".join(key)


def disks_of(read: Callable[[str], Sequence[Json]]) -> Disks:
    """What stands behind volumes; `read` lists a kind. Without claims nothing else is asked for."""
    claims = {(each["metadata"]["namespace"], each["metadata"]["name"]): each for each in read(READS[0])}
    if not claims:
        return Disks()
    volumes, classes, nodes = ({each["metadata"]["name"]: each for each in read(plural)} for plural in READS[1:])
    limits = {
        name: {
            each["name"]: each["allocatable"]["count"]
            for each in node["spec"].get("drivers") or []
            if "count" in (each.get("allocatable") or {})
        }
        for name, node in nodes.items()
    }
    return Disks(claims, volumes, classes, limits)


def held_elsewhere(pod: Json, pods: Sequence[Json], disks: Disks) -> bool:
    """Whether a disk of the pod is still attached to another node, where a pod that uses it has not ended."""
    own = set(disks.attached(pod))
    others = (each for each in pods if node_of(each) not in {"", node_of(pod)} and not is_finished(each))
    return bool(own) and any(not own.isdisjoint(disks.attached(each)) for each in others)


def select_node(claim: Json, node: str) -> None:
    """Ask for the claim's volume where that node is."""
    claim["metadata"].setdefault("annotations", {})[SELECTED_NODE] = node
