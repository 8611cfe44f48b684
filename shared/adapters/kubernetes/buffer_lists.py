"""The lists of what holds room without pods, and of ComputeClasses: where the cluster has them, what is kept of each.

A cluster without such kinds is asked for their API groups alone. A list that the account may not read, and an object
that is not of the known shape, are named and left out; any other failure is the caller's.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from shared.adapters.kubernetes import buffer_objects
from shared.adapters.kubernetes.buffer_objects import classes_of
from shared.adapters.kubernetes.client import Call, KubernetesClient
from shared.adapters.kubernetes.discovery import path_of
from shared.adapters.kubernetes.odd_objects import RAW_PAGES, OddObjects
from shared.core.cluster.autoscaling import BUFFER_KIND, NO_BUFFERS, NO_CLASSES, Buffers, ComputeClasses, sorted_buffers
from shared.errors import EbbError

T = TypeVar("T")
Listed = TypeVar("Listed")
BUFFERS: Final = "capacitybuffers"
BUFFER_GROUP: Final = "autoscaling.x-k8s.io"
TEMPLATES: Final = "podtemplates"
_TEMPLATE_PATH: Final = "/api/v1/podtemplates"
CLASSES: Final = "computeclasses"
CLASS_GROUP: Final = "cloud.google.com"


KINDS: Final[Mapping[str, str]] = {
    BUFFER_KIND: f"{BUFFERS}.{BUFFER_GROUP}",
    "PodTemplate": TEMPLATES,
    buffer_objects.COMPUTE_CLASS: f"{CLASSES}.{CLASS_GROUP}",
}
"""By kind: its name as `kubectl api-resources -o name` prints it."""
_one_buffer: Final = msgspec.json.Decoder(buffer_objects.Buffer)
_one_template: Final = msgspec.json.Decoder(buffer_objects.PodTemplate)
_one_class: Final = msgspec.json.Decoder(buffer_objects.ComputeClass)


@dataclass
class BufferRows:
    """What the lists held, by `namespace/name`, which could not be read, and which of their objects."""

    buffers: dict[str, buffer_objects.Buffer] = field(default_factory=dict)
    templates: dict[str, buffer_objects.TemplateBody] = field(default_factory=dict)
    classes: dict[str, buffer_objects.ComputeClass] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    odd: OddObjects = field(default_factory=OddObjects)

    def add_buffer(self, raw: bytes | msgspec.Raw) -> None:
        """Add one item of a dump, as the next two do; one that cannot be read is named."""
        self.buffers = {**by_key(self.odd.left_out(BUFFERS, iter((raw,)), _one_buffer.decode)), **self.buffers}

    def add_template(self, raw: bytes | msgspec.Raw) -> None:
        self.templates = {
            **by_template(self.odd.left_out(TEMPLATES, iter((raw,)), _one_template.decode)),
            **self.templates,
        }

    def add_class(self, raw: bytes | msgspec.Raw) -> None:
        self.classes = {**by_key(self.odd.left_out(CLASSES, iter((raw,)), _one_class.decode)), **self.classes}

    def merge(self, other: "BufferRows") -> None:
        """Add what was printed elsewhere of the same cluster; what is known already stays."""
        self.buffers = {**other.buffers, **self.buffers}
        self.templates = {**other.templates, **self.templates}
        self.classes = {**other.classes, **self.classes}
        self.odd.found |= other.odd.found

    def read_dumped(self) -> Buffers:
        """The same of a dump, in which a list that is needed may have been left out."""
        used = [buffer_objects.template_of(each) for each in self.buffers.values() if buffer_objects.replicas_of(each)]
        self.unread = [TEMPLATES] if any(name and name not in self.templates for name in used) else []
        return self.read()

    def read(self) -> Buffers:
        found = buffer_objects.held(self.buffers.values(), self.templates, self.classes.values(), self.odd)
        return Buffers(sorted_buffers(found), tuple(self.unread), self.odd.faults)

    def read_classes(self) -> ComputeClasses:
        return classes_of(self.classes.values(), unread=CLASSES in self.unread)


@dataclass
class _Lists:
    """The lists of one cluster; `unread` are those that are there and may not be read."""

    client: KubernetesClient
    unread: list[str] = field(default_factory=list)
    odd: OddObjects = field(default_factory=OddObjects)

    def read(
        self,
        resource: str,
        place: Callable[[], str | None],
        item: msgspec.json.Decoder[Listed],
        gather: Callable[[Iterator[Listed]], T],
    ) -> T:
        try:
            path = place()
            if path is None:
                return gather(iter(()))
            readable = partial(self.odd.left_out, resource, read=item.decode)
            return self.client.read_list(Call("list", resource, path), RAW_PAGES, lambda raws: gather(readable(raws)))
        except EbbError:
            self.unread.append(resource)
            return gather(iter(()))


def read_buffers(client: KubernetesClient) -> tuple[Buffers, ComputeClasses]:
    """Read all of it, and what the ComputeClasses say beside their buffers.

    Raises:
        Retryable, Terminal: as `KubernetesClient.read_list`, but for what is not there or may not be read.
    """
    lists = _Lists(client)
    rows = BufferRows(unread=lists.unread, odd=lists.odd)
    rows.buffers = lists.read(BUFFERS, lambda: path_of(client, BUFFER_GROUP, BUFFERS), _one_buffer, by_key)
    rows.classes = lists.read(CLASSES, lambda: path_of(client, CLASS_GROUP, CLASSES), _one_class, by_key)
    if any(buffer_objects.replicas_of(each) for each in rows.buffers.values()):
        rows.templates = lists.read(TEMPLATES, lambda: _TEMPLATE_PATH, _one_template, by_template)
    if not (rows.buffers or rows.classes or rows.unread or rows.odd.faults):
        return NO_BUFFERS, NO_CLASSES
    return rows.read(), rows.read_classes()


def by_key(items: Iterator[Any]) -> dict[str, Any]:
    return {f"{each.metadata.namespace}/{each.metadata.name}": each for each in items}


def by_template(items: Iterator[buffer_objects.PodTemplate]) -> dict[str, buffer_objects.TemplateBody]:
    return {f"{each.metadata.namespace}/{each.metadata.name}": each.template for each in items}
