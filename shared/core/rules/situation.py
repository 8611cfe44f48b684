"""What every decision of a pass rests on: the snapshot, what Ebb remembers and the policy, as of one moment."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, TypeVar

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.selectors import Taint
from shared.core.cluster.snapshot import NO_PODS, NodePods, Snapshot
from shared.core.policy import DrainSettings, PodRules, Policy, PoolPolicy
from shared.core.records.state import ClusterState
from shared.core.rules.counts import NodeCounts, count_moved_pods, count_nodes
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.drain_time import DrainEstimate, DrainEstimator
from shared.core.rules.pods import movable
from shared.core.rules.unmodelled import VolumeFacts
from shared.core.rules.utilization import own_taints

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Situation:
    """One moment. Keep one for a pass: it remembers what holds for a whole pool, and what moves off each node."""

    snapshot: Snapshot
    state: ClusterState
    policy: Policy
    _contexts: dict[tuple[PodRules, DrainSettings], DrainContext] = field(
        default_factory=dict, repr=False, compare=False
    )
    """By the policy's rules for pods, what was found of kinds of pods."""
    _estimators: dict[int, DrainEstimator] = field(default_factory=dict, repr=False, compare=False)
    """By the identity of the context."""
    _moving: dict[int, tuple[NodePods, tuple[Pod, ...]]] = field(default_factory=dict, repr=False, compare=False)
    """By the identity of a node's pods, these and those of them that move."""
    _found: dict[tuple[object, int, int], tuple[object, Any]] = field(default_factory=dict, repr=False, compare=False)
    """By a rule and the identities of pods and context, the pods and what the rule returns."""
    _by_pool: dict[str, DrainContext] = field(default_factory=dict, repr=False, compare=False)

    @property
    def now(self) -> datetime:
        return self.snapshot.taken_at

    def settings(self, node: Node) -> PoolPolicy:
        return self.policy.pool(node.pool)

    def moving(self, node: str) -> tuple[Pod, ...]:
        own = self.snapshot.pods_by_node.get(node, NO_PODS)
        if id(own) not in self._moving:
            self._moving[id(own)] = own, movable(own, self.now)
        return self._moving[id(own)][1]

    def about_moving(self, node: Node, rule: Callable[[tuple[Pod, ...], DrainContext], _Found]) -> _Found:
        """Return what a rule finds of the pods that a drain of the node must evict, once for the same pods."""
        moving, context = self.moving(node.name), self.drain_context(node.pool)
        key = rule, id(moving), id(context)
        if key not in self._found:
            self._found[key] = moving, rule(moving, context)
        found: _Found = self._found[key][1]
        return found

    def drain_context(self, pool: str) -> DrainContext:
        """Return what the pod rules know on nodes of that pool; pools with the same rules for pods share it."""
        if pool not in self._by_pool:
            rules = self.policy.pool(pool).pod_rules, self.policy.drain
            if rules not in self._contexts:
                seen, (policy, drain) = self.snapshot, rules
                self._contexts[rules] = DrainContext(
                    seen.disruption_budgets, policy, self.now, seen.workloads, drain, seen.namespaces, self._volumes
                )
            self._by_pool[pool] = self._contexts[rules]
        return self._by_pool[pool]

    def drain_estimate(self, node: Node) -> DrainEstimate:
        context = self.drain_context(node.pool)
        if id(context) not in self._estimators:
            self._estimators[id(context)] = DrainEstimator(self.snapshot.start_times)
        return self.about_moving(node, self._estimators[id(context)])

    def changed(
        self, snapshot: Snapshot | None = None, state: ClusterState | None = None, policy: Policy | None = None
    ) -> "Situation":
        """Return another situation. What was found of kinds of pods is kept if all that it rests on is the same."""
        other = Situation(snapshot or self.snapshot, self.state if state is None else state, policy or self.policy)
        if other._basis != self._basis:
            return other
        starts_alike = other.snapshot.start_times == self.snapshot.start_times
        estimators = self._estimators if starts_alike else {}
        return replace(
            other, _contexts=self._contexts, _estimators=estimators, _moving=self._moving, _found=self._found
        )

    @cached_property
    def _basis(self) -> tuple[object, ...]:
        seen = self.snapshot
        return self.now, seen.disruption_budgets, seen.workloads, seen.namespaces, self._volumes

    @cached_property
    def _volumes(self) -> VolumeFacts:
        return VolumeFacts.of(self.snapshot)

    def counts(self, moving: Iterable[Node] = (), at: datetime | None = None) -> NodeCounts:
        """Return what limits are measured by; what each node of `moving` would move counts per namespace."""
        seen = self.snapshot
        counts = count_nodes(seen.nodes, seen.pools, self.state, self.policy, at or self.now, seen.minimum)
        return counts.with_moved_pods(count_moved_pods(seen, moving, self.policy))

    @cached_property
    def permanent_taints(self) -> Mapping[str, frozenset[Taint]]:
        """By pool, the taints that all its nodes carry: those it was made with (docs/acceptance.md row 42)."""
        return {pool: own_taints(nodes) for pool, nodes in self.snapshot.nodes_by_pool.items()}
