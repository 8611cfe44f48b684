"""One pod as rules and placement see it, and properties of its kind that several rules need.

Pods of one kind share one `PodClass`; classes compare by identity: folding equal ones only makes the simulation fast.
Source: cluster-autoscaler, simulator/drainability/rules (mirror, daemonset, terminal).
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from shared.core.cluster import names
from shared.core.cluster.node import Kubelet
from shared.core.cluster.requests import ContainerRequests
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.selectors import Labels, NodeTerm, PodTerm, SpreadConstraint, Toleration, no_labels

ANY_ADDRESS: Final = "0.0.0.0"  # noqa: S104  (the scheduler's word for a port without hostIP; nothing is bound here)


class Phase(StrEnum):
    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"

    def __init__(self, word: str) -> None:
        self.finished: Final = word in {"Succeeded", "Failed"}


@dataclass(frozen=True, slots=True)
class Owner:
    kind: str
    name: str
    uid: str = ""


CLAIM: Final = "persistentVolumeClaim"
EPHEMERAL: Final = "ephemeral"
WITH_CLAIM: Final = frozenset({CLAIM, EPHEMERAL})  # Volumes that have a claim: a named one, or one made for the pod.
WITHOUT_PLACE: Final = frozenset(
    {"emptyDir", "configMap", "secret", "projected", "downwardAPI", "image", "gitRepo", "hostPath"}
    | {"csi", "nfs", "cephfs", "glusterfs", "azureFile"}
)
"""Volumes of a pod's own spec that no filter of the scheduler looks at: they are made, or mounted, on any node.

