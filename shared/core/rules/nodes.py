"""May this node be considered at all? Ordered rules; all reasons are kept, the first names the verdict.

Must not weigh how full the node is, when it was marked, or what budgets allow: only what it is.
A node with our taint is in flight; the planner sets it aside before asking, so our taint is no reason here.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.selectors import Taint
from shared.core.cluster.snapshot import Node, Snapshot
from shared.core.policy import ConsolidationPolicy, Policy, PoolPolicy
from shared.core.reasons import Blocker, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.atomic_pools import atomic_group
from shared.core.rules.do_not_disrupt import node_opt_outs
from shared.core.rules.pods import PASSES_BY_ITSELF, DrainContext, blockers, movable
from shared.core.rules.pool_taints import own_taints

OTHER_RULES: Final = frozenset({names.OUR_TAINT, names.UNSCHEDULABLE_TAINT, *names.GOING_TAINTS})
"""Taints that another rule names better."""


@dataclass(frozen=True)
class NodeContext:
    """What the rules know besides the node. Keep one for a pass: it remembers what holds for a whole pool."""

    snapshot: Snapshot
    policy: Policy
    state: ClusterState
    now: datetime
    _drain: dict[str, DrainContext] = field(default_factory=dict, repr=False, compare=False)
    _permanent: dict[str, frozenset[Taint]] = field(default_factory=dict, repr=False, compare=False)

    def settings(self, node: Node) -> PoolPolicy:
        return self.policy.pool(node.pool)

    def drain_context(self, pool: str) -> DrainContext:
        """Return what the pod rules know on nodes of that pool."""
        if pool not in self._drain:
            budgets, workloads = self.snapshot.disruption_budgets, self.snapshot.workloads
            self._drain[pool] = DrainContext(budgets, self.policy.pool(pool), self.now, workloads, self.policy.drain)
        return self._drain[pool]

    def permanent_taints(self, pool: str) -> frozenset[Taint]:
        """Return the taints that all nodes of the pool carry: those the pool was made with.

        See docs/acceptance.md row 42.
        """
        if pool not in self._permanent:
            self._permanent[pool] = own_taints(self.snapshot.nodes_by_pool.get(pool, ()))
        return self._permanent[pool]


Rule = Callable[[Node, NodeContext], Iterable[Blocker]]


def _no_pool(node: Node, _: NodeContext) -> Iterable[Blocker]:
    if not node.pool:
        yield Blocker(Unremovable.NO_POOL)


def _pool_disabled(node: Node, context: NodeContext) -> Iterable[Blocker]:
    if not context.settings(node).enabled:
        yield Blocker(Unremovable.POOL_DISABLED, node.pool)


def _not_autoscaled(node: Node, context: NodeContext) -> Iterable[Blocker]:
    """Refuse what the cluster autoscaler would not delete, and pools that GKE does not report.

    See docs/acceptance.md row 110.
    """
    pool = context.snapshot.pools.get(node.pool)
    if not node.pool:
        return
    if pool is None:
        if context.snapshot.pools_known:
            yield Blocker(Unremovable.POOLS_UNKNOWN, node.pool, "the GKE API does not report this pool")
    elif not pool.autoscaled:
        yield Blocker(Unremovable.NOT_AUTOSCALED, node.pool)


def _atomic(node: Node, context: NodeContext) -> Iterable[Blocker]:
    group = atomic_group(node, context.snapshot.pools.get(node.pool))
    if group:
        yield Blocker(Unremovable.ATOMIC_POOL, node.pool, group)


def _upgrading(node: Node, context: NodeContext) -> Iterable[Blocker]:
    pool = context.snapshot.pools.get(node.pool)
    if pool is not None and pool.upgrading:
        yield Blocker(Unremovable.POOL_UPGRADING, node.pool)


def _not_ready(node: Node, _: NodeContext) -> Iterable[Blocker]:
    if not node.ready:
        yield Blocker(Unremovable.NOT_READY)


def _no_allocatable(node: Node, _: NodeContext) -> Iterable[Blocker]:
    if node.allocatable.cpu <= 0 or node.allocatable.memory <= 0:
        yield Blocker(Unremovable.NO_ALLOCATABLE)


def _cordoned_by_other(node: Node, _: NodeContext) -> Iterable[Blocker]:
    if node.unschedulable and node.drain_taint is None:
        yield Blocker(Unremovable.CORDONED_BY_OTHER)


def _going_away(node: Node, _: NodeContext) -> Iterable[Blocker]:
    for key in names.GOING_TAINTS:
        if node.has_taint(key):
            yield Blocker(Unremovable.GOING_AWAY, key)


def _tainted(node: Node, context: NodeContext) -> Iterable[Blocker]:
    ignored = context.settings(node).ignore_taints
    for taint in node.taints:
        known = taint.key in OTHER_RULES or taint.key in ignored or taint in context.permanent_taints(node.pool)
        if taint.repels and not known:
            yield Blocker(Unremovable.TAINTED, taint.key, taint.effect)


def _opted_out(node: Node, context: NodeContext) -> Iterable[Blocker]:
    for opt_out in node_opt_outs(node.annotations, node.labels, context.now):
        yield Blocker(Unremovable.SCALE_DOWN_DISABLED, opt_out)


def _too_young(node: Node, context: NodeContext) -> Iterable[Blocker]:
    """Ask for more than the minimum age, as estafette does (docs/acceptance.md row 28)."""
    minimum = context.settings(node).minimum_node_age
    age = context.now - node.created
    if minimum and age <= minimum:
        yield Blocker(Unremovable.TOO_YOUNG, detail=f"{int(age.total_seconds())} s of {minimum.total_seconds():g} s")


def _backing_off(node: Node, context: NodeContext) -> Iterable[Blocker]:
    backoff = context.state.backoffs.get(node.uid)
    if backoff is not None and context.now < backoff.until:
        yield Blocker(Unremovable.BACKING_OFF, detail=f"{backoff.why}; until {backoff.until.isoformat()}")


def _blocked_by_pod(node: Node, context: NodeContext) -> Iterable[Blocker]:
    """Say first that pods block, then each pod's own reasons."""
    return _led(blockers(context.snapshot.pods_by_node.get(node.name, ()), context.drain_context(node.pool)))


