"""How many volumes of a CSI driver a node can attach: those of its pods, each once, and what is attached besides.

As the scheduler counts (plugin NodeVolumeLimits): a volume that several pods of a node use is one; so is a claim whose
volume is still to be made; each pod has an ephemeral volume of its own; any other attachment counts until it is gone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.core.cluster.pod import WITH_CLAIM, PodClass, Volume
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import Storage
from shared.core.placement.constraints.constraint import Constraint, ConstraintInput, ConstraintState, allowed_by_all
from shared.core.placement.node_filters import NodeMask
from shared.core.rules.unmodelled import claim_of, disk_of, made_for

GCE_DRIVER: Final = "pd.csi.storage.gke.io"
IN_TREE: Final = {"kubernetes.io/gce-pd": GCE_DRIVER}
"""The CSI drivers that have taken over from in-tree plugins, by plugin."""
INLINE: Final = "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/"
"""How the driver names a disk of which a pod gives the name alone (csi-translation-lib, plugins/gce_pd.go)."""
UNLIMITED: Final = np.iinfo(np.int64).max // 2
"""Room for any number of volumes, and far from where adding would overflow."""
Disk = tuple[str, str]  # A driver and its own name of a volume.


@dataclass(frozen=True)
class Brought:
    """What a pod of a class brings of one driver: volumes by number, and how many that are its own."""

    driver: int
    volumes: tuple[int, ...]
    own: int


class AttachLimits(Constraint):
    def __init__(self, given: ConstraintInput) -> None:
        storage, nodes = given.snapshot.storage, given.snapshot.nodes
        limited = sorted({driver for node in storage.csi_nodes.values() for driver in node.limits})
        self.drivers: Mapping[str, int] = {driver: place for place, driver in enumerate(limited)}
        self.limits: NDArray[np.int64] = np.full((len(limited), len(nodes)), UNLIMITED, np.int64)
        for place, node in enumerate(nodes):
            for driver, most in storage.csi_nodes[node.name].limits.items() if node.name in storage.csi_nodes else ():
                self.limits[self.drivers[driver], place] = most
        self._numbers: dict[Disk, int] = {}
        self.brings = [self._volumes_of_class(spec, storage) if limited else () for spec in given.classes]
        self.attached = tuple(self._attached_volumes(given.snapshot))

    def concerns(self, kind: int) -> bool:
        return bool(self.brings[kind])

    def state(self) -> "AttachLimitsState":
        return AttachLimitsState(self)

    def _volumes_of_class(self, spec: PodClass, storage: Storage) -> tuple[Brought, ...]:
        disks = [disk for volume in spec.volumes if (disk := _disk(spec, volume, storage))]
        shared = dict.fromkeys(disk for disk in disks if disk[1])
        found = []
        for name, driver in self.drivers.items():
            volumes = tuple(self._number(disk) for disk in shared if disk[0] == name)
            own = sum(disk == (name, "") for disk in disks)
            if volumes or own:
                found.append(Brought(driver, volumes, own))
        return tuple(found)

    def _number(self, disk: Disk) -> int:
        return self._numbers.setdefault(disk, len(self._numbers))

    def _attached_volumes(self, snapshot: Snapshot) -> Iterable[tuple[int, int, int]]:
        """Yield node, driver and volume of what is attached; only CSI's own volumes are counted so."""
        storage = snapshot.storage
        for place, node in enumerate(snapshot.nodes):
            for attachment in storage.attachments.get(node.name, ()):
                disk = storage.volumes.get(attachment.volume)
                if disk is not None and disk.kind == "csi" and attachment.driver in self.drivers:
                    yield place, self.drivers[attachment.driver], self._number((attachment.driver, disk.handle))


class AttachLimitsState(ConstraintState):
    """How many volumes each node has attached, by driver, and how many pods use each volume where."""

    def __init__(self, limits: AttachLimits, *, empty: bool = False) -> None:
        self._of = limits
        self._counts = np.zeros(limits.limits.shape, np.int64)
        self._users: dict[int, Mapping[int, int]] = {}
        self._attached_volumes: frozenset[tuple[int, int]] = frozenset()
        if not empty:
            self._attached_volumes = frozenset((volume, node) for node, _, volume in limits.attached)
            for node, driver, _ in set(limits.attached):
                self._counts[driver, node] += 1

    def copy(self) -> "AttachLimitsState":
        twin = AttachLimitsState(self._of, empty=True)
        twin._counts[...] = self._counts
        twin._users, twin._attached_volumes = dict(self._users), self._attached_volumes
        return twin

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        for brought in self._of.brings[kind]:
            new = sum(self._use(volume, node, pods) for volume in brought.volumes)
            self._counts[brought.driver, node] += new + pods * brought.own

    def _use(self, volume: int, node: int, pods: int) -> int:
        """Count pods that use a volume on a node; return by how many volumes the node has more for it."""
        users = dict(self._users.get(volume, {}))
        before = users.get(node, 0)
        users[node] = before + pods
        if not users[node]:
            del users[node]
        self._users[volume] = users
        if (volume, node) in self._attached_volumes:
            return 0
        return (before + pods > 0) - (before > 0)

    def allowed_nodes(self, kind: int) -> NodeMask | None:
        return allowed_by_all([self._find_room(brought) for brought in self._of.brings[kind]])

    def _find_room(self, brought: Brought) -> NodeMask:
        free = self._of.limits[brought.driver] - self._counts[brought.driver]
        mask: NodeMask = free >= len(brought.volumes) + brought.own
        there: dict[int, int] = {}
        for volume in brought.volumes:
            for node, pods in self._users.get(volume, {}).items():
                there[node] = there.get(node, 0) + (pods > 0)
        for node, here in there.items():
            new = len(brought.volumes) - here + brought.own
            mask[node] = not new or free[node] >= new
        return mask

    def allows(self, kind: int, node: int) -> bool:
        for brought in self._of.brings[kind]:
            free = self._of.limits.item(brought.driver, node) - self._counts.item(brought.driver, node)
            here = sum(self._users.get(volume, {}).get(node, 0) > 0 for volume in brought.volumes)
            new = len(brought.volumes) - here + brought.own
            if new and free < new:
                return False
        return True


def _disk(spec: PodClass, volume: Volume, storage: Storage) -> Disk | None:
    """Return what the volume counts as, without a name where each pod has its own; None if nothing counts it."""
    if volume.kind == "gcePersistentDisk":
        return GCE_DRIVER, f"{INLINE}{volume.detail}"
    claim = claim_of(spec, volume, storage)
    disk = disk_of(claim, storage)
    if disk is not None:
        return (disk.driver, disk.handle) if disk.driver else None
    made = made_for(volume, claim, storage) if volume.kind in WITH_CLAIM else None
    if made is None:
        return None
    name = "" if claim is None else f"claim {claim.key}"
    return IN_TREE.get(made.provisioner, made.provisioner), name
