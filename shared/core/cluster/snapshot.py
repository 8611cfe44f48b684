"""One picture of the cluster, on which every decision of a pass rests.

Pods of one kind share one `PodClass`: what rules and placement read is in the class, what tells two pods
apart is in `Pod`. Classes compare by identity; folding equal ones together makes the simulation fast and
never changes a result. Must not hold rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.selectors import Labels, LabelSelector, NodeTerm, PodTerm, Taint, Toleration
from shared.core.cluster.workloads import Workload

NO_LABELS: Final[Labels] = MappingProxyType({})


def _no_labels() -> Labels:
    return NO_LABELS


class Phase(StrEnum):
    """A pod's phase, as the API writes it."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"

    @property
    def finished(self) -> bool:
        return self in {Phase.SUCCEEDED, Phase.FAILED}


@dataclass(frozen=True, slots=True)
class Owner:
    """The controller that would create the pod again."""

    kind: str
    name: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume of a pod: `kind` is the API's field name (emptyDir, hostPath, persistentVolumeClaim, ephemeral …)."""

    name: str
    kind: str
    detail: str = ""
    """The claim's name, or the medium of an emptyDir."""


@dataclass(frozen=True, slots=True, eq=False)
class PodClass:
    """What pods of one kind have in common. All of it is spec or metadata, nothing is status."""

    namespace: str
    owner: Owner | None = None
    labels: Labels = field(default_factory=_no_labels)
    annotations: Labels = field(default_factory=_no_labels)
    """Only those named in `names.POD_ANNOTATIONS`."""
    requests: Resources = NOTHING
    """What the scheduler books for an incoming pod: init containers, sidecars and overhead included."""
    node_selector: Labels = field(default_factory=_no_labels)
    node_terms: tuple[NodeTerm, ...] | None = None
    """Required node affinity: any term may match; None = no requirement."""
    tolerations: tuple[Toleration, ...] = ()
    anti_affinity: tuple[PodTerm, ...] = ()
    affinity: tuple[PodTerm, ...] = ()
    hard_spread: tuple[str, ...] = ()
    """Topology keys of DoNotSchedule spread constraints."""
    host_ports: tuple[str, ...] = ()
    """`ip/protocol/port`."""
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[str, ...] = ()
    scheduling_gates: tuple[str, ...] = ()
    scheduler: str = "default-scheduler"
    priority: int = 0
    priority_class: str = ""
    grace_seconds: int = 30
    restart_policy: str = "Always"
    unmodelled: tuple[str, ...] = ()
    """Parts of the spec that bind its placement and that these fields cannot say; each makes the pod unmovable."""

    @property
    def workload(self) -> str:
        """`namespace/kind/name` of the controller; empty without one."""
        return f"{self.namespace}/{self.owner.kind}/{self.owner.name}" if self.owner else ""

    @property
    def critical(self) -> bool:
        """Whether the pod is evicted only after all ordinary ones are gone."""
        return self.priority_class in names.CRITICAL_CLASSES


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod. `node` is empty while it is not bound."""

    name: str
    uid: str
    spec: PodClass
    node: str = ""
    phase: Phase = Phase.RUNNING
    ready: bool = True
    created: datetime | None = None
    started: datetime | None = None
    deleting: datetime | None = None
    """deletionTimestamp: when the grace period ends."""
    booked: Resources | None = None
    """What the scheduler books for the running pod where status differs from spec (in-place resize)."""
    unschedulable_since: datetime | None = None
    """Since when the scheduler has said that it fits nowhere (condition PodScheduled=False, Unschedulable)."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.spec.namespace}/{self.name}"

    @property
    def requests(self) -> Resources:
        """What the pod occupies where it runs now."""
        return self.spec.requests if self.booked is None else self.booked


@dataclass(frozen=True, slots=True)
class Node:
    """One node. `pool` is empty without the GKE pool label; `allocatable` empty when the node reports none."""

    name: str
    uid: str
    created: datetime
    resource_version: str = ""
    labels: Labels = field(default_factory=_no_labels)
    annotations: Labels = field(default_factory=_no_labels)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    ready: bool = True
    once_ready: bool = True
    """Whether it has registered and been Ready at some time (budgets count only such nodes)."""
    allocatable: Resources = NOTHING

    @property
    def pool(self) -> str:
        return self.labels.get(names.POOL_LABEL, "")

    @property
    def zone(self) -> str:
        return self.labels.get(names.ZONE_LABEL, "")

    @property
    def machine(self) -> str:
        return self.labels.get(names.MACHINE_LABEL, "")

    @property
    def spot(self) -> bool:
        return any(self.labels.get(label) == "true" for label in names.SPOT_LABELS)

    @property
    def drain_taint(self) -> str | None:
        """The order id in our taint, or None without our taint."""
        return next((taint.value for taint in self.taints if taint.key == names.OUR_TAINT), None)

    def has_taint(self, key: str) -> bool:
        return any(taint.key == key for taint in self.taints)


@dataclass(frozen=True, slots=True)
class PodDisruptionBudget:
    """A PDB with the status that the disruption controller keeps."""

    namespace: str
    name: str
    selector: LabelSelector | None
    disruptions_allowed: int = 0
    always_evict_unhealthy: bool = False

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    def matches(self, spec: PodClass) -> bool:
        return self.namespace == spec.namespace and self.selector is not None and self.selector.matches(spec.labels)


@dataclass(frozen=True, slots=True)
class NodePool:
    """A GKE node pool's autoscaling limits. Minimums: per zone, or in total (exclusive)."""

    name: str
    autoscaled: bool = True
    min_per_zone: int = 0
    min_total: int = 0
    upgrading: bool = False
    tpu_topology: str = ""
    """The shape of a TPU slice, in chips."""
    queued: bool = False
    """Whether its nodes come by queued provisioning."""
    compact: bool = False
    """Whether its nodes are placed close together."""
    consolidation_delay: timedelta | None = None
    """How long the autoscaler waits before it deletes an unneeded node; None = what its profile says."""


@dataclass(frozen=True)
class Snapshot:
    """One picture. Nodes are sorted by name, pods by key, so that equal clusters give equal plans."""

    cluster: str
    began_at: datetime
    """When the first list was asked for, in the state's time: a claim changed later is newer than the picture."""
    taken_at: datetime
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    disruption_budgets: tuple[PodDisruptionBudget, ...] = ()
    pools: Mapping[str, NodePool] = field(default_factory=dict)
    pools_known: bool = True
    """False when the GKE API was left out (`EBB_GKE_API=none`): pools then stem from node labels."""
    namespaces: Mapping[str, Labels] = field(default_factory=dict)
    profile: str = "BALANCED"
    """The autoscaling profile: BALANCED or OPTIMIZE_UTILIZATION."""
    workloads: Mapping[str, Workload] = field(default_factory=dict)
    """By `PodClass.workload`, the pod's own controller; one that is missing is not known."""

    @cached_property
    def node_by_name(self) -> Mapping[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def pods_by_node(self) -> Mapping[str, tuple[Pod, ...]]:
        """Bound pods by node name; every node has an entry."""
        rows: dict[str, list[Pod]] = {node.name: [] for node in self.nodes}
        for pod in self.pods:
            if pod.node in rows:
                rows[pod.node].append(pod)
        return {name: tuple(pods) for name, pods in rows.items()}

    @cached_property
    def nodes_by_pool(self) -> Mapping[str, tuple[Node, ...]]:
        rows: dict[str, list[Node]] = {}
        for node in self.nodes:
            rows.setdefault(node.pool, []).append(node)
        return {pool: tuple(nodes) for pool, nodes in sorted(rows.items())}
