"""Capacity buffers and ComputeClasses: their wire types, and their translation."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from fractions import Fraction
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import structs

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.fold import pod_class
from shared.adapters.kubernetes.odd_objects import OddObjects, RawPart
from shared.adapters.kubernetes.wire import Partial
from shared.core.cluster import names
from shared.core.cluster.autoscaling import (
    ACTIVE,
    BUFFER_KIND,
    AutoscalingPolicy,
    CapacityBuffer,
    ComputeClasses,
    chunk_owner,
)
from shared.core.cluster.pod import PodClass
from shared.core.cluster.resources import Resources
from shared.core.cluster.selectors import NodeTerm, Requirement, Toleration


class Reference(Partial, frozen=True):
    name: str = ""


class BufferSpec(Partial, frozen=True):
    provisioning_strategy: str | None = ""


class BufferStatus(Partial, frozen=True):
    pod_template_ref: Reference | None = None
    replicas: int | None = None
    ready_replicas: int | None = None
    provisioning_strategy: str | None = ""
    conditions: list[wire.Condition] | None = None


class Buffer(Partial, frozen=True):
    """A CapacityBuffer of v1beta1, or of v1alpha1, which has fewer fields."""

    metadata: wire.Meta
    spec: BufferSpec = BufferSpec()
    status: BufferStatus = BufferStatus()


class BufferAmounts(Partial, frozen=True):
    requests: wire.Quantities | None = None
    limits: wire.Quantities | None = None


class TemplateContainer(Partial, frozen=True):
    """A container before the API server has written its limits into its requests, as it does with pods."""

    name: str = ""
    resources: BufferAmounts | None = None
    ports: msgspec.Raw = wire.ABSENT
    restart_policy: str | None = ""


class TemplateContainers(Partial, frozen=True):
    containers: list[TemplateContainer] | None = None
    init_containers: list[TemplateContainer] | None = None


class TemplateBody(Partial, frozen=True):
    metadata: wire.PodMeta = wire.PodMeta()
    spec: msgspec.Raw = wire.ABSENT


class PodTemplate(Partial, frozen=True):
    metadata: wire.Meta
    template: TemplateBody = TemplateBody()


class ClassBuffer(Partial, frozen=True):
    provisioning_strategy: str | None = ""
    limits: wire.Quantities | None = None


class ComputeClassSpec(Partial, frozen=True):
    buffers: list[ClassBuffer] | None = None
    autoscaling_policy: Any = None
    """As it was written: what is not of the API's shape there must not hide the rest."""


class ComputeClass(Partial, frozen=True):
    """A ComputeClass of GKE: its buffers, and how the autoscaler takes its nodes away."""

    metadata: wire.Meta
    spec: ComputeClassSpec = ComputeClassSpec()


_THRESHOLD: Final = ("consolidationThreshold", 0, 100, "percent")
_GPU_THRESHOLD: Final = ("gpuConsolidationThreshold", 0, 100, "percent")
_DELAY: Final = ("consolidationDelayMinutes", 1, 1440, "minutes")
Bounds = tuple[str, int, int, str]


def classes_of(given: Iterable[ComputeClass], *, unread: bool = False) -> ComputeClasses:
    return ComputeClasses({each.metadata.name: autoscaling_policy(each) for each in given}, unread)


def autoscaling_policy(given: ComputeClass) -> AutoscalingPolicy:
    """Return what the class says; what cannot be read is named in its faults."""
    said, faults = given.spec.autoscaling_policy, list[str]()
    block: Mapping[str, Any] = said if isinstance(said, dict) else {}
    if said is not None and not isinstance(said, dict):
        faults.append(f"autoscalingPolicy is {said!r}, not an object; the profile's values hold.")
    threshold = _read(block, _THRESHOLD, faults)
    gpu_threshold = _read(block, _GPU_THRESHOLD, faults)
    delay = _read(block, _DELAY, faults)
    return AutoscalingPolicy(
        None if threshold is None else Fraction(threshold, 100),
        None if gpu_threshold is None else Fraction(gpu_threshold, 100),
        None if delay is None else timedelta(minutes=delay),
        tuple(faults),
    )


def _read(block: Mapping[str, Any], bounds: Bounds, faults: list[str]) -> int | None:
    name, least, most, unit = bounds
    value = block.get(name)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    faults.append(f"{name} is {value!r}: it takes {unit} from {least} to {most}; the profile's value holds.")
    return None


