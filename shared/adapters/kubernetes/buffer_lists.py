"""The lists of what holds room without pods: where the cluster has them, and what is kept of each.

A cluster without such kinds is asked for their API groups alone. A list that the account may not read is named and
left out; any other failure is the caller's. Must not know what the objects mean: that is `buffer_objects`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec

from shared.adapters.kubernetes import buffer_objects, buffer_wire, wire
from shared.adapters.kubernetes.client import Call, KubernetesClient, readable
from shared.adapters.kubernetes.discovery import path_of
from shared.core.cluster.buffers import KIND, NO_BUFFERS, Buffers, sorted_buffers
from shared.errors import Forbidden

T = TypeVar("T")
BUFFERS: Final = "capacitybuffers"
BUFFER_GROUP: Final = "autoscaling.x-k8s.io"
TEMPLATES: Final = "podtemplates"
_TEMPLATE_PATH: Final = "/api/v1/podtemplates"
CLASSES: Final = "computeclasses"
CLASS_GROUP: Final = "cloud.google.com"
_buffers: Final = msgspec.json.Decoder(wire.Page[buffer_wire.Buffer])
_templates: Final = msgspec.json.Decoder(wire.Page[buffer_wire.PodTemplate])
_classes: Final = msgspec.json.Decoder(wire.Page[buffer_wire.ComputeClass])


KINDS: Final[Mapping[str, str]] = {
    KIND: f"{BUFFERS}.{BUFFER_GROUP}",
    "PodTemplate": TEMPLATES,
    buffer_objects.COMPUTE_CLASS: f"{CLASSES}.{CLASS_GROUP}",
}
"""By kind: its name as `kubectl api-resources -o name` prints it."""
_one_buffer: Final = msgspec.json.Decoder(buffer_wire.Buffer)
_one_template: Final = msgspec.json.Decoder(buffer_wire.PodTemplate)
_one_class: Final = msgspec.json.Decoder(buffer_wire.ComputeClass)


@dataclass
class BufferRows:
    """What the lists held, by `namespace/name`, and which could not be read."""

    buffers: dict[str, buffer_wire.Buffer] = field(default_factory=dict)
    templates: dict[str, buffer_wire.TemplateBody] = field(default_factory=dict)
    classes: dict[str, buffer_wire.ComputeClass] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)

    def add_buffer(self, raw: bytes | msgspec.Raw) -> None:
        """Add one item of a dump, as the next two do. Raises msgspec.ValidationError."""
        self.buffers = {**by_key(iter((_one_buffer.decode(raw),))), **self.buffers}

    def add_template(self, raw: bytes | msgspec.Raw) -> None:
        self.templates = {**by_template(iter((_one_template.decode(raw),))), **self.templates}

    def add_class(self, raw: bytes | msgspec.Raw) -> None:
        self.classes = {**by_key(iter((_one_class.decode(raw),))), **self.classes}

    def merge(self, other: "BufferRows") -> None:
        """Add what was printed elsewhere of the same cluster; what is known already stays."""
        self.buffers = {**other.buffers, **self.buffers}
        self.templates = {**other.templates, **self.templates}
        self.classes = {**other.classes, **self.classes}

    def read_dumped(self) -> Buffers:
        """The same of a dump, in which a list that is needed may have been left out."""
        used = [buffer_objects.template_of(each) for each in self.buffers.values() if buffer_objects.replicas_of(each)]
        self.unread = [TEMPLATES] if any(name and name not in self.templates for name in used) else []
        return self.read()

    def read(self) -> Buffers:
        """Raises BadInput where a template cannot be read."""
        found = buffer_objects.held(self.buffers.values(), self.templates, self.classes.values())
        return Buffers(sorted_buffers(found), tuple(self.unread))


def read_buffers(client: KubernetesClient) -> Buffers:
    """Read all of it.

    Raises:
        Retryable, Terminal: as `KubernetesClient.read_list`, but for what is not there or may not be read.
    """
    rows, unread = BufferRows(), []

    def listed(resource: str, place: Callable[[], str | None], pages: Any, gather: Callable[[Iterator[Any]], T]) -> T:
        try:
            path = place()
            return client.read_list(Call("list", resource, path), pages, gather) if path else gather(iter(()))
        except Forbidden:
            unread.append(resource)
            return gather(iter(()))

    rows.buffers = listed(BUFFERS, lambda: path_of(client, BUFFER_GROUP, BUFFERS), _buffers, by_key)
    rows.classes = listed(CLASSES, lambda: path_of(client, CLASS_GROUP, CLASSES), _classes, by_key)
    if any(buffer_objects.replicas_of(each) for each in rows.buffers.values()):
        rows.templates = listed(TEMPLATES, lambda: _TEMPLATE_PATH, _templates, by_template)
    rows.unread = unread
    if not (rows.buffers or rows.classes or unread):
        return NO_BUFFERS
    with readable(Call("list", TEMPLATES, _TEMPLATE_PATH)):
        return rows.read()


def by_key(items: Iterator[Any]) -> dict[str, Any]:
    return {f"{each.metadata.namespace}/{each.metadata.name}": each for each in items}


def by_template(items: Iterator[buffer_wire.PodTemplate]) -> dict[str, buffer_wire.TemplateBody]:
    return {f"{each.metadata.namespace}/{each.metadata.name}": each.template for each in items}