(Whether local data may be lost is `rules.pods`' question.)
"""


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume of a pod: `kind` is the API's field name (emptyDir, hostPath, persistentVolumeClaim, ephemeral …)."""

    name: str
    kind: str
    detail: str = ""  # The claim's name, an emptyDir's medium, a csi driver, or a gcePersistentDisk's disk.
    storage_class: str | None = None  # That an ephemeral volume's claim names; None = it names none.


@dataclass(frozen=True, slots=True)
class HostPort:
    """A port that a pod takes on its host; the address as written (hostIP)."""

    protocol: str
    number: int
    address: str = ANY_ADDRESS


@dataclass(frozen=True, slots=True, eq=False)
class PodClass:
    """What pods of one kind have in common: spec, metadata, and what the next ones are made of."""

    # A pod template is one, too.

    namespace: str
    owner: Owner | None = None
    labels: Labels = field(default_factory=no_labels)
    annotations: Labels = field(default_factory=no_labels)  # Only those named in `names.POD_ANNOTATIONS`.
    requests: Resources = NOTHING
    """What the scheduler books for an incoming pod: init containers, sidecars and overhead included.

    In a snapshot, of a pod that has a node, what it needs elsewhere: see `returning`.
    """
    asks: ContainerRequests | None = None  # What its own spec requests, by container; None = not known.
    raised_by: tuple[str, ...] = ()  # What makes `requests` more than its own spec, in words.
    replaced_at_end: bool = False  # Whether another comes only once the pod has ended; others come as it begins to.
    refused_by: tuple[str, ...] = ()  # What in its namespace would not let another one like it in, and why, in words.
    template_adds: tuple[str, ...] = ()  # The API's fields in which its template asks for more: see `pod_objects`.
    node_name: str = ""  # The node that its template names (nodeName): such pods pass the scheduler, and a cordon.
    node_selector: Labels = field(default_factory=no_labels)
    os: str = ""  # The operating system that its spec names: another one's kubelet rejects it. Empty: it names none.
    node_terms: tuple[NodeTerm, ...] | None = None
    """Required node affinity: any term may match; None = no requirement."""
    tolerations: tuple[Toleration, ...] = ()
    anti_affinity: tuple[PodTerm, ...] = ()
    affinity: tuple[PodTerm, ...] = ()
    hard_spread: tuple[SpreadConstraint, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[str, ...] = ()
    scheduling_gates: tuple[str, ...] = ()
    eviction_responders: tuple[str, ...] = ()  # They answer EvictionRequests (KEP-4563); evictions pass them by.
    scheduler: str = "default-scheduler"
    runtime_class: str = ""
    priority: int = 0
    priority_class: str = ""
    grace_seconds: int = 30
    restart_policy: str = "Always"
    unmodelled: tuple[str, ...] = ()  # What else limits its placement and has no field: such a pod is not moved.
    needs_kubelet: Kubelet | None = None  # What its kubelet can do, where some node's cannot (`store.snapshots`).
    workload: str = field(init=False, repr=False)  # `namespace/kind/name` of the controller; empty without one.
    stays: bool = field(init=False, repr=False)  # Whether its pods go with their node: a DaemonSet's, or mirrors.
    uses_claims: bool = field(init=False, repr=False)  # Whether any of its volumes has a claim.

    def __post_init__(self) -> None:
        controller = f"{self.namespace}/{self.owner.kind}/{self.owner.name}" if self.owner else ""
        object.__setattr__(self, "workload", controller)
        object.__setattr__(self, "stays", is_daemon(self) or is_mirror(self))
        object.__setattr__(self, "uses_claims", any(volume.kind in WITH_CLAIM for volume in self.volumes))

    def can_run_under(self, kubelet: Kubelet, os: str) -> bool:
        """Whether a node's kubelet would run it."""
        # An operating system that the node does not show is taken for its own.
        # kubelet/lifecycle/predicate.go, PodOSNotSupported: the scheduler does not ask.
        is_same = not (self.os and os) or self.os == os
        return is_same and (self.needs_kubelet is None or kubelet.can_all_of(self.needs_kubelet))

    @property
    def critical(self) -> bool:
        """Whether the pod is evicted only after all ordinary ones are gone."""
        return self.priority_class in names.CRITICAL_CLASSES


class Pod(msgspec.Struct, frozen=True, gc=False):
    """One pod. `node` is empty while it is not bound."""

    # A struct: it is made in a tenth of a data class's time, and the collector skips what holds no cycles.

    name: str
    uid: str
    spec: PodClass
    node: str = ""
    phase: Phase = Phase.RUNNING
    ready: bool = True
    created: datetime | None = None
    started: datetime | None = None
    deleting: datetime | None = None  # deletionTimestamp: when the grace period ends.
    booked: Resources | None = None
    """What the scheduler books for the running pod where that is not `spec.requests`: while it is resized in place,
    and where it would come back larger."""
    unschedulable_since: datetime | None = None  # Since when the scheduler finds no place (PodScheduled=False).
    ready_since: datetime | None = None  # None while it is not Ready, and if its status has no time.
    nominated: str = ""  # The node on which the scheduler keeps room for it (status.nominatedNodeName).

    steered: str = ""  # The deletion cost that Ebb wrote, as written; empty without one. The class does not know it.

    @property
    def key(self) -> str:
        return f"{self.spec.namespace}/{self.name}"

    @property
    def requests(self) -> Resources:
        """What the pod occupies where it runs now."""
        return self.spec.requests if self.booked is None else self.booked


def is_daemon(spec: PodClass) -> bool:
    by_owner = spec.owner is not None and spec.owner.kind == "DaemonSet"
    return by_owner or spec.annotations.get(names.DAEMON_SET_POD) == "true"


def is_mirror(spec: PodClass) -> bool:
    return names.MIRROR in spec.annotations


def is_of_replica_set(spec: PodClass) -> bool:
    return spec.owner is not None and spec.owner.kind == "ReplicaSet"


def is_replaced(pod: Pod) -> bool:
    """Whether the pod is terminating and has its replacement already."""
    # A ReplicaSet does not wait for the end; a StatefulSet does, a Job and a Deployment may (podReplacementPolicy).
    if pod.deleting is None or pod.spec.replaced_at_end:
        return False
    return is_of_replica_set(pod.spec)


def is_finished(pod: Pod) -> bool:
    return pod.phase.finished


def cron_job_of(spec: PodClass) -> str:
    """Return the CronJob of a Job by the Job's name: the CronJob's and the minute of the run (cronjob controller)."""
    owner = spec.owner
    name, _, minute = owner.name.rpartition("-") if owner is not None and owner.kind == "Job" else ("", "", "")
    return f"{spec.namespace}/CronJob/{name}" if name and minute.isdigit() else ""
