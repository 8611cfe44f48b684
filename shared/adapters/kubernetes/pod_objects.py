"""Pods: the API's into the core's. Those of one kind share one `PodClass`, found by raw words, decoded once.

A template, of which a controller or the autoscaler makes pods, is folded like a pod. But the API server writes limits
into the requests of pods alone, and a node's name in a template is a rule: in a pod it is where the pod was bound.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import msgspec
from msgspec import structs

from shared.adapters.kubernetes import containers, selectors, wire
from shared.adapters.kubernetes.malformed_objects import RawPart
from shared.core.cluster import names
from shared.core.cluster.pod import Owner, Phase, Pod, PodClass, Volume
from shared.core.cluster.requests import ContainerRequests
from shared.core.cluster.resources import Resources
from shared.core.cluster.selectors import NO_LABELS, Labels

_PHASES: Final = {phase.value: (phase, phase.finished) for phase in Phase} | {"": (Phase.PENDING, False)}
_DAEMON_SET: Final = "DaemonSet"
_DEFAULT_GRACE_SECONDS: Final = 30
_MOST_GRACE_SECONDS: Final = 2**31 - 1  # 68 years. The API takes any int64; Python's times end long before.
EXTENDED: Final = "extendedResourceClaimStatus"
"""Stands for a claim whose name is new with each pod: a driver granted an extended resource by it (KEP-5004)."""
MOST_KINDS: Final = 20_000
"""How many kinds of words are kept at once; if hardly two pods are alike, keeping all would only take room."""
_TOKEN_NAME: Final = re.compile(rb'"kube-api-access-[a-z0-9]{5}"')
"""The service account token's volume, which admission gives a random name in every pod."""
_TOPOLOGY: Final = b'"topology.kubernetes.io/'
_COPIED_FROM_NODE: Final = (names.ZONE_LABEL, names.REGION_LABEL)
"""Since Kubernetes 1.35 the API server copies these from the node to the pod when it is bound."""
Words = tuple[bytes, bytes]
_encode: Final = msgspec.json.Encoder().encode


_labels: Final = RawPart("metadata.labels", dict[str, str])
_node_selector: Final = RawPart("spec.nodeSelector", dict[str, str])
_claims: Final = RawPart("spec.resourceClaims", list[wire.Named])
_responders: Final = RawPart("spec.evictionResponders", list[wire.Named])
_gates: Final = RawPart("spec.schedulingGates", list[wire.Named])


@dataclass(frozen=True, slots=True)
class _Kind:
    """What pods of the same words have in common."""

    spec: PodClass
    booked: Resources | None


class PodDecoder:
    """Turns the pods of one reading into core pods whose classes are shared. Not for use across readings."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[Words, bool], _Kind] = {}
        self._classes: dict[Words, PodClass] = {}

    def decode(self, pod: wire.Pod) -> Pod:
        """Return the pod. Raises BadInput when a part is not of the API's shape or holds an unreadable quantity."""
        meta, status, node = pod.metadata, pod.status, pod.spec.node_name
        phase, finished = _PHASES.get(status.phase, (Phase.UNKNOWN, False))
        ready, ready_since, unschedulable, infeasible = _conditions(status.conditions)
        running = bool(node) and not finished
        words = _pod_words(pod, running=running), infeasible
        kind = self._kinds.get(words) or self._learn(words, pod, running=running)
        return Pod(
            name=meta.name,
            uid=meta.uid,
            spec=kind.spec,
            node=node,
            phase=phase,
            ready=ready,
            created=meta.creation_timestamp,
            started=status.start_time,
            deleting=meta.deletion_timestamp,
            booked=kind.booked,
            unschedulable_since=unschedulable,
            ready_since=ready_since,
            nominated=status.nominated_node_name,
            steered=meta.annotations.get(names.STEERED, "") if meta.annotations else "",
        )

    def _learn(self, words: tuple[Words, bool], pod: wire.Pod, *, running: bool) -> _Kind:
        spec = self._class(pod)
        booked = containers.occupied_resources(pod, infeasible=words[1]) if running else None
        if len(self._kinds) >= MOST_KINDS:
            self._kinds.clear()
        kind = self._kinds[words] = _Kind(spec, None if booked == spec.requests else booked)
        return kind

    def _class(self, pod: wire.Pod) -> PodClass:
        labels = msgspec.Raw(_own_labels(pod.metadata.labels))
        words = _encode((labels, _parts(pod))), _volume_words(pod.spec.volumes)
        known = self._classes.get(words)
        if known is None:
            known = self._classes[words] = pod_class(pod)
        return known


