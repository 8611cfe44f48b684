"""Capacity buffers and ComputeClasses: where the cluster lists them, what is decoded of each, and what that means."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from functools import partial
from typing import Any, Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.discovery import AdvisoryLists
from shared.adapters.kubernetes.malformed_objects import MalformedObjects
from shared.adapters.kubernetes.pod_objects import Template, template_class
from shared.adapters.kubernetes.wire import Partial
from shared.core.cluster import names
from shared.core.cluster.autoscaling import (
    ACTIVE,
    BUFFER_KIND,
    AutoscalingPolicy,
    Buffers,
    CapacityBuffer,
    ComputeClasses,
    chunk_owner,
    sorted_buffers,
)
from shared.core.cluster.pod import PodClass
from shared.core.cluster.resources import Resources
from shared.core.cluster.selectors import NodeTerm, Requirement, Toleration


class BufferSpec(Partial, frozen=True):
    provisioning_strategy: str | None = ""


class BufferStatus(Partial, frozen=True):
    pod_template_ref: wire.Named | None = None
    replicas: int | None = None
    ready_replicas: int | None = None
    provisioning_strategy: str | None = ""
    conditions: list[wire.Condition] | None = None


class Buffer(Partial, frozen=True):
    """A CapacityBuffer of v1beta1, or of v1alpha1, which has fewer fields."""

    metadata: wire.Meta
    spec: BufferSpec = BufferSpec()
    status: BufferStatus = BufferStatus()


class PodTemplate(Partial, frozen=True):
    metadata: wire.Meta
    template: Template = Template()


class ClassBuffer(Partial, frozen=True):
    provisioning_strategy: str | None = ""
    limits: wire.Quantities | None = None


class ComputeClassSpec(Partial, frozen=True):
    buffers: list[ClassBuffer] | None = None
    autoscaling_policy: Any = None  # As it was written: what is not of the API's shape there must not hide the rest.


class ComputeClass(Partial, frozen=True):
    """A ComputeClass of GKE: its buffers, and how the autoscaler takes its nodes away."""

    metadata: wire.Meta
    spec: ComputeClassSpec = ComputeClassSpec()


def classes_of(given: Iterable[ComputeClass], *, unread: bool = False) -> ComputeClasses:
    return ComputeClasses({found.metadata.name: autoscaling_policy(found) for found in given}, unread)


def autoscaling_policy(given: ComputeClass) -> AutoscalingPolicy:
    """Return the class's autoscalingPolicy; what cannot be read is named in its faults."""
    written, faults = given.spec.autoscaling_policy, list[str]()
    block: Mapping[str, Any] = written if isinstance(written, dict) else {}
    if written is not None and not isinstance(written, dict):
        faults.append(f"autoscalingPolicy is {written!r}, not an object; the profile's values hold.")
    threshold = _read(block, "consolidationThreshold", (0, 100, "percent"), faults)
    gpu_threshold = _read(block, "gpuConsolidationThreshold", (0, 100, "percent"), faults)
    delay = _read(block, "consolidationDelayMinutes", (1, 1440, "minutes"), faults)
    return AutoscalingPolicy(
        None if threshold is None else Fraction(threshold, 100),
        None if gpu_threshold is None else Fraction(gpu_threshold, 100),
        None if delay is None else timedelta(minutes=delay),
        tuple(faults),
    )


def _read(block: Mapping[str, Any], name: str, bounds: tuple[int, int, str], faults: list[str]) -> int | None:
    least, most, unit = bounds
    value = block.get(name)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    faults.append(f"{name} is {value!r}: it takes {unit} from {least} to {most}; the profile's value holds.")
    return None


CLASS_NAMESPACE: Final = "gke-managed-ccc"  # Where GKE's controller puts the objects of ComputeClasses.
CLASS_CHUNK: Final = Resources.parse({"cpu": "2", "memory": "2Gi"})
"""What that controller lets each chunk of a ComputeClass's buffer ask for."""
COMPUTE_CLASS: Final = "ComputeClass"
_READY: Final = "ReadyForProvisioning"


def template_of(given: Buffer) -> str:
    """Return the PodTemplate (`namespace/name`) of a buffer; empty while it has none."""
    reference = given.status.pod_template_ref
    return f"{given.metadata.namespace}/{reference.name}" if reference else ""


def replicas_of(given: Buffer) -> int:
    """Return how many chunks the autoscaler holds on running nodes."""
    status = given.status
    strategy = status.provisioning_strategy or given.spec.provisioning_strategy or ACTIVE
    refused = any(condition.type == _READY and condition.status == "False" for condition in status.conditions or ())
    return 0 if strategy != ACTIVE or refused else max(status.replicas or 0, 0)


def _buffer(given: Buffer, template: Template) -> CapacityBuffer:
    meta = given.metadata
    return CapacityBuffer(
        namespace=meta.namespace,
        name=meta.name,
        chunk=chunk_class(meta, template),
        replicas=replicas_of(given),
        ready=given.status.ready_replicas,
    )


def chunk_class(buffer: wire.Meta, template: Template) -> PodClass:
    """Return the class of the pods that the autoscaler makes of a template; it simulates them wherever they fit."""
    owner = wire.OwnerReference(BUFFER_KIND, buffer.name, buffer.uid, controller=True)
    return replace(template_class(template, buffer.namespace, owner), node_name="")


