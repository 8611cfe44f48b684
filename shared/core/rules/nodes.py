"""May this node be considered at all? Ordered rules; all reasons are kept, the first names the verdict.

A node with our taint is in flight; the planner sets it aside before asking, so our taint is no reason here. Nodes that
the autoscaler removes only as a group (atomic node groups) stay: draining one of them saves nothing.
"""

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from math import prod
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.node import Node, NodePool, holding_order
from shared.core.cluster.resources import TPU
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import ConsolidationPolicy, Policy, PoolPolicy
from shared.core.reasons import Blocker, PodBlock, Unremovable
from shared.core.rules.do_not_disrupt import node_opt_outs
from shared.core.rules.pods import blockers
from shared.core.rules.situation import Situation

OTHER_RULES: Final = frozenset({names.OUR_TAINT, names.UNSCHEDULABLE_TAINT, *names.GOING_TAINTS, *names.OUTSIDE_TAINTS})
"""Taints that another rule names better."""


NodeRule = Callable[[Node, Situation], Iterable[Blocker]]


def _stays_where(reason: Unremovable, holds: Callable[[Node], bool]) -> NodeRule:
    return lambda node, _: (Blocker(reason),) if holds(node) else ()


_no_pool = _stays_where(Unremovable.NO_POOL, lambda node: not node.pool)
_stands_by = _stays_where(Unremovable.STANDBY_NODE, lambda node: node.stands_by)
_managed_node = _stays_where(Unremovable.MANAGED_NODE, lambda node: node.managed or node.virtual)
_not_ready = _stays_where(Unremovable.NOT_READY, lambda node: not node.ready and not node.stands_by)
_no_allocatable = _stays_where(
    Unremovable.NO_ALLOCATABLE, lambda node: node.allocatable.cpu <= 0 or node.allocatable.memory <= 0
)
_cordoned_by_other = _stays_where(
    Unremovable.CORDONED_BY_OTHER, lambda node: node.unschedulable and node.drain_taint is None and not node.stands_by
)


def _pool_disabled(node: Node, situation: Situation) -> Iterable[Blocker]:
    if not situation.settings(node).enabled:
        yield Blocker(Unremovable.POOL_DISABLED, node.pool)


def _not_autoscaled(node: Node, situation: Situation) -> Iterable[Blocker]:
    """Refuse what the cluster autoscaler would not delete, and pools that GKE does not report."""
    # docs/acceptance.md row 110.
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
    return (Blocker(Unremovable.ATOMIC_POOL, node.pool, group),) if group else ()


def _upgrading(node: Node, situation: Situation) -> Iterable[Blocker]:
    pool = situation.snapshot.pools.get(node.pool)
    return (Blocker(Unremovable.POOL_UPGRADING, node.pool),) if pool is not None and pool.upgrading else ()


def _being_maintained(node: Node, _: Situation) -> Iterable[Blocker]:
    return (Blocker(Unremovable.BEING_MAINTAINED, condition) for condition in node.lifecycle)


def _going_away(node: Node, _: Situation) -> Iterable[Blocker]:
    """What the autoscaler has only announced is not kept by that (docs/decisions/autoscaler.md)."""
    return (Blocker(Unremovable.GOING_AWAY, key) for key in names.REMOVED_BY_OTHERS_TAINTS if node.has_taint(key))


def _taint_blockers(node: Node, situation: Situation) -> Iterable[Blocker]:
    ignored, permanent = situation.settings(node).ignore_taints, situation.permanent_taints.get(node.pool, ())
    for taint in node.taints:
        known = taint.key in OTHER_RULES or taint.key in ignored or taint in permanent
        if taint.repels and not known:
            yield Blocker(Unremovable.TAINTED, taint.key, taint.effect)


def _opted_out(node: Node, situation: Situation) -> Iterable[Blocker]:
    opt_outs = node_opt_outs(node.annotations, node.labels, situation.now)
    return (Blocker(Unremovable.SCALE_DOWN_DISABLED, opt_out) for opt_out in opt_outs)


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
    """Name first that pods block, then each pod's own reasons."""
    return _with_lead(situation.about_moving(node, blockers))


def _blocked_for_good(node: Node, situation: Situation) -> Iterable[Blocker]:
    """The same without what passes by itself: a rollout, a running Job, a pod's youth."""
    # A pod whose owner asks to leave it until it completes may never end.
    found = situation.about_moving(node, blockers)
    asked = PodBlock.WAITS_FOR_COMPLETION
    return _with_lead(tuple(row for row in found if row.reason is asked or not row.reason.row.passes))


