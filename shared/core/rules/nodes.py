"""May this node be considered at all? Ordered rules; all reasons are kept, the first names the verdict.

Must not weigh how full the node is, when it was marked, or what budgets allow: only what it is.
A node with our taint is in flight; the planner sets it aside before asking, so our taint is no reason here.
"""

from collections.abc import Callable, Iterable
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.annotation import holding_order
from shared.core.cluster.node import Node
from shared.core.policy import ConsolidationPolicy
from shared.core.reasons import Blocker, Unremovable
from shared.core.rules.atomic_pools import atomic_group
from shared.core.rules.do_not_disrupt import node_opt_outs
from shared.core.rules.pods import PASSES_BY_ITSELF, blockers
from shared.core.rules.situation import Situation

OTHER_RULES: Final = frozenset({names.OUR_TAINT, names.UNSCHEDULABLE_TAINT, *names.GOING_TAINTS, *names.OUTSIDE_TAINTS})
"""Taints that another rule names better."""


NodeRule = Callable[[Node, Situation], Iterable[Blocker]]


def _no_pool(node: Node, _: Situation) -> Iterable[Blocker]:
    if not node.pool:
        yield Blocker(Unremovable.NO_POOL)


def _pool_disabled(node: Node, situation: Situation) -> Iterable[Blocker]:
    if not situation.settings(node).enabled:
        yield Blocker(Unremovable.POOL_DISABLED, node.pool)


def _not_autoscaled(node: Node, situation: Situation) -> Iterable[Blocker]:
    """Refuse what the cluster autoscaler would not delete, and pools that GKE does not report.

    See docs/acceptance.md row 110.
    """
    pool = situation.snapshot.pools.get(node.pool)
    if not node.pool:
        return
    if pool is None:
        if situation.snapshot.pools_known:
            yield Blocker(Unremovable.POOLS_UNKNOWN, node.pool, "the GKE API does not report this pool")
    elif not pool.autoscaled:
        yield Blocker(Unremovable.NOT_AUTOSCALED, node.pool)


def _atomic(node: Node, situation: Situation) -> Iterable[Blocker]:
    group = atomic_group(node, situation.snapshot.pools.get(node.pool))
    if group:
        yield Blocker(Unremovable.ATOMIC_POOL, node.pool, group)


def _upgrading(node: Node, situation: Situation) -> Iterable[Blocker]:
    pool = situation.snapshot.pools.get(node.pool)
    if pool is not None and pool.upgrading:
        yield Blocker(Unremovable.POOL_UPGRADING, node.pool)


def _stands_by(node: Node, _: Situation) -> Iterable[Blocker]:
    if node.stands_by:
        yield Blocker(Unremovable.STANDBY_NODE)


def _managed(node: Node, _: Situation) -> Iterable[Blocker]:
    if node.managed:
        yield Blocker(Unremovable.MANAGED_NODE)


def _being_maintained(node: Node, _: Situation) -> Iterable[Blocker]:
    for condition in node.lifecycle:
        yield Blocker(Unremovable.BEING_MAINTAINED, condition)


def _not_ready(node: Node, _: Situation) -> Iterable[Blocker]:
    if not node.ready and not node.stands_by:
        yield Blocker(Unremovable.NOT_READY)


def _no_allocatable(node: Node, _: Situation) -> Iterable[Blocker]:
    if node.allocatable.cpu <= 0 or node.allocatable.memory <= 0:
        yield Blocker(Unremovable.NO_ALLOCATABLE)


def _cordoned_by_other(node: Node, _: Situation) -> Iterable[Blocker]:
    if node.unschedulable and node.drain_taint is None and not node.stands_by:
        yield Blocker(Unremovable.CORDONED_BY_OTHER)


def _going_away(node: Node, _: Situation) -> Iterable[Blocker]:
    """What the autoscaler has only announced is not kept by that (docs/decisions/autoscaler.md)."""
    for key in names.REMOVED_BY_OTHERS_TAINTS:
        if node.has_taint(key):
            yield Blocker(Unremovable.GOING_AWAY, key)


