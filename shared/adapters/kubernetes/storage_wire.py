"""The part of claims, volumes, storage classes and CSI objects that Ebb reads; see `wire`."""

import msgspec

from shared.adapters.kubernetes.wire import OwnerReference, Partial, Time


class StorageMeta(Partial, frozen=True):
    name: str = ""
    namespace: str = ""
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None


class ClaimSpec(Partial, frozen=True):
    volume_name: str | None = ""
    storage_class_name: str | None = ""
    access_modes: list[str] | None = None


class ClaimStatus(Partial, frozen=True):
    phase: str | None = ""


class Claim(Partial, frozen=True):
    metadata: StorageMeta
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class Volume(Partial, frozen=True):
    """A PersistentVolume. Its source is a field of the spec that bears the source's kind as its name."""

    metadata: StorageMeta
    spec: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict)


class VolumeSource(Partial, frozen=True):
    """What tells two volumes of one kind apart: of csi the first two, of gcePersistentDisk the last."""

    driver: str | None = ""
    volume_handle: str | None = ""
    pd_name: str | None = ""


class ClaimReference(Partial, frozen=True):
    namespace: str | None = ""
    name: str | None = ""


class TopologyExpression(Partial, frozen=True):
    key: str = ""
    values: list[str] | None = None


class TopologyTerm(Partial, frozen=True):
    match_label_expressions: list[TopologyExpression] | None = None


class StorageClass(Partial, frozen=True):
    metadata: StorageMeta
    provisioner: str | None = ""
    volume_binding_mode: str | None = ""
    allowed_topologies: list[TopologyTerm] | None = None


class DriverAllocatable(Partial, frozen=True):
    count: int | None = None


class NodeDriver(Partial, frozen=True):
    name: str = ""
    allocatable: DriverAllocatable | None = None


class CSINodeSpec(Partial, frozen=True):
    drivers: list[NodeDriver] | None = None


class CSINode(Partial, frozen=True):
    metadata: StorageMeta
    spec: CSINodeSpec = CSINodeSpec()


class AttachmentSource(Partial, frozen=True):
    persistent_volume_name: str | None = ""


class AttachmentSpec(Partial, frozen=True):
    attacher: str = ""
    node_name: str = ""
    source: AttachmentSource = AttachmentSource()


class VolumeAttachment(Partial, frozen=True):
    metadata: StorageMeta
    spec: AttachmentSpec = AttachmentSpec()


class CSIDriverSpec(Partial, frozen=True):
    storage_capacity: bool | None = False


class CSIDriver(Partial, frozen=True):
    metadata: StorageMeta
    spec: CSIDriverSpec = CSIDriverSpec()
