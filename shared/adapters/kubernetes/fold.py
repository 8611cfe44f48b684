"""Pods of one kind share one `PodClass`: the folder finds the kind of each pod by comparing raw words.

A key holds everything that a class is made from and nothing else, so equal keys cannot hide a difference; words
that differ and mean the same only give a second class, which changes no result. Keys copy their bytes, so that no
page is kept alive (150,000 pods give about 15,000 classes).
"""

from datetime import datetime
from typing import Final

import msgspec

from shared.adapters.kubernetes import containers, resize, selectors, volumes, wire
from shared.adapters.kubernetes.containers import ContainerKey
from shared.adapters.kubernetes.parts import RawPart
from shared.core.cluster import names
from shared.core.cluster.pod import Owner, Phase, Pod, PodClass

_DAEMON_SET: Final = "DaemonSet"
_DEFAULT_GRACE_SECONDS: Final = 30
_PHASES: Final = {phase.value: (phase, phase.finished) for phase in Phase} | {"": (Phase.PENDING, False)}
_UNKNOWN_PHASE: Final = (Phase.UNKNOWN, False)


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
    scheduling_gates: bytes
    gang: tuple[bool, bool]
    host_network: bool
    scheduler: str
    priority: int
    priority_class: str
    grace_seconds: int
    restart_policy: str


class NamedItem(wire.Partial, frozen=True):
    name: str = ""


_labels: Final = RawPart("metadata.labels", dict[str, str])
_TOPOLOGY: Final = b'"topology.kubernetes.io/'
_COPIED_FROM_NODE: Final = (names.ZONE_LABEL, names.REGION_LABEL)
"""Since Kubernetes 1.35 the API server copies these from the node to the pod when it is bound."""
_node_selector: Final = RawPart("spec.nodeSelector", dict[str, str])
_claims: Final = RawPart("spec.resourceClaims", list[NamedItem])
_gates: Final = RawPart("spec.schedulingGates", list[NamedItem])


class PodFolder:
    """Turns the pods of one reading into core pods whose classes are shared. Not for use across readings."""

    def __init__(self) -> None:
        self._classes: dict[PodKey, PodClass] = {}

    def fold(self, pod: wire.Pod) -> Pod:
        """Return the pod.

        Raises:
            BadInput: a part is not of the API's shape, or a quantity cannot be read.
        """
        spec = self._class(pod_key(pod))
        phase, finished = _PHASES.get(pod.status.phase, _UNKNOWN_PHASE)
        ready, unschedulable = _conditions(pod.status.conditions)
        booked = resize.booked(pod) if pod.spec.node_name and not finished else None
        return Pod(
            name=pod.metadata.name,
            uid=pod.metadata.uid,
            spec=spec,
            node=pod.spec.node_name,
            phase=phase,
            ready=ready,
            created=pod.metadata.creation_timestamp,
            started=pod.status.start_time,
            deleting=pod.metadata.deletion_timestamp,
            booked=None if booked == spec.requests else booked,
            unschedulable_since=unschedulable,
        )

    def _class(self, key: PodKey) -> PodClass:
        known = self._classes.get(key)
        if known is None:
            known = self._classes[key] = pod_class(key)
        return known


def _own_labels(raw: msgspec.Raw) -> bytes:
    """Return the labels without those that a replacement would get from its new node."""
    if _TOPOLOGY not in bytes(raw):
        return bytes(raw)
    labels = _labels.read(raw) or {}
    return msgspec.json.encode({key: labels[key] for key in labels if key not in _COPIED_FROM_NODE})


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
        volumes=volumes.without_random_names(spec.volumes),
        resource_claims=bytes(spec.resource_claims),
        scheduling_gates=bytes(spec.scheduling_gates),
        gang=(_given(spec.workload_ref), _given(spec.scheduling_group)),
        host_network=spec.host_network,
        scheduler=spec.scheduler_name,
        priority=spec.priority or 0,
        priority_class=spec.priority_class_name,
        grace_seconds=_DEFAULT_GRACE_SECONDS if grace is None else grace,
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
    if words and spec.node_name and owner is not None and owner.kind == _DAEMON_SET:
        return words.replace(b'"' + spec.node_name.encode() + b'"', b'""')
    return words


def _kept(annotations: dict[str, str] | None) -> tuple[tuple[str, str], ...]:
    if not annotations or names.POD_ANNOTATIONS.isdisjoint(annotations):
        return ()
    return tuple(sorted((key, annotations[key]) for key in annotations.keys() & names.POD_ANNOTATIONS))


def _given(raw: msgspec.Raw) -> bool:
    return raw not in wire.SILENT


def _conditions(conditions: list[wire.Condition] | None) -> tuple[bool, datetime | None]:
    """Return whether the pod is Ready, and since when the scheduler has found no place for it."""
    ready, unschedulable = False, None
    for each in conditions or ():
        if each.type == "Ready":
            ready = each.status == "True"
        elif each.type == "PodScheduled" and each.status == "False" and each.reason == "Unschedulable":
            unschedulable = each.last_transition_time
    return ready, unschedulable


def pod_class(key: PodKey) -> PodClass:
    """Return the class that a key describes."""
    affinity = selectors.affinity(key.affinity)
    owner = key.owner
    return PodClass(
        namespace=key.namespace,
        owner=Owner(owner.kind, owner.name, owner.uid) if owner else None,
        labels=_labels.read(key.labels) or {},
        annotations=dict(key.annotations),
        requests=containers.requests_of(key.containers, key.init_containers, key.overhead, key.resources),
        node_selector=_node_selector.read(key.node_selector) or {},
        node_terms=selectors.node_terms(affinity, pinned=owner is not None and owner.kind == _DAEMON_SET),
        tolerations=selectors.tolerations(key.tolerations),
        anti_affinity=selectors.pod_terms(affinity.pod_anti_affinity, key.namespace),
        affinity=selectors.pod_terms(affinity.pod_affinity, key.namespace),
        hard_spread=selectors.hard_spread(key.spread),
        host_ports=containers.host_ports(key.containers, key.init_containers, host_network=key.host_network),
        volumes=volumes.volumes(key.volumes),
        resource_claims=_names(_claims.read(key.resource_claims)),
        scheduling_gates=_names(_gates.read(key.scheduling_gates)),
        scheduler=key.scheduler or "default-scheduler",
        priority=key.priority,
        priority_class=key.priority_class,
        grace_seconds=key.grace_seconds,
        restart_policy=key.restart_policy or "Always",
        unmodelled=(*selectors.unmodelled(affinity), *_gang(key.gang)),
    )


def _names(given: list[NamedItem] | None) -> tuple[str, ...]:
    return tuple(each.name for each in given or ())


def _gang(given: tuple[bool, bool]) -> tuple[str, ...]:
    """Return the fields by which pods ask to be scheduled together (Kubernetes 1.35 and later)."""
    return tuple(name for name, used in zip(("workloadRef", "schedulingGroup"), given, strict=True) if used)
