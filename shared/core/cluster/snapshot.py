"""The snapshot of the cluster on which every decision of a pass is based."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from msgspec import structs

from shared.core.cluster.autoscaling import (
    NO_BUFFERS,
    NO_CLASSES,
    Buffers,
    ComputeClasses,
    ScaleDownRule,
    scale_down_of,
)
from shared.core.cluster.namespace_limits import NO_LIMITS, NamespaceLimits
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import CLAIM, Pod, PodClass
from shared.core.cluster.resources import NOTHING, Resources, total
from shared.core.cluster.returning import NO_AUTOSCALERS, VerticalAutoscalers
from shared.core.cluster.selectors import Labels
from shared.core.cluster.storage import Storage
from shared.core.cluster.workloads import PodDisruptionBudget, Workload


class NodePods(tuple[Pod, ...]):  # noqa: SLOT001 - it keeps its sums
    """The pods that are bound to one node, with the sum of what they book, computed once."""

    @cached_property
    def booked_by_movers(self) -> Resources:
        """What the pods book that would have to run elsewhere if the node went; finished pods occupy nothing."""
        return total(pod.requests for pod in self if not pod.spec.stays and not pod.phase.finished)

    @cached_property
    def booked(self) -> Resources:
        staying = total(pod.requests for pod in self if pod.spec.stays and not pod.phase.finished)
        return self.booked_by_movers + staying

    @cached_property
    def usages(self) -> dict[Resources, Any]:
        """What `rules.utilization` has computed for a node of that size."""
        return {}


NO_PODS: Final = NodePods()


@dataclass(frozen=True)
class Snapshot:
    """The cluster at one time. Nodes are sorted by name, pods by key, so that equal clusters give equal plans."""

    cluster: str
    began_at: datetime  # When its first list was requested, in the state's time: claims changed later are newer.
    taken_at: datetime
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    disruption_budgets: tuple[PodDisruptionBudget, ...] = ()
    pools: Mapping[str, NodePool] = field(default_factory=dict)
    pools_known: bool = True  # False without the GKE API (`EBB_GKE_API=none`): pools then stem from node labels.
    namespaces: Mapping[str, Labels] = field(default_factory=dict)
    profile: str = "BALANCED"  # The autoscaling profile: BALANCED or OPTIMIZE_UTILIZATION.
    minimum: Resources = NOTHING  # What the autoscaler keeps at least (limits of node auto-provisioning).
    workloads: Mapping[str, Workload] = field(default_factory=dict)  # By `PodClass.workload`; one missing is unknown.
    storage: Storage = field(default_factory=Storage)  # The pods' claims and volumes; by default not known.
    autoscalers: VerticalAutoscalers = NO_AUTOSCALERS  # Their result is in the pods already (`returning`).
    buffers: Buffers = NO_BUFFERS  # What capacity buffers hold room for on running nodes.
    compute_classes: ComputeClasses = NO_CLASSES  # How the autoscaler removes the nodes of ComputeClasses.
    limits: NamespaceLimits = NO_LIMITS  # LimitRanges and ResourceQuotas; their result is in the pods already.

    def scale_down(self, node: Node) -> ScaleDownRule:
        return scale_down_of(node, self.pools.get(node.pool), self.profile, self.compute_classes)

    def with_nodes(self, nodes: tuple[Node, ...]) -> "Snapshot":
        """Return the snapshot with these nodes for those of the same names; what rests on its pods alone is kept."""
        other = replace(self, nodes=nodes)
        vars(other).update({name: vars(self)[name] for name in _OF_PODS if name in vars(self)})
        return other

    def without(self, gone: Collection[str], places: Mapping[str, str]) -> "Snapshot":
        """Return the snapshot without those nodes; `places` are nodes by the keys of the pods that moved."""
        # Pods take what they need at their new place; those of untouched nodes stay the very same object.
        pods: list[Pod] = []
        touched: set[str] = set()
        for pod in self.pods:
            place = places.get(pod.key)
            if place is not None:
                touched.update((pod.node, place))
                pods.append(structs.replace(pod, node=place, booked=None))
            elif pod.node not in gone:
                pods.append(pod)
        other = replace(self, nodes=tuple(node for node in self.nodes if node.name not in gone), pods=tuple(pods))
        kept = {name: own for name, own in self.pods_by_node.items() if name not in gone}
        return other.with_pods_by_node(kept | _by_node(pods, kept.keys() & touched))

    def with_pods_by_node(self, known: Mapping[str, NodePods]) -> "Snapshot":
        """Return the snapshot with its pods by node, so that what is known of these is kept."""
        other = replace(self)
        vars(other)["pods_by_node"] = known
        return other

    @cached_property
    def node_by_name(self) -> Mapping[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def pods_by_node(self) -> Mapping[str, NodePods]:
        return _by_node(self.pods, [node.name for node in self.nodes])

    @cached_property
    def pending(self) -> tuple[Pod, ...]:
        return tuple(pod for pod in self.pods if not pod.node and pod.deleting is None and not pod.phase.finished)

    @cached_property
    def cpu_asked(self) -> int:
        """The millicores that pods ask for, waiting ones too; what ends or goes with its node asks for none."""
        specs = Counter(pod.spec for pod in self.pods if pod.deleting is None and not pod.phase.finished)
        return sum(spec.requests.cpu * number for spec, number in specs.items() if not spec.stays)

    @cached_property
    def claim_users(self) -> Mapping[str, int]:
        """How many pods that have not ended name each claim, by `namespace/claim`."""
        living = Counter(pod.spec for pod in self.pods if pod.spec.volumes and not pod.phase.finished)
        users: Counter[str] = Counter()
        for spec, pods in living.items():
            named = {volume.detail for volume in spec.volumes if volume.kind == CLAIM}
            users.update({f"{spec.namespace}/{claim}": pods for claim in named})
        return users

    @cached_property
    def start_times(self) -> Mapping[PodClass, timedelta]:
        """By kind of movable pods the shortest time that one took from its start on its node until it was Ready."""
        rows: dict[PodClass, timedelta] = {}
        for pod in self.pods:
            if pod.ready_since is not None and pod.started is not None and not pod.spec.stays:
                took = max(pod.ready_since - pod.started, timedelta(0))
                rows[pod.spec] = min(rows.get(pod.spec, took), took)
        return rows

    @cached_property
    def nodes_by_pool(self) -> Mapping[str, tuple[Node, ...]]:
        rows: dict[str, list[Node]] = {}
        for node in self.nodes:
            rows.setdefault(node.pool, []).append(node)
        return {pool: tuple(nodes) for pool, nodes in sorted(rows.items())}


def _by_node(pods: Iterable[Pod], names: Iterable[str]) -> dict[str, NodePods]:
    rows: dict[str, list[Pod]] = {name: [] for name in names}
    for pod in pods:
        if pod.node in rows:
            rows[pod.node].append(pod)
    return {name: NodePods(own) for name, own in rows.items()}


_OF_PODS: Final = ("pods_by_node", "pending", "claim_users", "start_times")  # Worked out of pods alone.
