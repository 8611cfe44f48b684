"""A real pass without its pace: what only time keeps is open, what a policy limits for good is not.

`Workings` keeps what rounds find out once, all by value: nothing has to be thrown away, and forecasts that share their
workings end like those that do not.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil
from operator import attrgetter, is_
from typing import Final

from functions.cli.analysis.forecast.pace import PacedDrain
from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import KEPT, ClusterArrays, SnapshotMemo
from shared.core.planning.autoscaler import DELETION
from shared.core.planning.autoscaler_look import nodes_unneeded
from shared.core.planning.make_plan import PassOptions, make_plan
from shared.core.planning.plan import NodeDecision, Plan
from shared.core.planning.prices import Prices
from shared.core.policy import BudgetUntil, Policy, PoolPolicy
from shared.core.reasons import DrainReason
from shared.core.records.state import Backoff, ClusterState, Mark, PoolMarks
from shared.core.rules.drain_time import MIN_WATCHDOG, NO_TIME, DrainTime
from shared.core.rules.situation import Situation

_ANY_NUMBER: Final = 10**6
_LONG: Final = timedelta(days=365)
_TRIED: Final = "tried in vain"


class Workings:
    """Shared by all rounds of one forecast, and by what goes on from where it ends; without any to keep, all is new.

    `scales_down`: False leaves out what the autoscaler would remove by itself.
    """

    def __init__(self, keeps: int = KEPT, *, scales_down: bool = True) -> None:
        self.arrays_of = SnapshotMemo(ClusterArrays, _are_alike, keeps)
        self.unneeded = SnapshotMemo(self._find_unneeded if scales_down else lambda _: (), is_, keeps)
        """What the autoscaler would announce to remove, in order."""
        self._keeps = keeps
        self._first: Situation | None = None

    def situation(self, snapshot: Snapshot, state: ClusterState, policy: Policy) -> Situation:
        """Return the situation, with what was found of kinds of pods as far as it holds in it."""
        fresh = Situation(snapshot, state, policy)
        self._first = (self._first or fresh) if self._keeps else fresh
        return self._first.changed(snapshot, state, policy)

    def _find_unneeded(self, snapshot: Snapshot) -> tuple[str, ...]:
        context = self.situation(snapshot, ClusterState(), Policy()).drain_context("")
        return nodes_unneeded(snapshot, context, self.arrays_of)


def _are_alike(one: Snapshot, other: Snapshot) -> bool:
    """Whether the same can be placed at the same nodes: they differ neither in these nor in what arrays are made of."""
    besides = attrgetter("taken_at", "pools", "namespaces", "storage", "buffers")
    return one.pods is other.pods and one.nodes == other.nodes and bool(besides(one) == besides(other))


class UnpacedPass:
    """The nodes of a snapshot that would go next; a node that was tried in vain is not tried again.

    `share` of the nodes may go in one round. Without marks all that could go counts as marked long ago.
    """

    def __init__(
        self,
        situation: Situation,
        marks: Mapping[str, PoolMarks] | None,
        prices: Prices,
        share: float,
        workings: Workings,
    ) -> None:
        self._policy, self._now = situation.policy, situation.now
        self._open = without_pacing(situation.policy)
        self._marked = marks is None
        self._since = {uid: mark.since for pool in (marks or {}).values() for uid, mark in pool.marks.items()}
        self._prices, self._share, self._workings = prices, share, workings
        self.kept: dict[str, Backoff] = {}  # What was tried in vain, by uid: it is asked for no more.
        self.decisions: tuple[NodeDecision, ...] = ()
        self.wave: tuple[str, ...] = ()  # The nodes that a wave holds since the last round.

    def plan_drains(self, snapshot: Snapshot) -> tuple[PacedDrain, ...]:
        there = snapshot.node_by_name  # a wave is kept until its last node is gone
        left = tuple(name for name in self.wave if name in there and there[name].uid not in self.kept)
        plan = self._plan(snapshot, self.kept, left or None)
        self.decisions, self.wave = plan.decisions, plan.wave
        times = {decision.name: decision.drain or DrainTime() for decision in plan.decisions}
        most = len(plan.orders) if plan.wave else ceil(self._share * len(snapshot.nodes))
        rows = ((snapshot.node_by_name[order.node], order.reason) for order in plan.orders[:most])
        return tuple(self._pace_drain(snapshot, node, reason, times[node.name].most) for node, reason in rows)

    def _pace_drain(self, snapshot: Snapshot, node: Node, reason: DrainReason, moves: timedelta) -> PacedDrain:
        watched = moves + (MIN_WATCHDOG if moves else NO_TIME)
        deleted = moves + snapshot.scale_down(node).unneeded + DELETION  # the autoscaler waits with an empty node, too
        return PacedDrain(node, reason, self._earliest_removal(node, reason), watched, deleted)

    def _plan(self, snapshot: Snapshot, kept: dict[str, Backoff], wave: tuple[str, ...] | None = None) -> Plan:
        long_ago = self._now - _LONG
        marks = {
            pool: PoolMarks(marks={node.uid: Mark(node.name, long_ago) for node in nodes})
            for pool, nodes in snapshot.nodes_by_pool.items()
        }
        state = ClusterState(last_pass=self._now, backoffs=kept)
        situation = self._workings.situation(snapshot, state, self._open)
        options = PassOptions(brake=lambda: True, arrays_of=self._workings.arrays_of, paced=False)
        return make_plan(situation, marks, self._prices, wave=wave, options=options)

    def keep(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self.kept[node.uid] = Backoff(node.name, self._now + _LONG, NO_TIME, _TRIED)

    def together(self, snapshot: Snapshot, names: Collection[str]) -> tuple[str, ...]:
        """Return which of these nodes would be gone in the end, were nothing shut."""
        kept = {uid: backoff for uid, backoff in self.kept.items() if backoff.node not in names}
        plan = self._plan(snapshot, kept)
        ordered = (order.node for order in plan.orders)
        found = dict.fromkeys((*ordered, *(plan.at_rest.nodes if plan.at_rest else ())))
        return tuple(name for name in found if name in names)

    def _earliest_removal(self, node: Node, reason: DrainReason) -> datetime:
        pool = self._policy.pool(node.pool)
        if self._marked or reason is DrainReason.EXPIRED:
            return self._now
        since = self._since.get(node.uid) or max(self._now, node.created + pool.minimum_node_age)
        return since + (pool.consolidate_after or NO_TIME)


def without_pacing(policy: Policy) -> Policy:
    """Return the policy without all that only time, a window or a number at once keeps."""
    return replace(
        policy,
        dry_run=False,
        paused=False,
        time_since_last_addition=NO_TIME,
        time_gap=NO_TIME,
        budgets=(),
        budget_until=BudgetUntil.DELETED,
        rate=None,
        evictions_per_namespace=None,
        freezes=(),
        pools={name: _pool_without_pacing(pool) for name, pool in policy.pools.items()},
        other_pools=_pool_without_pacing(policy.other_pools),
    )


def _pool_without_pacing(pool: PoolPolicy) -> PoolPolicy:
    return replace(
        pool,
        minimum_node_age=NO_TIME,
        minimum_pod_age=NO_TIME,
        max_nodes_per_pass=_ANY_NUMBER,
        time_since_last_addition=None,
        rate=None,
        budgets=(),
        windows=None,
    )