def _class_of(given: Buffer) -> str:
    """Return the ComputeClass of which the autoscaler has made the object; empty of people's own."""
    owners = given.metadata.owner_references or ()
    return next((owner.name for owner in owners if owner.kind == COMPUTE_CLASS), "")


def _of_class(name: str, given: ClassBuffer) -> CapacityBuffer | None:
    chunks = _chunks(Resources.parse(given.limits or {}))
    if (given.provisioning_strategy or ACTIVE) != ACTIVE or not chunks:
        return None
    return CapacityBuffer(CLASS_NAMESPACE, name, _class_chunk(name), chunks)


def _describe(meta: wire.Meta, kind: str) -> str:
    return f"{kind} {meta.namespace}/{meta.name}" if meta.namespace else f"{kind} {meta.name}"


def _chunks(limits: Resources) -> int:
    """Return how many chunks stay within the limits; what they do not name is not limited."""
    limited = dict(limits.amounts)
    return min((limited[name] // asked for name, asked in CLASS_CHUNK.amounts if name in limited), default=0)


def _class_chunk(name: str) -> PodClass:
    not_waiting = Requirement(names.STANDBY_NODE, "NotIn", ("true",))
    return PodClass(
        namespace=CLASS_NAMESPACE,
        owner=chunk_owner(name),
        requests=CLASS_CHUNK,
        node_selector={names.COMPUTE_CLASS_LABEL: name},
        node_terms=(NodeTerm((not_waiting,)),),
        tolerations=(Toleration(operator="Exists"),),
    )


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
_ONE: Final[Mapping[str, msgspec.json.Decoder[Any]]] = {
    BUFFERS: msgspec.json.Decoder(Buffer),
    TEMPLATES: msgspec.json.Decoder(PodTemplate),
    CLASSES: msgspec.json.Decoder(ComputeClass),
}
"""The decoder of one object, by resource."""


@dataclass
class BufferRows:
    """What the lists held, by resource and then by `namespace/name`, which could not be read, and which objects."""

    rows: dict[str, dict[str, Any]] = field(default_factory=lambda: {resource: {} for resource in _ONE})
    unread: list[str] = field(default_factory=list)
    odd: MalformedObjects = field(default_factory=MalformedObjects)

    def keep(self, resource: str, items: Iterable[Buffer | PodTemplate | ComputeClass]) -> None:
        """Add objects; the first one of a name is kept."""
        for item in items:
            self.rows[resource].setdefault(f"{item.metadata.namespace}/{item.metadata.name}", item)

    def add(self, resource: str, raw: bytes | msgspec.Raw) -> None:
        """Add one item of a dump; one that cannot be read is named."""
        self.keep(resource, self.odd.skip_malformed(resource, iter((raw,)), _ONE[resource].decode))

    @property
    def templates_used(self) -> list[str]:
        """The templates of buffers that hold room; empty names for those that have none yet."""
        return [template_of(buffer) for buffer in self.rows[BUFFERS].values() if replicas_of(buffer)]

    def read_dumped(self) -> Buffers:
        """The same of a dump, in which a list that is needed may have been left out."""
        missing = any(name and name not in self.rows[TEMPLATES] for name in self.templates_used)
        self.unread = [TEMPLATES] if missing else []
        return self.read()

    def read(self) -> Buffers:
        return Buffers(sorted_buffers(self._found()), tuple(self.unread), self.odd.faults)

    def _found(self) -> Iterator[CapacityBuffer]:
        """Yield what holds room on running nodes; what is not of the API's shape is named."""
        buffers = self.rows[BUFFERS].values()
        for buffer in buffers:
            template = self.rows[TEMPLATES].get(template_of(buffer))
            if template is not None and replicas_of(buffer):
                what = _describe(buffer.metadata, BUFFER_KIND)
                yield from self.odd.attempt(what, partial(_buffer, buffer, template.template))
        # a ComputeClass counts by itself only until the autoscaler has made an object of its buffer
        made = {_class_of(buffer) for buffer in buffers}
        for given in self.rows[CLASSES].values():
            if given.metadata.name in made:
                continue
            for own in given.spec.buffers or ():
                read = partial(_of_class, given.metadata.name, own)
                yield from filter(None, self.odd.attempt(_describe(given.metadata, COMPUTE_CLASS), read))

    def read_classes(self) -> ComputeClasses:
        return classes_of(self.rows[CLASSES].values(), unread=CLASSES in self.unread)


def read_buffers(client: KubernetesClient) -> tuple[Buffers, ComputeClasses]:
    """Read the capacity buffers with their templates, and what the ComputeClasses define of scale-down."""
    rows = BufferRows()
    lists = AdvisoryLists(client, rows.odd, rows.unread)
    for resource, group in ((BUFFERS, BUFFER_GROUP), (CLASSES, CLASS_GROUP), (TEMPLATES, "")):
        if resource != TEMPLATES or rows.templates_used:
            rows.keep(resource, lists.read(resource, _ONE[resource].decode, group))
    return rows.read(), rows.read_classes()
