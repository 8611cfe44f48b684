"""What of a pod's volumes keeps it: a disk that goes with its node, a claim that no new pod could start with.

`placement.constraints` decide where the other volumes may go; what they cannot decide is named here.
Source: kube-scheduler, plugin VolumeBinding (podHasPVCs, GetPodVolumeClaims, checkVolumeProvisions).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from shared.core.cluster.pod import CLAIM, WITH_CLAIM, WITHOUT_PLACE, PodClass, Volume
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import PersistentVolume, PersistentVolumeClaim, Storage, StorageClass
from shared.core.reasons import Finding, PodBlock

NODES_OWN: Final = frozenset({"local", "hostPath"})  # Persistent volumes that lie on one node.
MOUNTED: Final = frozenset({"nfs", "cephfs", "glusterfs", "azureFile"})
"""Persistent volumes that are mounted over the network and attached to no node, whatever their access mode is."""
KNOWN_SOURCES: Final = NODES_OWN | MOUNTED | {"csi", "gcePersistentDisk", "iscsi", "rbd", "fc"}
SEVERAL_NODES: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})
NOT_MADE: Final = frozenset({"", "kubernetes.io/no-provisioner"})
"""Provisioners of classes whose volumes somebody has to make."""


@dataclass(frozen=True)
class VolumeFacts:
    """What stands behind the volumes, and how many pods use each claim."""

    storage: Storage
    users: Mapping[str, int]

    @classmethod
    def of(cls, snapshot: Snapshot) -> "VolumeFacts":
        return cls(snapshot.storage, snapshot.claim_users)


_NO_FACTS: Final = VolumeFacts(Storage(unread=()), {})


def claim_of(spec: PodClass, volume: Volume, storage: Storage) -> PersistentVolumeClaim | None:
    return storage.claims.get(f"{spec.namespace}/{volume.detail}") if volume.kind == CLAIM else None


def disk_of(claim: PersistentVolumeClaim | None, storage: Storage) -> PersistentVolume | None:
    """Return the volume that a claim is bound to for good."""
    return storage.volumes.get(claim.volume) if claim is not None and claim.bound else None


def made_for(volume: Volume, claim: PersistentVolumeClaim | None, storage: Storage) -> StorageClass | None:
    """Return the class of which a volume would be made: for this claim, or for the one of an ephemeral volume."""
    if claim is not None:
        return storage.classes.get(claim.storage_class)
    name = storage.default_class if volume.storage_class is None else volume.storage_class
    return storage.classes.get(name) if volume.kind != CLAIM else None


def volume_blocks(spec: PodClass, facts: VolumeFacts | None) -> tuple[Finding, ...]:
    """Return what of the volumes keeps all pods of the class."""
    # None asks nothing about their claims: a drain that runs was admitted on what stood behind them.
    bound = [volume for volume in spec.volumes if volume.kind not in WITHOUT_PLACE]
    asked = [volume for volume in bound if facts is not None or volume.kind not in WITH_CLAIM]
    if not asked:
        return ()
    known = facts or _NO_FACTS
    rows = [(volume, claim_of(spec, volume, known.storage)) for volume in asked]
    found = []
    for reason, question in VOLUME_BLOCKS:
        answers = ((volume, question(volume, claim, known)) for volume, claim in rows)
        named = [f"{volume.kind} {volume.name}{': ' * bool(why)}{why}" for volume, why in answers if why is not None]
        found += [Finding(reason, ", ".join(named))] if named else []
    return tuple(found)


def _lies_on_its_node(_: Volume, claim: PersistentVolumeClaim | None, facts: VolumeFacts) -> str | None:
    disk = disk_of(claim, facts.storage)
    return f"volume {disk.name} is of kind {disk.kind}" if disk is not None and disk.kind in NODES_OWN else None


def _starts_no_pod(volume: Volume, claim: PersistentVolumeClaim | None, facts: VolumeFacts) -> str | None:
    """Find a claim with which the scheduler gives a new pod no node at all."""
    if volume.kind != CLAIM or not facts.storage.known:
        return None
    if claim is None:
        return f"claim {volume.detail} is missing"
    if claim.lost or claim.deleting:
        return f"claim {claim.name} {'has lost its volume' if claim.lost else 'is being deleted'}"
    if claim.bound:
        return None if claim.volume in facts.storage.volumes else f"volume {claim.volume} is missing"
    waits = waits_for_its_pod(claim, made_for(volume, claim, facts.storage))
    return None if waits else f"claim {claim.name} has no volume"


def waits_for_its_pod(claim: PersistentVolumeClaim, made: StorageClass | None) -> bool:
    """Whether an unbound claim gets its volume once its pod has a node; one that names a volume does not."""
    return not claim.volume and made is not None and made.waits_for_consumer


def _held_by_others(_: Volume, claim: PersistentVolumeClaim | None, facts: VolumeFacts) -> str | None:
    """Find a disk that one node at a time can hold and that several pods use: no filter keeps them together."""
    # Sent to different nodes, all but one wait for the disk in vain (isMultiAttachForbidden). A claim without a
    # volume ties all its pods to where the first one goes.
    users = facts.users.get(claim.key, 0) if claim is not None else 0
    together = claim is not None and _on_one_node(disk_of(claim, facts.storage))
    return f"{users} pods use claim {claim.name}" if claim is not None and together and users > 1 else None


def _on_one_node(disk: PersistentVolume | None) -> bool:
    return disk is None or (disk.kind not in MOUNTED and SEVERAL_NODES.isdisjoint(disk.access_modes))


def held_by_one_node(spec: PodClass, facts: VolumeFacts | None) -> tuple[str, ...]:
    """Name the volumes with a named claim that one node at a time can hold: no two pods of the class can run apart."""
    if facts is None:
        return ()
    named = [(volume, claim_of(spec, volume, facts.storage)) for volume in spec.volumes if volume.kind == CLAIM]
    return tuple(volume.name for volume, claim in named if _on_one_node(disk_of(claim, facts.storage)))


def _is_not_known(volume: Volume, claim: PersistentVolumeClaim | None, facts: VolumeFacts) -> str | None:
    if volume.kind not in WITH_CLAIM:
        return ""
    if not facts.storage.known:
        return f"{', '.join(facts.storage.unread)} not read"
    disk, made = disk_of(claim, facts.storage), made_for(volume, claim, facts.storage)
    if disk is not None:
        return None if disk.kind in KNOWN_SOURCES else f"volume {disk.name} is of kind {disk.kind}"
    if volume.kind == CLAIM and (claim is None or not waits_for_its_pod(claim, made)):
        return None  # a claim that starts no pod, which is named so
    return _is_not_made(made, facts.storage)


def _is_not_made(made: StorageClass | None, storage: Storage) -> str | None:
    """Return why a new volume of the class might not be made where the pod goes."""
    if made is None:
        return "its storage class is missing"
    if not made.waits_for_consumer:
        return f"class {made.name} makes a volume before its pod has a node"
    if made.provisioner in NOT_MADE:
        return f"volumes of class {made.name} are made by hand"
    return f"{made.provisioner} has room in some places only" if made.provisioner in storage.capacity_drivers else None


VolumeQuestion = Callable[[Volume, PersistentVolumeClaim | None, VolumeFacts], str | None]
VOLUME_BLOCKS: Final[tuple[tuple[PodBlock, VolumeQuestion], ...]] = (
    (PodBlock.LOCAL_VOLUME, _lies_on_its_node),
    (PodBlock.UNBOUND_CLAIM, _starts_no_pod),
    (PodBlock.SHARED_DISK, _held_by_others),
    (PodBlock.VOLUMES, _is_not_known),
)
"""Asked of each volume that is not `WITHOUT_PLACE`; the answer names what keeps its pod, empty if its kind does."""
