"""The lists of what holds room without pods, and of ComputeClasses: where the cluster has them, what is kept of each.

A cluster without such kinds is asked for their API groups alone. A list that the account may not read, and an object
that is not of the known shape, are named and left out; any other failure is the caller's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from shared.adapters.kubernetes.buffer_objects import (
    COMPUTE_CLASS,
    Buffer,
    ComputeClass,
    PodTemplate,
    classes_of,
    held,
    replicas_of,
    template_of,
)
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.discovery import AdvisoryLists
from shared.adapters.kubernetes.odd_objects import OddObjects
from shared.core.cluster.autoscaling import BUFFER_KIND, Buffers, ComputeClasses, sorted_buffers

BUFFERS: Final = "capacitybuffers"
BUFFER_GROUP: Final = "autoscaling.x-k8s.io"
TEMPLATES: Final = "podtemplates"
CLASSES: Final = "computeclasses"
CLASS_GROUP: Final = "cloud.google.com"
KINDS: Final[Mapping[str, str]] = {
    BUFFER_KIND: f"{BUFFERS}.{BUFFER_GROUP}",
    "PodTemplate": TEMPLATES,
    COMPUTE_CLASS: f"{CLASSES}.{CLASS_GROUP}",
}
"""By kind: its name as `kubectl api-resources -o name` prints it."""
_one_buffer: Final = msgspec.json.Decoder(Buffer)
_one_template: Final = msgspec.json.Decoder(PodTemplate)
_one_class: Final = msgspec.json.Decoder(ComputeClass)


@dataclass
class BufferRows:
    """What the lists held, by `namespace/name`, which could not be read, and which of their objects."""

    buffers: dict[str, Buffer] = field(default_factory=dict)
    templates: dict[str, PodTemplate] = field(default_factory=dict)
    classes: dict[str, ComputeClass] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    odd: OddObjects = field(default_factory=OddObjects)

    def add_buffer(self, raw: bytes | msgspec.Raw) -> None:
        """Add one item of a dump, as the next two do; one that cannot be read is named."""
        _add(self.buffers, self.odd.left_out(BUFFERS, iter((raw,)), _one_buffer.decode))

    def add_template(self, raw: bytes | msgspec.Raw) -> None:
        _add(self.templates, self.odd.left_out(TEMPLATES, iter((raw,)), _one_template.decode))

    def add_class(self, raw: bytes | msgspec.Raw) -> None:
        _add(self.classes, self.odd.left_out(CLASSES, iter((raw,)), _one_class.decode))

    def merge(self, other: "BufferRows") -> None:
        """Add what was printed elsewhere of the same cluster; what is known already stays."""
        _add(self.buffers, other.buffers.values())
        _add(self.templates, other.templates.values())
        _add(self.classes, other.classes.values())
        self.odd.found |= other.odd.found

    def read_dumped(self) -> Buffers:
        """The same of a dump, in which a list that is needed may have been left out."""
        used = [template_of(each) for each in self.buffers.values() if replicas_of(each)]
        self.unread = [TEMPLATES] if any(name and name not in self.templates for name in used) else []
        return self.read()

    def read(self) -> Buffers:
        found = held(self.buffers.values(), self.templates, self.classes.values(), self.odd)
        return Buffers(sorted_buffers(found), tuple(self.unread), self.odd.faults)

    def read_classes(self) -> ComputeClasses:
        return classes_of(self.classes.values(), unread=CLASSES in self.unread)


def read_buffers(client: KubernetesClient) -> tuple[Buffers, ComputeClasses]:
    """Read the capacity buffers with their templates, and what the ComputeClasses define of scale-down."""
    rows = BufferRows()
    lists = AdvisoryLists(client, rows.odd, rows.unread)
    _add(rows.buffers, lists.read(BUFFERS, _one_buffer.decode, BUFFER_GROUP))
    _add(rows.classes, lists.read(CLASSES, _one_class.decode, CLASS_GROUP))
    if any(replicas_of(each) for each in rows.buffers.values()):
        _add(rows.templates, lists.read(TEMPLATES, _one_template.decode))
    return rows.read(), rows.read_classes()


def _add(rows: dict[str, Any], items: Iterable[Buffer | PodTemplate | ComputeClass]) -> None:
    """Add the objects by `namespace/name`; the first one of a name is kept."""
    for each in items:
        rows.setdefault(f"{each.metadata.namespace}/{each.metadata.name}", each)
