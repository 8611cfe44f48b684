"""Pods of one kind share one `PodClass`: the folder finds the kind of each pod by its key, raw words compared."""

from datetime import datetime
from typing import Final

import msgspec

from shared.adapters.kubernetes import containers, pod_keys, selectors, wire
from shared.adapters.kubernetes.odd_objects import RawPart
from shared.adapters.kubernetes.pod_keys import DAEMON_SET, LABELS, PodKey, Words, pod_key, pod_words
from shared.core.cluster import names
from shared.core.cluster.pod import Owner, Phase, Pod, PodClass
from shared.core.cluster.resources import Resources

_PHASES: Final = {phase.value: (phase, phase.finished) for phase in Phase} | {"": (Phase.PENDING, False)}
_UNKNOWN_PHASE: Final = (Phase.UNKNOWN, False)
EXTENDED: Final = "extendedResourceClaimStatus"
"""Stands for a claim whose name is made anew with each pod: a driver granted an extended resource by it (KEP-5004)."""
MOST_KINDS: Final = 20_000
"""How many kinds of words are kept at once; where hardly two pods say the same, keeping all would only take room."""


class NamedItem(wire.Partial, frozen=True):
    name: str = ""


_node_selector: Final = RawPart("spec.nodeSelector", dict[str, str])
_claims: Final = RawPart("spec.resourceClaims", list[NamedItem])
_responders: Final = RawPart("spec.evictionResponders", list[NamedItem])
_gates: Final = RawPart("spec.schedulingGates", list[NamedItem])


class _Kind(msgspec.Struct, frozen=True, gc=False):
    """What pods of the same words have in common."""

    spec: PodClass
    booked: Resources | None


class PodFolder:
    """Turns the pods of one reading into core pods whose classes are shared. Not for use across readings."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[Words, bool], _Kind] = {}
        self._classes: dict[PodKey, PodClass] = {}

    def fold(self, pod: wire.Pod) -> Pod:
        """Return the pod.

        Raises:
            BadInput: a part is not of the API's shape, or a quantity cannot be read.
        """
        meta, status, node = pod.metadata, pod.status, pod.spec.node_name
        phase, finished = _PHASES.get(status.phase, _UNKNOWN_PHASE)
        ready, ready_since, unschedulable, infeasible = _conditions(status.conditions)
        running = bool(node) and not finished
        words = pod_words(pod, running=running), infeasible
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
        spec = self._class(pod_key(pod))
        booked = containers.booked(pod) if running else None
        if len(self._kinds) >= MOST_KINDS:
            self._kinds.clear()
        kind = self._kinds[words] = _Kind(spec, None if booked == spec.requests else booked)
        return kind

    def _class(self, key: PodKey) -> PodClass:
        known = self._classes.get(key)
        if known is None:
            known = self._classes[key] = pod_class(key)
        return known


def _conditions(conditions: list[wire.Condition] | None) -> tuple[bool, datetime | None, datetime | None, bool]:
    """Return whether the pod is Ready and since when, since when it has no place, and whether its resize fails."""
    ready, since, unschedulable, infeasible = False, None, None, False
    for each in conditions or ():
        if each.type == "Ready":
            ready = each.status == "True"
            since = each.last_transition_time if ready else None
        elif each.type == "PodScheduled" and each.status == "False" and each.reason == "Unschedulable":
            unschedulable = each.last_transition_time
        elif each.type == "PodResizePending":
            infeasible = each.reason == "Infeasible"
    return ready, since, unschedulable, infeasible


def pod_class(key: PodKey) -> PodClass:
    """Return the class that a key describes."""
    affinity = selectors.affinity(key.affinity)
    owner, labels = key.owner, LABELS.read(key.labels) or {}
    asks = containers.requests_of(key.containers, key.init_containers, key.overhead, key.resources)
    return PodClass(
        namespace=key.namespace,
        owner=Owner(owner.kind, owner.name, owner.uid) if owner else None,
        labels=labels,
        annotations=dict(key.annotations),
        requests=asks.total,
        asks=asks,
        node_selector=_node_selector.read(key.node_selector) or {},
        node_terms=selectors.node_terms(affinity, pinned=owner is not None and owner.kind == DAEMON_SET),
        tolerations=selectors.tolerations(key.tolerations),
        anti_affinity=selectors.pod_terms(affinity.pod_anti_affinity, key.namespace, labels),
        affinity=selectors.pod_terms(affinity.pod_affinity, key.namespace, labels),
        hard_spread=selectors.hard_spread(key.spread),
        host_ports=containers.host_ports(key.containers, key.init_containers, host_network=key.host_network),
        volumes=pod_keys.volumes(key.volumes),
        resource_claims=(*_names(_claims.read(key.resource_claims)), *([EXTENDED] if key.claimed_extended else [])),
        scheduling_gates=_names(_gates.read(key.scheduling_gates)),
        eviction_responders=_names(_responders.read(key.eviction_responders)),
        scheduler=key.scheduler or "default-scheduler",
        priority=key.priority,
        priority_class=key.priority_class,
        grace_seconds=key.grace_seconds,
        restart_policy=key.restart_policy or "Always",
        unmodelled=(*selectors.unknown_spread(key.spread), *_gang(key.gang)),
    )


def _names(given: list[NamedItem] | None) -> tuple[str, ...]:
    return tuple(each.name for each in given or ())


def _gang(given: tuple[bool, bool]) -> tuple[str, ...]:
    """Return the fields by which pods ask to be scheduled together (Kubernetes 1.35 and later)."""
    return tuple(name for name, used in zip(("workloadRef", "schedulingGroup"), given, strict=True) if used)
