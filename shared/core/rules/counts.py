"""How many nodes there are, leave and stay: the counts that planner and claim measure every limit by.

The planner counts its snapshot and adds each node it takes. The drainer's claim counts a fresh list of nodes and the
state's document under compare-and-set.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from msgspec import structs

from shared.core.cluster import names
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.resources import NOTHING, Resources, total
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import BudgetUntil, Policy
from shared.core.records.state import Claim, ClusterState, Start
from shared.core.rules.budgets import Calendar
from shared.core.rules.pods import movable
from shared.core.rules.utilization import is_untainted


@dataclass(frozen=True, slots=True)
class PoolMeasure:
    """What only a whole snapshot shows of a pool: its underutilized nodes outside drains, and its free sums."""

    underutilized: int
    spare: Resources


@dataclass(frozen=True, slots=True)
class PoolCounts:
    """One pool. `left` counts nodes that stay once all that is leaving has left."""

    name: str
    nodes: int = 0  # The denominator of budgets and rates.
    in_flight: frozenset[str] = frozenset()  # UIDs of claims and of nodes with our taint.
    in_use: frozenset[str] = frozenset()
    """UIDs in flight, and of nodes that are not Ready; without claims whose budget has ended."""
    left: int = 0
    left_by_zone: Mapping[str, int] = field(default_factory=dict)
    newest: datetime | None = None  # The latest creation of a node.
    limits: NodePool | None = None
    taken: int = 0  # Nodes taken in this pass.
    measure: PoolMeasure | None = None


@dataclass(frozen=True)
class NodeCounts:
    """The counts of one moment, with the policy and the state that they are measured by."""

    policy: Policy
    state: ClusterState
    now: datetime
    pools: Mapping[str, PoolCounts]
    left: int  # Nodes that are Ready and stay once all that is leaving has left.
    left_non_tainted: int
    left_resources: Resources  # What all nodes offer that stay.
    minimum: Resources  # What the autoscaler keeps of that in the cluster.
    starts: tuple[Start, ...]
    calendar: Calendar = field(compare=False, repr=False)
    moved_pods: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many pods a drain of a node would move, by node UID and namespace; empty where nothing asks for it."""

    @property
    def nodes(self) -> int:
        return sum(pool.nodes for pool in self.pools.values())

    @property
    def in_use(self) -> int:
        return sum(len(pool.in_use) for pool in self.pools.values())

    @property
    def in_flight(self) -> int:
        return sum(len(pool.in_flight) for pool in self.pools.values())

    @property
    def newest(self) -> datetime | None:
        return max((pool.newest for pool in self.pools.values() if pool.newest), default=None)

    @cached_property
    def idle(self) -> "NodeCounts":
        """The counts as if no node were in use, drained lately or new."""
        nobody = frozenset[str]()
        pools = {
            name: replace(pool, in_flight=nobody, in_use=nobody, newest=None, taken=0)
            for name, pool in self.pools.items()
        }
        return replace(self, state=structs.replace(self.state, last_scale_down=None), pools=pools, starts=())

    def pool(self, name: str) -> PoolCounts:
        return self.pools.get(name) or PoolCounts(name)

    def with_measures(self, measures: Mapping[str, PoolMeasure]) -> "NodeCounts":
        pools = {name: replace(self.pool(name), measure=measure) for name, measure in measures.items()}
        return replace(self, pools={**self.pools, **pools})

    def with_moved_pods(self, moved_pods: Mapping[str, Mapping[str, int]]) -> "NodeCounts":
        return replace(self, moved_pods=moved_pods)

    def with_claim(self, node: Node) -> "NodeCounts":
        """Return the counts after that node was taken too, in the same pass."""
        before = self.pool(node.pool)
        if node.uid in before.in_flight:
            return self
        gone = 0 if is_leaving(node, before.in_flight) else 1
        tainted = not counts_as_non_tainted(node, self.policy)
        return replace(
            self,
            pools={**self.pools, node.pool: _one_more(before, node, gone)},
            left=self.left - (gone if node.ready else 0),
            left_non_tainted=self.left_non_tainted - (0 if tainted else gone),
            left_resources=self.left_resources - node.allocatable if gone else self.left_resources,
            starts=(*self.starts, Start(self.now, node.pool, dict(self.moved_pods.get(node.uid, {})))),
        )


