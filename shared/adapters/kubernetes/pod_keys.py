"""Everything about a pod that is equal for many pods, decoded once for each distinct form, volumes included."""

import re
from typing import Final

import msgspec

from shared.adapters.kubernetes import containers, wire
from shared.adapters.kubernetes.containers import ContainerKey
from shared.adapters.kubernetes.odd_objects import RawPart
from shared.core.cluster import names
from shared.core.cluster.pod import Volume

_TOKEN_NAME: Final = re.compile(rb'"kube-api-access-[a-z0-9]{5}"')
"""The service account token's volume, which admission gives a random name in every pod."""


class ClaimTemplateSpec(wire.Partial, frozen=True):
    storage_class_name: str | None = None


class ClaimTemplate(wire.Partial, frozen=True):
    """What an ephemeral volume's claim is made from."""

    spec: ClaimTemplateSpec = ClaimTemplateSpec()


class VolumeSource(wire.Partial, frozen=True):
    """What tells two volumes of one kind apart for us; the other fields are the kubelet's business."""

    medium: str | None = ""
    claim_name: str | None = ""
    driver: str | None = ""
    pd_name: str | None = ""
    volume_claim_template: ClaimTemplate | None = None


_volumes: Final = RawPart("spec.volumes", list[dict[str, msgspec.Raw]])
_name: Final = RawPart("spec.volumes[].name", str)
_source: Final = RawPart("spec.volumes[]", VolumeSource)


def without_random_names(raw: msgspec.Raw) -> bytes:
    """Return the volumes' words with one name for every token volume, so that pods of one kind say the same."""
    return _TOKEN_NAME.sub(b'"kube-api-access"', bytes(raw))


def volumes(raw: bytes) -> tuple[Volume, ...]:
    """Return each volume with its kind, the API's field name, and the name that it gives as detail."""
    return tuple(_volume(each) for each in _volumes.read(raw) or ())


def _volume(fields: dict[str, msgspec.Raw]) -> Volume:
    name = _name.read(fields.get("name", wire.ABSENT)) or ""
    kind = next((key for key in fields if key != "name"), "emptyDir")
    source = _source.read(fields.get(kind, wire.ABSENT)) or VolumeSource()
    template = source.volume_claim_template
    detail = source.claim_name or source.medium or source.driver or source.pd_name or ""
    return Volume(name, kind, detail, template.spec.storage_class_name if template else None)


DAEMON_SET: Final = "DaemonSet"
_DEFAULT_GRACE_SECONDS: Final = 30
_MOST_GRACE_SECONDS: Final = 2**31 - 1
"""68 years. The API takes any int64; Python's times end long before."""


class PodKey(msgspec.Struct, frozen=True, gc=False):
    """The kind of a pod, in raw words."""

    namespace: str
    labels: bytes
    annotations: tuple[tuple[str, str], ...]
    owner: wire.OwnerReference | None
    containers: tuple[ContainerKey, ...]
    init_containers: tuple[ContainerKey, ...]
    overhead: bytes
    resources: bytes
    node_selector: bytes
    affinity: bytes
    tolerations: bytes
    spread: bytes
    volumes: bytes
    resource_claims: bytes
    claimed_extended: bool
    scheduling_gates: bytes
    gang: tuple[bool, bool]
    eviction_responders: bytes
    host_network: bool
    scheduler: str
    priority: int
    priority_class: str
    grace_seconds: int
    restart_policy: str


LABELS: Final = RawPart("metadata.labels", dict[str, str])
_TOPOLOGY: Final = b'"topology.kubernetes.io/'
_COPIED_FROM_NODE: Final = (names.ZONE_LABEL, names.REGION_LABEL)
"""Since Kubernetes 1.35 the API server copies these from the node to the pod when it is bound."""


def _own_labels(raw: msgspec.Raw) -> bytes:
    """Return the labels without those that a replacement would get from its new node."""
    if _TOPOLOGY not in bytes(raw):
        return bytes(raw)
    labels = LABELS.read(raw) or {}
    return msgspec.json.encode({key: labels[key] for key in labels if key not in _COPIED_FROM_NODE})


