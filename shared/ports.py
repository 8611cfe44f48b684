"""READ FIRST. What Ebb asks of the world, in its own words.

The planner reads the cluster (`Cluster.read`, `Pools`), what it remembers (`State`), what people want
(`PolicySource`) and what is paid for anyway (`CommitmentList`), and gives orders (`OrderBus`). The drainer takes one
order and works on one node through `Cluster`. Adapters implement these; tests use hand-written fakes that pass the same
contract tests. First comes what they answer with, and which documents `State` keeps by which key; then they follow.
All methods raise the failures of `shared.errors` and nothing else: `Retryable` for an outage, `Stale` or
`Gone` when the world changed, `Terminal` when repeating cannot help.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from shared.core.cluster.autoscaling import NO_BUFFERS, NO_CLASSES, Buffers, ComputeClasses
from shared.core.cluster.namespace_limits import NO_LIMITS, NamespaceLimits
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.returning import NO_AUTOSCALERS, VerticalAutoscalers
from shared.core.cluster.storage import Storage
from shared.core.cluster.workloads import Deployment, PodDisruptionBudget, Workload
from shared.core.planning.prices import Prices
from shared.core.policy import Policy
from shared.core.records.commitments import CommitmentReading, ListedCommitment
from shared.core.records.drain_record import DrainRecord, EvictionAnswer
from shared.core.records.orders import DrainResult, Order
from shared.core.records.state import ClusterState, PoolMarks, Wave
from shared.readings import RunTogether, SharedReadings, in_threads

if TYPE_CHECKING:
    from shared.core.records.ledger import Ledger
    from shared.core.records.week import WeekSummary

T = TypeVar("T")


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


@dataclass(frozen=True)
class DocumentKey(Generic[T]):
    """Which document: a collection (`pools`, `drains`, `waves` …), an id, and the type it holds."""

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


class Cluster(Protocol):
    """The Kubernetes API of the one cluster: consistent reads, and writes on nodes, pods and Deployments.

    Every method raises Retryable when the API does not answer, Forbidden when it refuses, and Terminal when it never
    will accept the call or its answer cannot be decoded. A write to something that was read holds on that version:
    Stale when it changed since, Gone when it is no more.
    """

    def read(self, *, whole: bool = True) -> ClusterReading:
        """Read everything, or the nodes and pods alone: what giving a node back rests on. Nodes are read first."""

    def node(self, name: str) -> Node:
        """Read one node. Raises Gone."""

    def all_nodes(self) -> tuple[Node, ...]:
        """Read all nodes: the counts that a claim is measured by."""

    def unbound_pods(self) -> tuple[Pod, ...]:
        """Read the pods that are bound to no node yet."""

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        """Read the pods bound to a node."""

    def disruption_budgets(self) -> tuple[PodDisruptionBudget, ...]:
        """Read all PodDisruptionBudgets."""

    def workloads_of(self, controllers: Iterable[str]) -> Mapping[str, Workload]:
        """Read what stands behind pods, by their `PodClass.workload`; what is not there is missing.

        The name of a pod without a controller (empty) is passed over; others that were read with them may be there too.
        """

    def storage(self) -> Storage:
        """Read what stands behind the pods' volumes; lists that Ebb may not read are named in it."""

    def buffers(self) -> tuple[Buffers, ComputeClasses]:
        """Read capacity buffers and what ComputeClasses define of scale-down; an unread list is named in them."""

    def deletion_attempts(self, node: str) -> DeletionAttempts:
        """Read the cluster autoscaler's events about deleting a node."""

    def scale_ups(self) -> Mapping[str, datetime]:
        """Read for which pods (namespace/name) the autoscaler lately started to add a node (event TriggeredScaleUp)."""

    def traffic(self) -> Traffic:
        """Return how many calls were made so far, and how much was answered; makes none itself. Raises nothing."""

    def take(self, node: Node, order_id: str, since: datetime) -> Node:
        """Cordon and own: `unschedulable`, our taint and our annotation in one patch."""

    def return_node(self, node: Node, order_id: str) -> Node:
        """Remove our taint of that order id, our annotation and `unschedulable` in one patch.

        Does nothing when neither our taint nor, where that is gone, our annotation has that order id. Where the taint
        is gone and somebody else has cordoned the node since, the cordon stays.
        """

    def set_soft_taint(self, node: Node, *, held: bool) -> Node:
        """Write the soft taint of a wave on the node, or remove it; nothing else is touched."""

    def note(self, node: Node, reason: str, message: str) -> None:
        """Write an event on the node, for `kubectl describe`."""

    def evict(self, pod: Pod, grace_seconds: int, *, dry_run: bool = False) -> Eviction:
        """Ask for the eviction of exactly this pod (UID), by the Eviction API (policy/v1).

        Every answer of the API is one of `EvictionAnswer`, an outage is LATER. Raises Terminal without credentials.
        """

    def set_deletion_cost(self, pod: Pod, cost: int | None) -> bool:
        """Write that deletion cost on exactly this pod, with our mark; None: remove what is ours.

        A cost that somebody else wrote stays as it is: where one stands, none is written, and of ours only the mark is
        removed, as it is where somebody removed the cost. Returns whether anything was written.
        """

    def deployment(self, name: str) -> Deployment:
        """Read one Deployment (`namespace/Deployment/name`) with its template's digest. Raises Gone."""

    def restart(self, deployment: Deployment, stamp: str, *, dry_run: bool = False) -> Deployment:
        """Write our stamp into its pod template, which starts a rollout without a gap; nothing else in it is touched.

        An empty stamp removes it, one that stands already changes nothing. Returns the Deployment as it stands then.
        """


