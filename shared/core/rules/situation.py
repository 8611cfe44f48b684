"""What every decision of a pass rests on: the picture, what Ebb remembers and the policy, as of one moment.

Rules about nodes take it as their one argument besides the node. Must not judge.
"""

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from shared.core.cluster.node import Node
from shared.core.cluster.selectors import Taint
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy, PoolPolicy
from shared.core.records.state import ClusterState
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.drain_time import DrainEstimator, StartTimes, start_times
from shared.core.rules.pool_taints import own_taints
from shared.core.rules.volumes import VolumeFacts


@dataclass(frozen=True)
class Situation:
    """One moment. Keep one for a pass: it remembers what holds for a whole pool."""

    snapshot: Snapshot
    state: ClusterState
    policy: Policy
    _drain: dict[str, DrainContext] = field(default_factory=dict, repr=False, compare=False)
    _estimators: dict[str, DrainEstimator] = field(default_factory=dict, repr=False, compare=False)
    _permanent: dict[str, frozenset[Taint]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def now(self) -> datetime:
        """The time of the picture."""
        return self.snapshot.taken_at

    def settings(self, node: Node) -> PoolPolicy:
        return self.policy.pool(node.pool)

    def drain_context(self, pool: str) -> DrainContext:
        """Return what the pod rules know on nodes of that pool."""
        if pool not in self._drain:
            seen, volumes = self.snapshot, VolumeFacts.of(self.snapshot)
            rules, drain = self.policy.pool(pool), self.policy.drain
            self._drain[pool] = DrainContext(
                seen.disruption_budgets, rules, self.now, seen.workloads, drain, seen.namespaces, volumes
            )
        return self._drain[pool]

    @cached_property
    def start_times(self) -> StartTimes:
        """How fast pods of each kind have been Ready after their start."""
        return start_times(self.snapshot.pods)

    def drain_estimator(self, pool: str) -> DrainEstimator:
        """Return what says how long drains of that pool's nodes take."""
        if pool not in self._estimators:
            self._estimators[pool] = DrainEstimator(self.drain_context(pool), self.start_times)
        return self._estimators[pool]

    def permanent_taints(self, pool: str) -> frozenset[Taint]:
        """Return the taints that all nodes of the pool carry: those the pool was made with.

        See docs/acceptance.md row 42.
        """
        if pool not in self._permanent:
            self._permanent[pool] = own_taints(self.snapshot.nodes_by_pool.get(pool, ()))
        return self._permanent[pool]
