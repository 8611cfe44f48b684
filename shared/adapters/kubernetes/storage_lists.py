"""The lists of claims, volumes, storage classes and of what CSI drivers say: where each is, and what is kept of it.

A list that the account may not read is named and left out, for an installation is updated more often than its rights;
any other failure is the caller's.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

import msgspec

from shared.adapters.kubernetes import storage_objects, storage_wire, wire
from shared.adapters.kubernetes.client import Call, KubernetesClient
from shared.core.cluster.storage import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    Storage,
    StorageClass,
    VolumeAttachment,
)
from shared.errors import Forbidden

StorageItem = TypeVar("StorageItem", bound=wire.Partial)
Row = TypeVar("Row")
Attachments = tuple[VolumeAttachment, ...]
_STORAGE_API: Final = "/apis/storage.k8s.io/v1"


class StorageList(Generic[StorageItem, Row]):
    """One list. `keep` adds what an item says to the rows; the first one of a name is kept."""

    def __init__(
        self, kind: str, path: str, item: type[StorageItem], keep: Callable[[dict[str, Row], StorageItem], object]
    ) -> None:
        self.kind, self.path, self._keep = kind, path, keep
        self.resource = path.rpartition("/")[2]
        self.pages: msgspec.json.Decoder[wire.Page[StorageItem]] = msgspec.json.Decoder(wire.Page[item])  # type: ignore[valid-type]
        self._item: msgspec.json.Decoder[StorageItem] = msgspec.json.Decoder(item)

    def gather(self, items: Iterator[StorageItem]) -> dict[str, Row]:
        rows: dict[str, Row] = {}
        for each in items:
            self._keep(rows, each)
        return rows

    def add(self, rows: dict[str, Row], raw: bytes | msgspec.Raw) -> None:
        """Add one item of a dump. Raises BadInput or msgspec.ValidationError."""
        self._keep(rows, self._item.decode(raw))


def _keep_claim(rows: dict[str, PersistentVolumeClaim], given: storage_wire.Claim) -> None:
    found = storage_objects.claim(given)
    rows.setdefault(found.key, found)


def _keep_attachment(rows: dict[str, Attachments], given: storage_wire.VolumeAttachment) -> None:
    """Keep what counts, by node."""
    found, node = storage_objects.attachment(given), given.spec.node_name
    already = rows.get(node, ())
    if found is not None and found not in already:
        rows[node] = (*already, found)


CLAIMS: Final = StorageList("PersistentVolumeClaim", "/api/v1/persistentvolumeclaims", storage_wire.Claim, _keep_claim)
VOLUMES: Final = StorageList[storage_wire.Volume, PersistentVolume](
    "PersistentVolume",
    "/api/v1/persistentvolumes",
    storage_wire.Volume,
    lambda rows, given: rows.setdefault(given.metadata.name, storage_objects.volume(given)),
)
CLASSES: Final = StorageList[storage_wire.StorageClass, StorageClass](
    "StorageClass",
    f"{_STORAGE_API}/storageclasses",
    storage_wire.StorageClass,
    lambda rows, given: rows.setdefault(given.metadata.name, storage_objects.storage_class(given)),
)
CSI_NODES: Final = StorageList[storage_wire.CSINode, CSINode](
    "CSINode",
    f"{_STORAGE_API}/csinodes",
    storage_wire.CSINode,
    lambda rows, given: rows.setdefault(given.metadata.name, storage_objects.csi_node(given)),
)
ATTACHMENTS: Final = StorageList(
    "VolumeAttachment", f"{_STORAGE_API}/volumeattachments", storage_wire.VolumeAttachment, _keep_attachment
)
DRIVERS: Final = StorageList[storage_wire.CSIDriver, bool](
    "CSIDriver",
    f"{_STORAGE_API}/csidrivers",
    storage_wire.CSIDriver,
    lambda rows, given: rows.setdefault(given.metadata.name, bool(given.spec.storage_capacity)),
)
ALL: Final[tuple[StorageList[Any, Any], ...]] = (CLAIMS, VOLUMES, CLASSES, CSI_NODES, ATTACHMENTS, DRIVERS)
"""Claims first, so that the volume of each is read after it and is there."""


@dataclass
class StorageRows:
    """What the lists held, by resource and then by name, and which could not be read."""

    rows: dict[str, dict[str, Any]] = field(default_factory=lambda: {each.resource: {} for each in ALL})
    unread: list[str] = field(default_factory=list)

    def merge(self, other: "StorageRows") -> None:
        """Add what another reading of the same cluster held; what is known already stays."""
        for resource, rows in other.rows.items():
            mine = self.rows[resource]
            for name, row in rows.items():
                attached = resource == ATTACHMENTS.resource and name in mine
                mine[name] = tuple(dict.fromkeys((*mine[name], *row))) if attached else mine.get(name, row)

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
    """Read all of it. Raises as `KubernetesClient.read_list`, but for what may not be read."""
    found = StorageRows()
    for each in ALL:
        try:
            call = Call("list", each.resource, each.path)
            found.rows[each.resource] = client.read_list(call, each.pages, each.gather)
        except Forbidden:
            found.unread.append(each.resource)
    return found.storage()