def _with_lead(found: tuple[Blocker, ...]) -> tuple[Blocker, ...]:
    first = (Blocker(Unremovable.BLOCKED_BY_POD, blocker.object, blocker.reason.value) for blocker in found[:1])
    return (*first, *found)


def _not_empty(node: Node, situation: Situation) -> Iterable[Blocker]:
    if situation.settings(node).consolidation_policy is not ConsolidationPolicy.WHEN_EMPTY:
        return
    pods = situation.moving(node.name)
    if pods:
        yield Blocker(Unremovable.NOT_EMPTY, pods[0].key, f"{len(pods)} pods")


NODE_RULES: Final[tuple[NodeRule, ...]] = (
    # whether anybody speaks for the node, and the autoscaler would delete it
    _no_pool, _pool_disabled, _not_autoscaled, _atomic, _upgrading,
    # whether it is there to be consolidated
    _stands_by, _managed_node,
    # what state the node is in
    _being_maintained, _not_ready, _no_allocatable, _cordoned_by_other, _going_away, _taint_blockers,
    # who asked to leave it alone
    _opted_out, _too_young, _backing_off,
    # what runs on it
    _blocked_by_pod, _not_empty,
)  # fmt: skip
TIMERS_AND_WISHES: Final = frozenset({_pool_disabled, _too_young, _backing_off, _not_empty})
SAFETY_RULES: Final[tuple[NodeRule, ...]] = tuple(
    _blocked_for_good if rule is _blocked_by_pod else rule for rule in NODE_RULES if rule not in TIMERS_AND_WISHES
)
"""What `--potential` keeps: how many nodes could go at all, never unsafely (docs/decisions/forecast.md)."""


def judge_node(node: Node, situation: Situation, rules: tuple[NodeRule, ...] = NODE_RULES) -> tuple[Blocker, ...]:
    """Return everything that keeps the node; empty means that it is a candidate."""
    return tuple(blocker for rule in rules for blocker in rule(node, situation))


_SHAPE: Final = re.compile(r"[0-9]{1,4}(?:x[0-9]{1,4})*", re.ASCII)
_CHIPS_OF_A_MACHINE: Final = re.compile(r"-([0-9]{1,4})t$", re.ASCII)
"""Machine types of TPU nodes end in the number of their chips: `ct5lp-hightpu-4t`, `tpu7x-standard-4t`."""


def atomic_group(node: Node, pool: NodePool | None) -> str:
    """Return what binds the node to others, in words; empty where it may go alone."""
    limits = pool or NodePool(node.pool)
    topology = limits.tpu_topology or node.labels.get(names.TPU_TOPOLOGY_LABEL, "")
    if topology and not _one_host(topology, node):
        return f"TPU slice {topology} of several hosts"
    if limits.queued or any(node.labels.get(key) or node.has_taint(key) for key in names.QUEUED_KEYS):
        return "queued provisioning"
    if limits.compact or any(node.labels.get(key) for key in names.PLACEMENT_LABELS):
        return "compact placement"
    return ""


def _one_host(topology: str, node: Node) -> bool:
    """Whether the node's own chips are the whole slice; a shape that cannot be read is taken for several hosts."""
    if not _SHAPE.fullmatch(topology):
        return False
    machine = _CHIPS_OF_A_MACHINE.search(node.machine)
    chips = node.allocatable.get(TPU) or int(machine[1] if machine else 0)
    return prod(map(int, topology.split("x"))) <= chips


def has_expired(node: Node, settings: PoolPolicy, now: datetime) -> bool:
    """Whether the node is of the pool's age of expiry (docs/acceptance.md row 81)."""
    return settings.expire_after is not None and now - node.created >= settings.expire_after


_MOST_NAMED: Final = 5


def unknown_pools(policy: Policy, snapshot: Snapshot) -> dict[str, str]:
    """Return, by the name of each such pool, the sentence that names it, with pools that have no settings yet."""
    there = {*snapshot.pools, *snapshot.nodes_by_pool} - {""}
    free = sorted(there - {*policy.pools})
    more = f" and {len(free) - _MOST_NAMED:,} more" if len(free) > _MOST_NAMED else ""
    missing = "the cluster has no such pool" if snapshot.pools_known else "no node here belongs to such a pool"
    others = f"pools without settings: {', '.join(free[:_MOST_NAMED]) or 'none'}{more}"
    return {name: f"nodePools.{name}: {missing}; {others}." for name in sorted({*policy.pools} - there)}
