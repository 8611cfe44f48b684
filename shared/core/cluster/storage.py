"""What is behind the volumes of pods, as the scheduler's volume filters read it."""
# kubernetes.io/docs/concepts/storage.

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final

from shared.core.cluster.names import Namespaced
from shared.core.cluster.pod import EPHEMERAL, WITH_CLAIM, Pod
from shared.core.cluster.selectors import Labels, NodeTerm, no_labels

READ_WRITE_ONCE: Final = "ReadWriteOnce"
READ_WRITE_ONCE_POD: Final = "ReadWriteOncePod"
LISTS: Final = (
    "persistentvolumeclaims",
    "persistentvolumes",
    "storageclasses",
    "csinodes",
    "volumeattachments",
    "csidrivers",
)
"""The API's lists that a `Storage` is made of, by RBAC's words."""


@dataclass(frozen=True, slots=True)
class PersistentVolumeClaim(Namespaced):
    """One claim. `volume` is empty until it is given one."""

    volume: str = ""
    bound: bool = False  # Whether the binding is complete: a claim may name its volume before that.
    storage_class: str = ""
    access_modes: tuple[str, ...] = ()
    lost: bool = False  # Whether its volume is there no more (phase Lost).
    deleting: bool = False
    selected_node: str = ""  # The node for which the scheduler has requested the volume.


@dataclass(frozen=True, slots=True)
class PersistentVolume:
    """One volume. `kind` is the API's field name of its source (csi, local, hostPath, nfs, gcePersistentDisk …)."""

    name: str
    kind: str
    driver: str = ""  # The CSI driver that attaches it, or that has taken over from an in-tree plugin.
    handle: str = ""  # The driver's own name of the volume; two volumes of one driver and handle are one disk.
    plugin: str = ""  # The in-tree plugin (kubernetes.io/gce-pd …) of a volume that is not the CSI's own.
    node_terms: tuple[NodeTerm, ...] | None = None
    """Required node affinity, by a node's labels alone: any term may match; None = no requirement. As written: on
    a node whose plugin has been taken over, the scheduler reads a zone's key as the driver's own topology key."""
    labels: Labels = field(default_factory=no_labels)  # Only those named in `names.VOLUME_ZONE_LABELS`.
    access_modes: tuple[str, ...] = ()
    claim: str = ""  # `namespace/name` of the claim that it is bound to or kept for.


@dataclass(frozen=True, slots=True)
class StorageClass:
    name: str
    provisioner: str = ""
    waits_for_consumer: bool = False  # Whether a claim is bound only once its pod has a node (WaitForFirstConsumer).
    allowed_topologies: tuple[NodeTerm, ...] | None = None  # Where volumes may be made: any term; None = anywhere.
    default_since: datetime | None = None  # When it was created, of a class that claims get which name none.


@dataclass(frozen=True, slots=True)
class CSINode:
    """What a node's CSI drivers report. A driver without a limit is not in `limits`."""

    limits: Mapping[str, int] = field(default_factory=dict)  # How many volumes a driver may attach.
    migrated: frozenset[str] = frozenset()  # The in-tree plugins whose volumes a CSI driver attaches there.


@dataclass(frozen=True, slots=True)
class VolumeAttachment:
    driver: str
    volume: str  # The name of the PersistentVolume.


@dataclass(frozen=True)
class Storage:
    """All storage objects, by name or `namespace/name`. The default knows none, so pods with claims stay."""

    claims: Mapping[str, PersistentVolumeClaim] = field(default_factory=dict)
    volumes: Mapping[str, PersistentVolume] = field(default_factory=dict)
    classes: Mapping[str, StorageClass] = field(default_factory=dict)
    csi_nodes: Mapping[str, CSINode] = field(default_factory=dict)
    attachments: Mapping[str, tuple[VolumeAttachment, ...]] = field(default_factory=dict)  # By node.
    capacity_drivers: frozenset[str] = frozenset()
    """Drivers that make a volume only if they have reported room for it; that room is not read."""
    unread: tuple[str, ...] = LISTS  # Lists that could not be read: a pod with a claim is then promised no place.

    @property
    def known(self) -> bool:
        return not self.unread

    @cached_property
    def default_class(self) -> str:
        """The class of claims that name none: of several the newest (admission DefaultStorageClass)."""
        rows = ((row.default_since, row.name) for row in self.classes.values() if row.default_since)
        newest_first = sorted(rows, key=lambda row: (-row[0].timestamp(), row[1]))
        return newest_first[0][1] if newest_first else ""


NO_CLAIMS: Final = Storage(unread=())  # The storage if no pod has a claim: nothing needs to be read.


def uses_claims(pods: Iterable[Pod]) -> bool:
    return any(pod.spec.uses_claims for pod in pods)


def claim_keys(pod: Pod) -> Iterator[str]:
    """Yield `namespace/name` of the claims that a pod uses; an ephemeral volume's is named after its pod."""
    for volume in pod.spec.volumes:
        if volume.kind in WITH_CLAIM:
            name = f"{pod.name}-{volume.name}" if volume.kind == EPHEMERAL else volume.detail
            yield f"{pod.spec.namespace}/{name}"
