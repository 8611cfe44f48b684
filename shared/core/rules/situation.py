"""What every decision of a pass rests on: the picture, what Ebb remembers and the policy, as of one moment.

Rules about nodes take it as their one argument besides the node.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.selectors import Taint
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy, PoolPolicy
from shared.core.records.state import ClusterState
from shared.core.rules.counts import NodeCounts, count_moved_pods, count_nodes
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.drain_time import DrainEstimator, StartTimes, start_times
from shared.core.rules.pods import movable
from shared.core.rules.pool_taints import own_taints
from shared.core.rules.volumes import VolumeFacts


@dataclass(frozen=True)
class Situation:
    """One moment. Keep one for a pass: it remembers what holds for a whole pool, and what moves off each node."""

    snapshot: Snapshot
    state: ClusterState
    policy: Policy
    _drain: dict[str, DrainContext] = field(default_factory=dict, repr=False, compare=False)
    _estimators: dict[int, DrainEstimator] = field(default_factory=dict, repr=False, compare=False)
    """By the identity of the context."""
    _permanent: dict[str, frozenset[Taint]] = field(default_factory=dict, repr=False, compare=False)
    _moving: dict[str, tuple[Pod, ...]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def now(self) -> datetime:
        """The time of the picture."""
        return self.snapshot.taken_at

    def settings(self, node: Node) -> PoolPolicy:
        return self.policy.pool(node.pool)

    def moving(self, node: str) -> tuple[Pod, ...]:
        """Return the pods that a drain of the node must evict and that need a place elsewhere."""
        if node not in self._moving:
            self._moving[node] = movable(self.snapshot.pods_by_node.get(node, ()), self.now)
        return self._moving[node]

    def drain_context(self, pool: str) -> DrainContext:
        """Return what the pod rules know on nodes of that pool; pools with the same settings share it."""
        if pool not in self._drain:
            rules = self.policy.pool(pool)
            alike = (each for each in self._drain.values() if each.policy == rules)
            self._drain[pool] = next(alike, None) or self._new_context(rules)
        return self._drain[pool]

    def _new_context(self, rules: PoolPolicy) -> DrainContext:
        seen, volumes = self.snapshot, VolumeFacts.of(self.snapshot)
        return DrainContext(
            disruption_budgets=seen.disruption_budgets,
            policy=rules,
            now=self.now,
            workloads=seen.workloads,
            drain=self.policy.drain,
            namespaces=seen.namespaces,
            volumes=volumes,
        )

    def counts(self, moving: Iterable[Node] = (), at: datetime | None = None) -> NodeCounts:
        """Return what limits are measured by.

        Args:
            moving: the nodes that may be drained: what each of them would move counts per namespace.
            at: the time of the state, where it was read after the picture.
        """
        seen = self.snapshot
        counts = count_nodes(seen.nodes, seen.pools, self.state, self.policy, at or self.now, seen.minimum)
        return counts.with_moved_pods(count_moved_pods(seen, moving, self.policy))

    @cached_property
    def start_times(self) -> StartTimes:
        """How fast pods of each kind have been Ready after their start."""
        return start_times(self.snapshot.pods)

    def drain_estimator(self, pool: str) -> DrainEstimator:
        """Return what says how long drains of that pool's nodes take."""
        context = self.drain_context(pool)
        if id(context) not in self._estimators:
            self._estimators[id(context)] = DrainEstimator(context, self.start_times)
        return self._estimators[id(context)]

    def permanent_taints(self, pool: str) -> frozenset[Taint]:
        """Return the taints that all nodes of the pool carry: those the pool was made with.

        See docs/acceptance.md row 42.
        """
        if pool not in self._permanent:
            self._permanent[pool] = own_taints(self.snapshot.nodes_by_pool.get(pool, ()))
        return self._permanent[pool]