class Pools(Protocol):
    """The GKE API: node pools with their autoscaling limits."""

    def read(self) -> PoolsReading:
        """Return the pools. Raises Terminal for an Autopilot cluster."""


class State(Protocol):
    """The documents of one cluster, with compare-and-set and nothing else: Stale where a version is another by now."""

    def get(self, key: DocumentKey[T]) -> StoredDocument[T]:
        """Read one document, consistently. Raises Unreadable when it does not decode."""

    def put(self, key: DocumentKey[T], value: T, expected: str | None) -> str:
        """Write if the version is still the expected one (None: if there is no document); return the new one."""

    def delete(self, key: DocumentKey[T], expected: str) -> None:
        """Delete if the version is still the expected one."""

    def all(self, collection: str, type_: type[T]) -> Mapping[str, StoredDocument[T]]:
        """Read a whole collection by id; a document that does not decode is there with its fault and no value."""


class PolicySource(Protocol):
    """Where the policy stands."""

    def read(self) -> Policy:
        """Read and parse it again. Raises BadPolicy when it is missing or invalid, Retryable on an outage."""


class CommitmentList(Protocol):
    """The Compute API: committed use in the cluster's project and region."""

    def read(self) -> tuple[ListedCommitment, ...]:
        """Read all commitments, whatever their status. Raises Retryable on an outage, Terminal when it is refused."""


class OrderBus(Protocol):
    """The way from planner to drainer, and the side roads for rejected messages and results."""

    def publish(self, order: Order) -> None:
        """Publish and wait until the bus has it."""

    def reject(self, data: bytes, attributes: Mapping[str, str], why: str) -> None:
        """Keep a message that is no order, where a rejected topic is configured."""

    def report(self, result: DrainResult) -> None:
        """Publish a drain's result, where a results topic is configured."""

    def announce(self, kind: str, message: Mapping[str, object]) -> None:
        """Publish another kind of message there; its attribute `kind` marks it, results have none."""


class Clock(Protocol):
    """Durations and waiting only: the time of day is the state's."""

    def monotonic(self) -> float:
        """Seconds, for measuring steps."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class Log(Protocol):
    """One decision, one line."""

    def event(self, event: str, message: str, *, severity: str = "INFO", **fields: object) -> None:
        """Write one line; fields named in the log contract become labels."""

    def bind(self, **fields: object) -> "Log":
        """Return a log that adds these fields to each of its lines (run_id, trace, order_id …)."""

    def add(self, **fields: object) -> None:
        """Add these fields to each later line of this log, for all who hold it (policy_hash, pool)."""


@dataclass(frozen=True)
class Ports:
    """All that a function needs of the world; made once an instance, whose calls share their readings."""

    cluster: Cluster
    pools: Pools
    state: State
    policy: PolicySource
    orders: OrderBus
    clock: Clock
    log: Log
    prices: Prices
    commitments: CommitmentList
    together: RunTogether = in_threads
    shared: SharedReadings = field(default_factory=SharedReadings)