def count_nodes(
    nodes: Iterable[Node],
    pools: Mapping[str, NodePool],
    state: ClusterState,
    policy: Policy,
    now: datetime,
    minimum: Resources = NOTHING,
) -> NodeCounts:
    """Count all nodes of the cluster; those that stand by or that Google manages count nowhere."""
    rows = tuple(node for node in nodes if not node.outside or node.drain_taint is not None)
    by_pool: dict[str, list[Node]] = {claim.pool: [] for claim in state.claims.values()}
    for node in rows:
        by_pool.setdefault(node.pool, []).append(node)
    counts = {
        name: _count_pool(name, own, state.claims, pools.get(name), policy.budget_until)
        for name, own in sorted(by_pool.items())
    }
    staying = [node for node in rows if not is_leaving(node, state.claims)]
    return NodeCounts(
        policy=policy,
        state=state,
        now=now,
        pools=counts,
        left=sum(node.ready for node in staying),
        left_non_tainted=sum(counts_as_non_tainted(node, policy) for node in staying),
        left_resources=total([node.allocatable for node in staying]),
        minimum=minimum,
        starts=state.starts,
        calendar=Calendar(now),
    )


def count_moved_pods(snapshot: Snapshot, nodes: Iterable[Node], policy: Policy) -> Mapping[str, Mapping[str, int]]:
    """Return by node UID and namespace how many pods a drain would move; counted at plan and at claim alike."""
    # Empty while the policy sets no `evictionsPerNamespace`, so that the state's document stays small.
    if policy.evictions_per_namespace is None:
        return {}
    moving = ((node.uid, movable(snapshot.pods_by_node.get(node.name, ()), snapshot.taken_at)) for node in nodes)
    return {uid: dict(sorted(Counter(pod.spec.namespace for pod in pods).items())) for uid, pods in moving}


def _count_pool(
    name: str, nodes: Sequence[Node], claims: Mapping[str, Claim], limits: NodePool | None, until: BudgetUntil
) -> PoolCounts:
    own = {uid: claim for uid, claim in claims.items() if claim.pool == name}
    staying = [node for node in nodes if not is_leaving(node, claims)]
    return PoolCounts(
        name=name,
        nodes=denominator(nodes),
        in_flight=in_flight(nodes, own),
        in_use=in_use(nodes, own, until),
        left=len(staying),
        left_by_zone=Counter(node.zone for node in staying),
        newest=max((node.created for node in nodes), default=None),
        limits=limits,
    )


def _one_more(pool: PoolCounts, node: Node, gone: int) -> PoolCounts:
    measure, zones = pool.measure, {**pool.left_by_zone, node.zone: pool.left_by_zone.get(node.zone, 0) - gone}
    return replace(
        pool,
        in_flight=pool.in_flight | {node.uid},
        in_use=pool.in_use | {node.uid},
        left=pool.left - gone,
        left_by_zone=zones,
        taken=pool.taken + 1,
        # The node's room is gone, its pods' requests are on the others.
        measure=measure and PoolMeasure(measure.underutilized - 1, measure.spare - node.allocatable),
    )


def is_leaving(node: Node, claimed: Iterable[str]) -> bool:
    """Whether the node is on its way out: claimed, with our taint, or being deleted by the autoscaler."""
    ours = node.uid in claimed or node.drain_taint is not None
    return ours or node.has_taint(names.AUTOSCALER_DELETING_TAINT)


def counts_as_non_tainted(node: Node, policy: Policy) -> bool:
    """Whether the node is room for ordinary pods: schedulable, without a taint outside the pool's ignore list."""
    return is_untainted(node, policy.pool(node.pool).ignore_taints)


def counts_in_budgets(node: Node) -> bool:
    """Whether the node is part of a budget's denominator (docs/decisions/budgets.md)."""
    # NotReady nodes count; those that the autoscaler is deleting do not, nor a suspended one that nobody needs.
    return node.once_ready and not node.outside and not node.has_taint(names.AUTOSCALER_DELETING_TAINT)


def denominator(nodes: Iterable[Node]) -> int:
    """Return how many nodes a percentage is taken of."""
    return sum(counts_in_budgets(node) for node in nodes)


def in_flight(nodes: Iterable[Node], claims: Iterable[str]) -> frozenset[str]:
    """Return the UIDs of claims, whose node may be gone already, and of nodes with our taint."""
    return frozenset((*claims, *(node.uid for node in nodes if node.drain_taint is not None)))


def in_use(nodes: Sequence[Node], claims: Mapping[str, Claim], until: BudgetUntil) -> frozenset[str]:
    """Return the UIDs that use up a budget: those in flight and the NotReady nodes that count in it."""
    # With `until` replaced a claim whose pods run again uses none (docs/decisions/budgets.md). A person's cordon does
    # not count (docs/acceptance.md row 72). A node that was never Ready is still joining, on neither side.
    broken = frozenset(node.uid for node in nodes if not node.ready and counts_in_budgets(node))
    ended = (uid for uid, claim in claims.items() if claim.replaced) if until is BudgetUntil.REPLACED else ()
    return (in_flight(nodes, claims) | broken).difference(ended)
