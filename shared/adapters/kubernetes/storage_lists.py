"""Claims, volumes, storage classes and what CSI drivers report: where each is listed, and what is kept.

A list that may not be read is named; any other failure is the caller's. Sources: the API's
config-and-storage-resources, component-helpers, storage/volume (annotations), csi-translation-lib, plugins (handles).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from sys import intern
from typing import Any, Final, Generic, TypeVar

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.malformed_objects import RawPart
from shared.adapters.kubernetes.selectors import NodeSelector, selector_terms
from shared.adapters.kubernetes.transport import Call
from shared.core.cluster import names
from shared.core.cluster.selectors import NO_LABELS, Labels, NodeTerm, Requirement
from shared.core.cluster.storage import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    Storage,
    StorageClass,
    VolumeAttachment,
)
from shared.errors import Forbidden

_DEFAULT_CLASS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_CSI: Final = "csi"
_GCE_DISK: Final = "gcePersistentDisk"
_GCE_DRIVER: Final = "pd.csi.storage.gke.io"
_UNSPECIFIED: Final = "UNSPECIFIED"
_ZONES_APART: Final = "__"
_PLUGINS: Final = {
    _GCE_DISK: "kubernetes.io/gce-pd",
    "awsElasticBlockStore": "kubernetes.io/aws-ebs",
    "azureDisk": "kubernetes.io/azure-disk",
    "azureFile": "kubernetes.io/azure-file",
    "cinder": "kubernetes.io/cinder",
    "portworxVolume": "kubernetes.io/portworx-volume",
    "vsphereVolume": "kubernetes.io/vsphere-volume",
}
"""The in-tree plugins whose volumes a CSI driver may have taken over."""
_OTHER_SOURCES: Final = (
    "local", "hostPath", "nfs", "iscsi", "fc", "rbd", "cephfs", "glusterfs", "flexVolume", "flocker",
    "photonPersistentDisk", "quobyte", "scaleIO", "storageos",
)  # fmt: skip
_SOURCES: Final = (_CSI, *_PLUGINS, *_OTHER_SOURCES)


class VolumeNodeAffinity(wire.Partial, frozen=True):
    required: NodeSelector | None = None


_strings: Final = RawPart("spec.accessModes", list[str])
_source: Final = RawPart("spec, the volume's source", wire.VolumeSource)
_claim_reference: Final = RawPart("spec.claimRef", wire.ClaimReference)
_affinity: Final = RawPart("spec.nodeAffinity", VolumeNodeAffinity)


def claim(given: wire.Claim) -> PersistentVolumeClaim:
    meta, spec = given.metadata, given.spec
    notes, volume = meta.annotations or {}, spec.volume_name or ""
    return PersistentVolumeClaim(
        namespace=intern(meta.namespace),
        name=meta.name,
        volume=volume,
        bound=bool(volume) and "pv.kubernetes.io/bind-completed" in notes,
        storage_class=intern(notes.get("volume.beta.kubernetes.io/storage-class") or spec.storage_class_name or ""),
        access_modes=_same_modes(tuple(spec.access_modes or ())),
        lost=given.status.phase == "Lost",
        deleting=meta.deletion_timestamp is not None,
        selected_node=notes.get("volume.kubernetes.io/selected-node", ""),
    )


def volume(given: wire.Volume) -> PersistentVolume:
    """Return the volume; its kind is empty where the source is none that Kubernetes has had so far."""
    meta, spec = given.metadata, given.spec
    kind = next((source for source in _SOURCES if source in spec), "")
    source = _source.read(spec.get(kind, wire.ABSENT)) or wire.VolumeSource()
    claimed = _claim_reference.read(spec.get("claimRef", wire.ABSENT))
    place = ((key, value) for key in names.VOLUME_ZONE_LABELS if (value := (meta.labels or {}).get(key)) is not None)
    labels = _same_labels(tuple(place))
    migrated = kind == _GCE_DISK
    return PersistentVolume(
        name=meta.name,
        kind=kind,
        driver=_GCE_DRIVER if migrated else intern(source.driver or "") if kind == _CSI else "",
        handle=_gce_handle(source.pd_name or "", labels) if migrated else source.volume_handle or "",
        plugin=_PLUGINS.get(kind, ""),
        node_terms=_node_terms(bytes(spec.get("nodeAffinity", wire.ABSENT))),
        labels=labels,
        access_modes=_same_modes(tuple(_strings.read(spec.get("accessModes", wire.ABSENT)) or ())),
        claim=f"{claimed.namespace}/{claimed.name}" if claimed else "",
    )


@lru_cache(maxsize=64)
def _same_modes(modes: tuple[str, ...]) -> tuple[str, ...]:
    """Return one tuple for all that are equal: thousands of volumes have one of a few."""
    return modes


@lru_cache(maxsize=256)
def _same_labels(labels: tuple[tuple[str, str], ...]) -> Labels:
    """Return one object for all labels of a place that are equal."""
    return dict(labels) if labels else NO_LABELS


@lru_cache(maxsize=1024)
def _node_terms(raw: bytes) -> tuple[NodeTerm, ...] | None:
    found = _affinity.read(raw)
    return selector_terms(found.required) if found and found.required else None


def _gce_handle(disk: str, labels: Labels) -> str:
    """Return the handle as the scheduler translates it (csi-translation-lib, plugins/gce_pd.go)."""
    zone = labels.get(names.VOLUME_ZONE_LABELS[0]) or labels.get(names.ZONE_LABEL) or _UNSPECIFIED
    if _ZONES_APART not in zone:
        return f"projects/{_UNSPECIFIED}/zones/{zone}/disks/{disk}"
    region = zone.partition(_ZONES_APART)[0].rpartition("-")[0]
    return f"projects/{_UNSPECIFIED}/regions/{region}/disks/{disk}"


def storage_class(given: wire.StorageClass) -> StorageClass:
    meta = given.metadata
    notes = meta.annotations or {}
    default = any(notes.get(key) == "true" for key in _DEFAULT_CLASS)
    terms = tuple(NodeTerm(_topology(term)) for term in given.allowed_topologies or ())
    return StorageClass(
        name=meta.name,
        provisioner=given.provisioner or "",
        waits_for_consumer=given.volume_binding_mode == "WaitForFirstConsumer",
        allowed_topologies=terms or None,
        default_since=meta.creation_timestamp if default else None,
    )


def _topology(given: wire.TopologyTerm) -> tuple[Requirement, ...]:
    return tuple(Requirement(row.key, "In", row.values or ()) for row in given.match_label_expressions or ())


def csi_node(given: wire.CSINode) -> CSINode:
    drivers = ((row.name, row.allocatable.count if row.allocatable else None) for row in given.spec.drivers or ())
    plugins = (given.metadata.annotations or {}).get("storage.alpha.kubernetes.io/migrated-plugins", "")
    return CSINode(
        limits={name: count for name, count in drivers if count is not None},
        migrated=frozenset(plugins.split(",")) - {""},
    )


def attachment(given: wire.VolumeAttachment) -> VolumeAttachment | None:
    """Return the attachment; None of a volume that a pod names in itself, which the scheduler does not count."""
    spec = given.spec
    name = spec.source.persistent_volume_name
    return VolumeAttachment(intern(spec.attacher), name) if spec.attacher and name else None


StorageItem = TypeVar("StorageItem", bound=wire.Partial)
Row = TypeVar("Row")
_STORAGE_API: Final = "/apis/storage.k8s.io/v1"


class StorageList(Generic[StorageItem, Row]):
    """One list. `keep` adds an item to the rows; the first one of a name is kept."""

    def __init__(
        self, kind: str, path: str, item: type[StorageItem], keep: Callable[[dict[str, Row], StorageItem], object]
    ) -> None:
        self.kind, self.path, self._keep = kind, path, keep
        self.resource = path.rpartition("/")[2]
        self.pages: msgspec.json.Decoder[wire.Page[StorageItem]] = msgspec.json.Decoder(wire.Page[item])  # type: ignore[valid-type]
        self._item: msgspec.json.Decoder[StorageItem] = msgspec.json.Decoder(item)

    def gather(self, items: Iterator[StorageItem]) -> dict[str, Row]:
        rows: dict[str, Row] = {}
        for item in items:
            self._keep(rows, item)
        return rows

    def add(self, rows: dict[str, Row], raw: bytes | msgspec.Raw) -> None:
        """Add one item of a dump. Raises BadInput or msgspec.ValidationError."""
        self._keep(rows, self._item.decode(raw))


def _keep_by_name(convert: Callable[[Any], Row]) -> Callable[[dict[str, Row], Any], object]:
    return lambda rows, given: rows.setdefault(given.metadata.name, convert(given))


def _keep_claim(rows: dict[str, PersistentVolumeClaim], given: wire.Claim) -> None:
    found = claim(given)
    rows.setdefault(found.key, found)


def _keep_attachment(rows: dict[str, tuple[VolumeAttachment, ...]], given: wire.VolumeAttachment) -> None:
    found, node = attachment(given), given.spec.node_name
    already = rows.get(node, ())
    if found is not None and found not in already:
        rows[node] = (*already, found)


CLAIMS: Final = StorageList("PersistentVolumeClaim", "/api/v1/persistentvolumeclaims", wire.Claim, _keep_claim)
VOLUMES: Final = StorageList("PersistentVolume", "/api/v1/persistentvolumes", wire.Volume, _keep_by_name(volume))
CLASSES: Final = StorageList(
    "StorageClass", f"{_STORAGE_API}/storageclasses", wire.StorageClass, _keep_by_name(storage_class)
)
CSI_NODES: Final = StorageList("CSINode", f"{_STORAGE_API}/csinodes", wire.CSINode, _keep_by_name(csi_node))
ATTACHMENTS: Final = StorageList(
    "VolumeAttachment", f"{_STORAGE_API}/volumeattachments", wire.VolumeAttachment, _keep_attachment
)
DRIVERS: Final = StorageList(
    "CSIDriver",
    f"{_STORAGE_API}/csidrivers",
    wire.CSIDriver,
    _keep_by_name(lambda given: bool(given.spec.storage_capacity)),
)
ALL: Final[tuple[StorageList[Any, Any], ...]] = (CLAIMS, VOLUMES, CLASSES, CSI_NODES, ATTACHMENTS, DRIVERS)
"""Claims first, so that the volume of each is read after it and is there."""


@dataclass
class StorageRows:
    """What the lists held, by resource and then by name, and which could not be read."""

    rows: dict[str, dict[str, Any]] = field(default_factory=lambda: {kind.resource: {} for kind in ALL})
    unread: list[str] = field(default_factory=list)

    def storage(self) -> Storage:
        capacity: dict[str, bool] = self.rows[DRIVERS.resource]
        return Storage(
            claims=self.rows[CLAIMS.resource],
            volumes=self.rows[VOLUMES.resource],
            classes=self.rows[CLASSES.resource],
            csi_nodes=self.rows[CSI_NODES.resource],
            attachments=self.rows[ATTACHMENTS.resource],
            capacity_drivers=frozenset(driver for driver, counted in capacity.items() if counted),
            unread=tuple(self.unread),
        )


def read_storage(client: KubernetesClient) -> Storage:
    """Read all lists. Raises as `KubernetesClient.read_list`; a list that may not be read is only named."""
    found = StorageRows()
    for kind in ALL:
        try:
            call = Call("list", kind.resource, kind.path)
            found.rows[kind.resource] = client.read_list(call, kind.pages, kind.gather)
        except Forbidden:
            found.unread.append(kind.resource)
    return found.storage()