Words = tuple[bytes, bytes]
_encode: Final = msgspec.json.Encoder().encode


def pod_words(pod: wire.Pod, *, running: bool) -> Words:
    """Return every word that a pod's class and what it is booked as are made from, and nothing of it alone.

    Encoded in one call, which takes a fraction of what `pod_key` does; most pods say what another has said.
    """
    meta, spec, status = pod.metadata, pod.spec, pod.status
    owner = _controller(meta.owner_references)
    said = (
        running,
        meta.namespace,
        meta.labels,
        _kept(meta.annotations),
        owner,
        spec.containers,
        spec.init_containers,
        spec.overhead,
        spec.resources,
        spec.node_selector,
        msgspec.Raw(_affinity_words(spec, owner)),
        spec.tolerations,
        spec.topology_spread_constraints,
        spec.resource_claims,
        _given(status.extended_resource_claim_status),
        spec.scheduling_gates,
        spec.workload_ref,
        spec.scheduling_group,
        spec.eviction_responders,
        spec.host_network,
        spec.scheduler_name,
        spec.priority,
        spec.priority_class_name,
        spec.termination_grace_period_seconds,
        spec.restart_policy,
        status.container_statuses,
        status.init_container_statuses,
        status.allocated_resources,
        status.resources,
    )
    return _encode(said), without_random_names(spec.volumes)


def pod_key(pod: wire.Pod) -> PodKey:
    meta, spec = pod.metadata, pod.spec
    owner = _controller(meta.owner_references)
    grace = spec.termination_grace_period_seconds
    return PodKey(
        namespace=meta.namespace,
        labels=_own_labels(meta.labels),
        annotations=_kept(meta.annotations),
        owner=owner,
        containers=tuple(map(containers.container_key, spec.containers or ())),
        init_containers=tuple(map(containers.container_key, spec.init_containers or ())),
        overhead=bytes(spec.overhead),
        resources=containers.requested(spec.resources),
        node_selector=bytes(spec.node_selector),
        affinity=_affinity_words(spec, owner),
        tolerations=bytes(spec.tolerations),
        spread=bytes(spec.topology_spread_constraints),
        volumes=without_random_names(spec.volumes),
        resource_claims=bytes(spec.resource_claims),
        claimed_extended=_given(pod.status.extended_resource_claim_status),
        scheduling_gates=bytes(spec.scheduling_gates),
        gang=(_given(spec.workload_ref), _given(spec.scheduling_group)),
        eviction_responders=bytes(spec.eviction_responders),
        host_network=spec.host_network,
        scheduler=spec.scheduler_name,
        priority=spec.priority or 0,
        priority_class=spec.priority_class_name,
        grace_seconds=_DEFAULT_GRACE_SECONDS if grace is None else min(grace, _MOST_GRACE_SECONDS),
        restart_policy=spec.restart_policy,
    )


def _controller(owners: list[wire.OwnerReference] | None) -> wire.OwnerReference | None:
    for each in owners or ():
        if each.controller:
            return each
    return None


def _affinity_words(spec: wire.PodSpec, owner: wire.OwnerReference | None) -> bytes:
    """Return the affinity's words, without the node that the DaemonSet controller wrote into a daemon pod's."""
    words = bytes(spec.affinity)
    if words and spec.node_name and owner is not None and owner.kind == DAEMON_SET:
        return words.replace(b'"' + spec.node_name.encode() + b'"', b'""')
    return words


def _kept(annotations: dict[str, str] | None) -> tuple[tuple[str, str], ...]:
    """Return what the rules read, without a deletion cost of Ebb's own: it would make a class of each cost."""
    if not annotations or names.POD_ANNOTATIONS.isdisjoint(annotations):
        return ()
    kept = annotations.keys() & names.POD_ANNOTATIONS
    if names.STEERED in annotations and annotations.get(names.DELETION_COST) == annotations[names.STEERED]:
        kept -= {names.DELETION_COST}
    return tuple(sorted((key, annotations[key]) for key in kept))


def _given(raw: msgspec.Raw) -> bool:
    return raw not in wire.SILENT