def _pod_words(pod: wire.Pod, *, running: bool) -> Words:
    """Return every word that a pod's class and booked requests are made from, in one encoding: most are alike."""
    status = pod.status
    reported = (status.container_statuses, status.init_container_statuses, status.allocated_resources, status.resources)
    return _encode((running, pod.metadata.labels, _parts(pod), reported)), _volume_words(pod.spec.volumes)


def _parts(pod: wire.Pod) -> tuple[object, ...]:
    """Return what a class is made from but for labels and volumes."""
    meta, spec = pod.metadata, pod.spec
    owner = wire.controller_of(meta.owner_references)
    return (
        meta.namespace,
        _kept_annotations(meta.annotations),
        owner,
        spec.containers,
        spec.init_containers,
        spec.overhead,
        spec.resources,
        spec.node_selector,
        spec.os,
        msgspec.Raw(_affinity_words(spec, owner)),
        spec.tolerations,
        spec.topology_spread_constraints,
        spec.resource_claims,
        _is_given(pod.status.extended_resource_claim_status),
        spec.scheduling_gates,
        _is_given(spec.workload_ref),
        _is_given(spec.scheduling_group),
        spec.eviction_responders,
        spec.host_network,
        spec.scheduler_name,
        spec.runtime_class_name,
        spec.priority,
        spec.priority_class_name,
        spec.termination_grace_period_seconds,
        spec.restart_policy,
    )


def _own_labels(raw: msgspec.Raw) -> bytes:
    """Return the labels without those that a replacement would get from its new node."""
    if _TOPOLOGY not in bytes(raw):
        return bytes(raw)
    labels = _labels.read(raw) or {}
    return msgspec.json.encode({key: labels[key] for key in labels if key not in _COPIED_FROM_NODE})


def _conditions(conditions: list[wire.Condition] | None) -> tuple[bool, datetime | None, datetime | None, bool]:
    """Return whether the pod is Ready and since when, since when it has no place, and whether its resize fails."""
    ready, since, unschedulable, infeasible = False, None, None, False
    for condition in conditions or ():
        if condition.type == "Ready":
            ready = condition.status == "True"
            since = condition.last_transition_time if ready else None
        elif condition.type == "PodScheduled" and condition.status == "False" and condition.reason == "Unschedulable":
            unschedulable = condition.last_transition_time
        elif condition.type == "PodResizePending":
            infeasible = condition.reason == "Infeasible"
    return ready, since, unschedulable, infeasible


def pod_class(pod: wire.Pod, asks: ContainerRequests | None = None) -> PodClass:
    """Return the class of a pod; `asks` is what its containers request, where known already. Raises BadInput."""
    meta, spec = pod.metadata, pod.spec
    owner, labels = wire.controller_of(meta.owner_references), _labels.read(_own_labels(meta.labels)) or {}
    affinity, spread = selectors.affinity(_affinity_words(spec, owner)), bytes(spec.topology_spread_constraints)
    asks, grace = asks or containers.requests_of(spec), spec.termination_grace_period_seconds
    extended = _is_given(pod.status.extended_resource_claim_status)
    return PodClass(
        namespace=meta.namespace,
        owner=Owner(owner.kind, owner.name, owner.uid) if owner else None,
        labels=labels,
        annotations=dict(_kept_annotations(meta.annotations)),
        requests=asks.total,
        asks=asks,
        node_selector=_node_selector.read(spec.node_selector) or {},
        os=spec.os.name if spec.os else "",
        node_terms=selectors.node_terms(affinity, pinned=owner is not None and owner.kind == _DAEMON_SET),
        tolerations=selectors.tolerations(bytes(spec.tolerations)),
        anti_affinity=selectors.pod_terms(affinity.pod_anti_affinity, meta.namespace, labels),
        affinity=selectors.pod_terms(affinity.pod_affinity, meta.namespace, labels),
        hard_spread=selectors.hard_spread(spread),
        host_ports=containers.host_ports(spec),
        volumes=tuple(map(_volume, _volumes.read(_volume_words(spec.volumes)) or ())),
        resource_claims=(*_names(_claims.read(spec.resource_claims)), *([EXTENDED] if extended else [])),
        scheduling_gates=_names(_gates.read(spec.scheduling_gates)),
        eviction_responders=_names(_responders.read(spec.eviction_responders)),
        scheduler=spec.scheduler_name or "default-scheduler",
        runtime_class=spec.runtime_class_name or "",
        priority=spec.priority or 0,
        priority_class=spec.priority_class_name,
        grace_seconds=_DEFAULT_GRACE_SECONDS if grace is None else min(grace, _MOST_GRACE_SECONDS),
        restart_policy=spec.restart_policy or "Always",
        unmodelled=(*selectors.unknown_spread(spread), *_gang(spec)),
    )


