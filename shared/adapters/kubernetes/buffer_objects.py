"""CapacityBuffers with their templates, and the buffers of ComputeClasses: the API's objects into the core's.

What counts is what the autoscaler acts on: the status, not the wish. Must not read.
Source: cluster-autoscaler, pkg/processors/capacitybuffer (which buffers become pods, and of what), pkg/capacitybuffer/
fakepods (requests from limits); GoogleCloudPlatform/cluster-autoscaler, pkg/computeclass/controller/capacitybuffers
(the objects that a ComputeClass's buffers become).
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Final

import msgspec
from msgspec import structs

from shared.adapters.kubernetes import buffer_wire, pod_wire, wire
from shared.adapters.kubernetes.fold import pod_class
from shared.adapters.kubernetes.odd_objects import OddObjects
from shared.adapters.kubernetes.parts import RawPart
from shared.adapters.kubernetes.pod_keys import pod_key
from shared.core.cluster import names
from shared.core.cluster.buffers import ACTIVE, KIND, CapacityBuffer, chunk_owner
from shared.core.cluster.pod import PodClass
from shared.core.cluster.resources import Resources
from shared.core.cluster.selectors import NodeTerm, Requirement, Toleration

CLASS_NAMESPACE: Final = "gke-managed-ccc"
"""Where GKE's controller puts the objects of ComputeClasses."""
CLASS_CHUNK: Final = Resources.parse({"cpu": "2", "memory": "2Gi"})
"""What that controller lets each chunk of a ComputeClass's buffer ask for."""
COMPUTE_CLASS: Final = "ComputeClass"
_READY: Final = "ReadyForProvisioning"
_spec: Final = RawPart("template.spec", pod_wire.PodSpec)
_containers: Final = RawPart("template.spec", buffer_wire.TemplateContainers)
Templates = Mapping[str, buffer_wire.TemplateBody]
"""By `namespace/name`."""


def held(
    buffers: Iterable[buffer_wire.Buffer],
    templates: Templates,
    classes: Iterable[buffer_wire.ComputeClass],
    odd: OddObjects,
) -> Iterator[CapacityBuffer]:
    """Yield what holds room on running nodes; what is not of the API's shape goes to `odd`.

    A ComputeClass counts by itself only until the autoscaler has made an object of its buffer.
    """
    known = tuple(buffers)
    for each in known:
        template = templates.get(template_of(each))
        if template is not None and replicas_of(each):
            yield from odd.attempt(_said_of(each.metadata, KIND), partial(_buffer, each, template))
    made = {_class_of(each) for each in known}
    for compute_class in classes:
        if compute_class.metadata.name not in made:
            for each_buffer in compute_class.spec.buffers or ():
                read = partial(_of_class, compute_class.metadata.name, each_buffer)
                found = odd.attempt(_said_of(compute_class.metadata, COMPUTE_CLASS), read)
                yield from filter(None, found)


def template_of(given: buffer_wire.Buffer) -> str:
    """Return the PodTemplate (`namespace/name`) of a buffer; empty while it has none."""
    reference = given.status.pod_template_ref
    return f"{given.metadata.namespace}/{reference.name}" if reference else ""


def replicas_of(given: buffer_wire.Buffer) -> int:
    """Return how many chunks the autoscaler holds on running nodes."""
    status = given.status
    strategy = status.provisioning_strategy or given.spec.provisioning_strategy or ACTIVE
    refused = any(each.type == _READY and each.status == "False" for each in status.conditions or ())
    return 0 if strategy != ACTIVE or refused else max(status.replicas or 0, 0)


def _buffer(given: buffer_wire.Buffer, template: buffer_wire.TemplateBody) -> CapacityBuffer:
    meta = given.metadata
    return CapacityBuffer(
        namespace=meta.namespace,
        name=meta.name,
        chunk=chunk_class(meta, template),
        replicas=replicas_of(given),
        ready=given.status.ready_replicas,
    )


def chunk_class(buffer: wire.Meta, template: buffer_wire.TemplateBody) -> PodClass:
    """Return the class of the pods that the autoscaler makes of a template."""
    owner = wire.OwnerReference(KIND, buffer.name, buffer.uid, controller=True)
    meta = structs.replace(template.metadata, namespace=buffer.namespace, owner_references=[owner])
    spec = structs.replace(_spec.read(template.spec) or pod_wire.PodSpec(), node_name="")
    listed = _containers.read(template.spec) or buffer_wire.TemplateContainers()
    containers, init = _defaulted(listed.containers), _defaulted(listed.init_containers)
    pod = pod_wire.Pod(meta, structs.replace(spec, containers=containers, init_containers=init))
    return pod_class(pod_key(pod))


def _defaulted(given: list[buffer_wire.TemplateContainer] | None) -> list[pod_wire.Container]:
    """Write limits into the requests that say nothing of them."""
    return [
        pod_wire.Container(each.name, _requests(each.resources), each.ports, each.restart_policy)
        for each in given or ()
    ]


def _requests(given: buffer_wire.Amounts | None) -> pod_wire.Requests | None:
    if given is None:
        return None
    return pod_wire.Requests(msgspec.Raw(msgspec.json.encode({**(given.limits or {}), **(given.requests or {})})))


def _class_of(given: buffer_wire.Buffer) -> str:
    """Return the ComputeClass of which the autoscaler has made the object; empty of people's own."""
    owners = given.metadata.owner_references or ()
    return next((each.name for each in owners if each.kind == COMPUTE_CLASS), "")


def _of_class(name: str, given: buffer_wire.ClassBuffer) -> CapacityBuffer | None:
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