def _blocked_for_good(node: Node, context: NodeContext) -> Iterable[Blocker]:
    """The same without what passes by itself: a rollout, a running Job, a pod's youth."""
    found = blockers(context.snapshot.pods_by_node.get(node.name, ()), context.drain_context(node.pool))
    return _led(tuple(each for each in found if each.reason not in PASSES_BY_ITSELF))


def _led(found: tuple[Blocker, ...]) -> tuple[Blocker, ...]:
    first = (Blocker(Unremovable.BLOCKED_BY_POD, each.object, each.reason.value) for each in found[:1])
    return (*first, *found)


def _not_empty(node: Node, context: NodeContext) -> Iterable[Blocker]:
    if context.settings(node).consolidation_policy is not ConsolidationPolicy.WHEN_EMPTY:
        return
    pods = movable(context.snapshot.pods_by_node.get(node.name, ()), context.now)
    if pods:
        yield Blocker(Unremovable.NOT_EMPTY, pods[0].key, f"{len(pods)} pods")


NODE_RULES: Final[tuple[Rule, ...]] = (
    # whether anybody speaks for the node, and the autoscaler would delete it
    _no_pool,
    _pool_disabled,
    _not_autoscaled,
    _atomic,
    _upgrading,
    # what state the node is in
    _not_ready,
    _no_allocatable,
    _cordoned_by_other,
    _going_away,
    _tainted,
    # who asked to leave it alone
    _opted_out,
    _too_young,
    _backing_off,
    # what runs on it
    _blocked_by_pod,
    _not_empty,
)
TIMERS_AND_WISHES: Final = frozenset({_pool_disabled, _too_young, _backing_off, _not_empty})
SAFETY_RULES: Final[tuple[Rule, ...]] = tuple(
    _blocked_for_good if rule is _blocked_by_pod else rule for rule in NODE_RULES if rule not in TIMERS_AND_WISHES
)
"""What `--potential` keeps: it asks how many nodes could go at all, never how many could go unsafely.

See docs/decisions/potential.md.
"""


def judge_node(node: Node, context: NodeContext, rules: tuple[Rule, ...] = NODE_RULES) -> tuple[Blocker, ...]:
    """Return everything that keeps the node; empty means that it is a candidate."""
    return tuple(blocker for rule in rules for blocker in rule(node, context))