def _names(given: list[wire.Named] | None) -> tuple[str, ...]:
    return tuple(item.name for item in given or ())


def _gang(spec: wire.PodSpec) -> tuple[str, ...]:
    """Return the fields by which pods ask to be scheduled together (Kubernetes 1.35 and later)."""
    given = {"workloadRef": spec.workload_ref, "schedulingGroup": spec.scheduling_group}
    return tuple(name for name, raw in given.items() if _is_given(raw))


def _affinity_words(spec: wire.PodSpec, owner: wire.OwnerReference | None) -> bytes:
    """Return the affinity's words, without the node that the DaemonSet controller wrote into a daemon pod's."""
    words = bytes(spec.affinity)
    if words and spec.node_name and owner is not None and owner.kind == _DAEMON_SET:
        return words.replace(b'"' + spec.node_name.encode() + b'"', b'""')
    return words


def _kept_annotations(annotations: dict[str, str] | None) -> tuple[tuple[str, str], ...]:
    """Return what the rules read, without a deletion cost of Ebb's own: it would make a class of each cost."""
    if not annotations or names.POD_ANNOTATIONS.isdisjoint(annotations):
        return ()
    kept = annotations.keys() & names.POD_ANNOTATIONS
    if names.STEERED in annotations and annotations.get(names.DELETION_COST) == annotations[names.STEERED]:
        kept -= {names.DELETION_COST}
    return tuple(sorted((key, annotations[key]) for key in kept))


def _is_given(raw: msgspec.Raw) -> bool:
    return raw not in wire.SILENT


_volumes: Final = RawPart("spec.volumes", list[dict[str, msgspec.Raw]])
_name: Final = RawPart("spec.volumes[].name", str)
_source: Final = RawPart("spec.volumes[]", wire.VolumeSource)


def _volume_words(raw: msgspec.Raw) -> bytes:
    """Return the volumes' words with one name for every token volume, so that pods of one kind are equal."""
    return _TOKEN_NAME.sub(b'"kube-api-access"', bytes(raw))


def _volume(fields: dict[str, msgspec.Raw]) -> Volume:
    """Return a volume with its kind, the API's field name, and the name that it gives as detail."""
    name = _name.read(fields.get("name", wire.ABSENT)) or ""
    kind = next((key for key in fields if key != "name"), "emptyDir")
    source = _source.read(fields.get(kind, wire.ABSENT)) or wire.VolumeSource()
    template = source.volume_claim_template
    detail = source.claim_name or source.medium or source.driver or source.pd_name or ""
    return Volume(name, kind, detail, template.spec.storage_class_name if template else None)


_READ: Final = (names.SURGE_STAMP, names.STEERED)  # The annotations that are read of a template for itself.


class Template(wire.Partial, frozen=True):
    metadata: wire.PodMeta = wire.PodMeta()
    spec: msgspec.Raw = wire.ABSENT

    def annotation(self, key: str) -> str:
        """Return an annotation's value; empty without one."""
        return (self.metadata.annotations or {}).get(key, "")

    def copy(self) -> "Template":
        """Return what is read of the template, in memory of its own: without the page on which it stands."""
        notes = {key: self.annotation(key) for key in _READ if self.annotation(key)}
        meta = structs.replace(self.metadata, labels=self.metadata.labels.copy(), annotations=notes)
        return Template(meta, self.spec.copy())


_template_spec: Final = RawPart("template.spec", wire.PodSpec)
_template_requests: Final = RawPart("template.spec", containers.TemplateRequests)
_template_labels: Final = RawPart("template.metadata.labels", dict[str, str])


def template_class(
    template: Template, namespace: str, owner: wire.OwnerReference | None = None, labels: Labels = NO_LABELS
) -> PodClass:
    """Return the class of a template's pods; `labels` are those that its controller adds. Raises BadInput."""
    meta = structs.replace(template.metadata, namespace=namespace, owner_references=[owner] if owner else None)
    if labels:
        merged = {**(_template_labels.read(meta.labels) or {}), **labels}
        meta = structs.replace(meta, labels=msgspec.Raw(msgspec.json.encode(merged)))
    spec = _template_spec.read(template.spec) or wire.PodSpec()
    asks = containers.requests_of(_template_requests.read(template.spec) or containers.TemplateRequests())
    made = pod_class(wire.Pod(meta, structs.replace(spec, node_name="")), asks)
    return replace(made, node_name=spec.node_name) if spec.node_name else made