def _tainted(node: Node, situation: Situation) -> Iterable[Blocker]:
    ignored = situation.settings(node).ignore_taints
    for taint in node.taints:
        known = taint.key in OTHER_RULES or taint.key in ignored or taint in situation.permanent_taints(node.pool)
        if taint.repels and not known:
            yield Blocker(Unremovable.TAINTED, taint.key, taint.effect)


def _opted_out(node: Node, situation: Situation) -> Iterable[Blocker]:
    for opt_out in node_opt_outs(node.annotations, node.labels, situation.now):
        yield Blocker(Unremovable.SCALE_DOWN_DISABLED, opt_out)


def _too_young(node: Node, situation: Situation) -> Iterable[Blocker]:
    """Ask for more than the minimum age, as estafette does (docs/acceptance.md row 28)."""
    minimum = situation.settings(node).minimum_node_age
    age = situation.now - node.created
    if minimum and age <= minimum:
        yield Blocker(Unremovable.TOO_YOUNG, detail=f"{int(age.total_seconds())} s of {minimum.total_seconds():g} s")


def _backing_off(node: Node, situation: Situation) -> Iterable[Blocker]:
    backoff = situation.state.backoffs.get(node.uid)
    if backoff is not None and situation.now < backoff.until:
        yield Blocker(Unremovable.BACKING_OFF, detail=f"{backoff.why}; until {backoff.until.isoformat()}")
    elif node.drain_taint is None and (order_id := holding_order(node)):
        detail = f"our taint of order {order_id} was removed, and its annotation is to be cleared first"
        yield Blocker(Unremovable.BACKING_OFF, detail=detail)


def _blocked_by_pod(node: Node, situation: Situation) -> Iterable[Blocker]:
    """Say first that pods block, then each pod's own reasons."""
    return _with_lead(blockers(situation.moving(node.name), situation.drain_context(node.pool)))


def _blocked_for_good(node: Node, situation: Situation) -> Iterable[Blocker]:
    """The same without what passes by itself: a rollout, a running Job, a pod's youth."""
    found = blockers(situation.moving(node.name), situation.drain_context(node.pool))
    return _with_lead(tuple(each for each in found if each.reason not in PASSES_BY_ITSELF))


def _with_lead(found: tuple[Blocker, ...]) -> tuple[Blocker, ...]:
    first = (Blocker(Unremovable.BLOCKED_BY_POD, each.object, each.reason.value) for each in found[:1])
    return (*first, *found)


def _not_empty(node: Node, situation: Situation) -> Iterable[Blocker]:
    if situation.settings(node).consolidation_policy is not ConsolidationPolicy.WHEN_EMPTY:
        return
    pods = situation.moving(node.name)
    if pods:
        yield Blocker(Unremovable.NOT_EMPTY, pods[0].key, f"{len(pods)} pods")


NODE_RULES: Final[tuple[NodeRule, ...]] = (
    # whether anybody speaks for the node, and the autoscaler would delete it
    _no_pool,
    _pool_disabled,
    _not_autoscaled,
    _atomic,
    _upgrading,
    # whether it is there to be consolidated
    _stands_by,
    _managed,
    # what state the node is in
    _being_maintained,
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
SAFETY_RULES: Final[tuple[NodeRule, ...]] = tuple(
    _blocked_for_good if rule is _blocked_by_pod else rule for rule in NODE_RULES if rule not in TIMERS_AND_WISHES
)
"""What `--potential` keeps: it asks how many nodes could go at all, never how many could go unsafely.

See docs/decisions/forecast.md.
"""


def judge_node(node: Node, situation: Situation, rules: tuple[NodeRule, ...] = NODE_RULES) -> tuple[Blocker, ...]:
    """Return everything that keeps the node; empty means that it is a candidate."""
    return tuple(blocker for rule in rules for blocker in rule(node, situation))
