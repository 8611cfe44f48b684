"""What the ports answer with, and which documents `State` keeps by which key."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypeVar

from shared.core.cluster.autoscaling import NO_BUFFERS, NO_CLASSES, Buffers, ComputeClasses
from shared.core.cluster.namespace_limits import NO_LIMITS, NamespaceLimits
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.returning import NO_AUTOSCALERS, VerticalAutoscalers
from shared.core.cluster.storage import Storage
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.records.commitments import CommitmentReading
from shared.core.records.drain_record import DrainRecord, EvictionAnswer
from shared.core.records.state import ClusterState, PoolMarks, Wave

if TYPE_CHECKING:
    from shared.core.records.ledger import Ledger
    from shared.core.records.week import WeekSummary


@dataclass(frozen=True)
class ClusterReading:
    """What one reading of the cluster gave: the parts of a `Snapshot` that the Kubernetes API knows."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    disruption_budgets: tuple[PodDisruptionBudget, ...]
    namespaces: Mapping[str, Mapping[str, str]]
    workloads: Mapping[str, Workload] = field(default_factory=dict)
    """By `PodClass.workload`: what stands behind ReplicaSets and StatefulSets; what could not be read is missing."""
    storage: Storage = field(default_factory=Storage)
    """What stands behind the pods' volumes; known, and empty, where no pod has a claim."""
    autoscalers: VerticalAutoscalers = NO_AUTOSCALERS
    """The VerticalPodAutoscalers; none where the cluster has no such kind."""
    buffers: Buffers = NO_BUFFERS  # What capacity buffers hold room for; empty where the cluster has no such kind.
    compute_classes: ComputeClasses = NO_CLASSES
    """The scale-down settings of ComputeClasses; none where the cluster has no such kind."""
    limits: NamespaceLimits = NO_LIMITS  # The LimitRanges and ResourceQuotas.


@dataclass(frozen=True)
class DeletionAttempts:
    """What the cluster autoscaler's events report about deleting one node; they are kept for an hour or so."""

    begun_at: datetime | None = None  # When it last began: its event ScaleDown that it marked the node.
    failure: str = ""  # The message of its last event ScaleDownFailed; empty without one.


@dataclass(frozen=True)
class Eviction:
    """The answer for one pod; `detail` names the PDB or repeats the API's message."""

    answer: EvictionAnswer
    detail: str = ""
    refused: bool = False
    """Of `later`: the API server was too busy to begin, so the pod stays; otherwise the answer was lost."""


@dataclass(frozen=True)
class Traffic:
    """What was asked of the Kubernetes API, and how much it answered."""

    calls: int = 0
    bytes: int = 0  # Of the answers' bodies, as they are decoded.

    def since(self, earlier: "Traffic") -> "Traffic":
        return Traffic(self.calls - earlier.calls, self.bytes - earlier.bytes)


@dataclass(frozen=True)
class PoolsReading:
    """The cluster's pools as GKE knows them."""

    pools: Mapping[str, NodePool]
    known: bool
    profile: str = "BALANCED"
    minimum: Resources = NOTHING  # The CPU and memory that the autoscaler keeps in the cluster at least.


T = TypeVar("T")


@dataclass(frozen=True)
class DocumentKey(Generic[T]):
    """Which document: a collection (`pools`, `drains`, `runs`, `waves` …), an id, and the type it holds."""

    collection: str
    id: str
    type: type[T]


CLUSTER_KEY = DocumentKey("cluster", "", ClusterState)
WAVE_KEY = DocumentKey("waves", "current", Wave)
COMMITMENTS_KEY = DocumentKey("commitments", "current", CommitmentReading)


def pool_key(pool: str) -> DocumentKey[PoolMarks]:
    return DocumentKey("pools", pool, PoolMarks)


def drain_key(order_id: str) -> DocumentKey[DrainRecord]:
    return DocumentKey("drains", order_id, DrainRecord)


def ledger_key() -> "DocumentKey[Ledger]":
    from shared.core.records.ledger import Ledger  # noqa: PLC0415 - a plan needs no ledger and no week

    return DocumentKey("ledger", "current", Ledger)


def week_key(end: datetime) -> "DocumentKey[WeekSummary]":
    from shared.core.records.week import WeekSummary  # noqa: PLC0415 - the same

    return DocumentKey("weeks", end.isoformat(), WeekSummary)


@dataclass(frozen=True)
class StoredDocument(Generic[T]):
    """A document as it was read: None when absent. `version` is opaque; `read_at` is the store's own time."""

    value: T | None
    version: str | None
    read_at: datetime
    fault: str = ""
    """Of a document read with its whole collection: why it does not decode, with its name; it has no value then."""