CLASS_NAMESPACE: Final = "gke-managed-ccc"
"""Where GKE's controller puts the objects of ComputeClasses."""
CLASS_CHUNK: Final = Resources.parse({"cpu": "2", "memory": "2Gi"})
"""What that controller lets each chunk of a ComputeClass's buffer ask for."""
COMPUTE_CLASS: Final = "ComputeClass"
_READY: Final = "ReadyForProvisioning"
_spec: Final = RawPart("template.spec", wire.PodSpec)
_containers: Final = RawPart("template.spec", TemplateContainers)
Templates = Mapping[str, PodTemplate]
"""By `namespace/name`."""


def held(
    buffers: Iterable[Buffer],
    templates: Templates,
    classes: Iterable[ComputeClass],
    odd: OddObjects,
) -> Iterator[CapacityBuffer]:
    """Yield what holds room on running nodes; what is not of the API's shape goes to `odd`.

    A ComputeClass counts by itself only until the autoscaler has made an object of its buffer.
    """
    known = tuple(buffers)
    for each in known:
        template = templates.get(template_of(each))
        if template is not None and replicas_of(each):
            yield from odd.attempt(_said_of(each.metadata, BUFFER_KIND), partial(_buffer, each, template.template))
    made = {_class_of(each) for each in known}
    for compute_class in classes:
        if compute_class.metadata.name not in made:
            for each_buffer in compute_class.spec.buffers or ():
                read = partial(_of_class, compute_class.metadata.name, each_buffer)
                found = odd.attempt(_said_of(compute_class.metadata, COMPUTE_CLASS), read)
                yield from filter(None, found)


def template_of(given: Buffer) -> str:
    """Return the PodTemplate (`namespace/name`) of a buffer; empty while it has none."""
    reference = given.status.pod_template_ref
    return f"{given.metadata.namespace}/{reference.name}" if reference else ""


def replicas_of(given: Buffer) -> int:
    """Return how many chunks the autoscaler holds on running nodes."""
    status = given.status
    strategy = status.provisioning_strategy or given.spec.provisioning_strategy or ACTIVE
    refused = any(each.type == _READY and each.status == "False" for each in status.conditions or ())
    return 0 if strategy != ACTIVE or refused else max(status.replicas or 0, 0)


def _buffer(given: Buffer, template: TemplateBody) -> CapacityBuffer:
    meta = given.metadata
    return CapacityBuffer(
        namespace=meta.namespace,
        name=meta.name,
        chunk=chunk_class(meta, template),
        replicas=replicas_of(given),
        ready=given.status.ready_replicas,
    )


def chunk_class(buffer: wire.Meta, template: TemplateBody) -> PodClass:
    """Return the class of the pods that the autoscaler makes of a template."""
    owner = wire.OwnerReference(BUFFER_KIND, buffer.name, buffer.uid, controller=True)
    meta = structs.replace(template.metadata, namespace=buffer.namespace, owner_references=[owner])
    spec = structs.replace(_spec.read(template.spec) or wire.PodSpec(), node_name="")
    listed = _containers.read(template.spec) or TemplateContainers()
    containers, init = _defaulted(listed.containers), _defaulted(listed.init_containers)
    pod = wire.Pod(meta, structs.replace(spec, containers=containers, init_containers=init))
    return pod_class(pod)


def _defaulted(given: list[TemplateContainer] | None) -> list[wire.Container]:
    """Write limits into the requests that say nothing of them."""
    return [
        wire.Container(each.name, _requests(each.resources), each.ports, each.restart_policy) for each in given or ()
    ]


def _requests(given: BufferAmounts | None) -> wire.Requests | None:
    if given is None:
        return None
    return wire.Requests(msgspec.Raw(msgspec.json.encode({**(given.limits or {}), **(given.requests or {})})))


def _class_of(given: Buffer) -> str:
    """Return the ComputeClass of which the autoscaler has made the object; empty of people's own."""
    owners = given.metadata.owner_references or ()
    return next((each.name for each in owners if each.kind == COMPUTE_CLASS), "")


def _of_class(name: str, given: ClassBuffer) -> CapacityBuffer | None:
    chunks = _chunks(Resources.parse(given.limits or {}))
    if (given.provisioning_strategy or ACTIVE) != ACTIVE or not chunks:
        return None
    return CapacityBuffer(CLASS_NAMESPACE, name, _class_chunk(name), chunks)


def _said_of(meta: wire.Meta, kind: str) -> str:
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
