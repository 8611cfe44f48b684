"""The single gates: each looks at the counts, the node to be taken and the reason, and says what is in the way.

Every gate answers for itself alone; `gates` sets their order and who asks for them. Must not look at pods.
"""

from collections.abc import Callable, Iterable
from datetime import datetime

from shared.core.cluster.snapshot import Node
from shared.core.policy import Rate
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.records.state import Start
from shared.core.rules.budgets import freeze_in_force, limit_now, moved_lately, starts_left, window_open
from shared.core.rules.counted_nodes import counts_as_non_tainted
from shared.core.rules.counts import NodeCounts
from shared.core.rules.utilization import excess

Gate = Callable[[NodeCounts, Node, DrainReason], Blocker | None]


def paused(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    del node, reason
    if counts.policy.paused:
        return Blocker(Unremovable.PAUSED, detail="policy")
    state = counts.state
    why = f": {state.pause_reason}" if state.pause_reason else ""
    return Blocker(Unremovable.PAUSED, detail=f"pause flag{why}") if state.paused else None


def frozen(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    del node, reason
    freeze = freeze_in_force(counts.policy.freezes, counts.now)
    return Blocker(Unremovable.FROZEN, detail=f"until {freeze.end.isoformat()}") if freeze else None


def breaker_open(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    breaker = counts.state.breakers.get(node.pool)
    if breaker is None or breaker.until <= counts.now:
        return None
    return Blocker(Unremovable.BREAKER_OPEN, node.pool, f"{breaker.why}; until {breaker.until.isoformat()}")


def backing_off(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    backoff = counts.state.backoffs.get(node.uid)
    if backoff is None or backoff.until <= counts.now:
        return None
    return Blocker(Unremovable.BACKING_OFF, detail=f"{backoff.why}; until {backoff.until.isoformat()}")


def outside_windows(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    is_open = window_open(counts.policy.pool(node.pool).windows, counts.calendar)
    return None if is_open else Blocker(Unremovable.OUTSIDE_WINDOWS, node.pool)


def pool_at_minimum(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    """Keep what the cluster autoscaler would keep: it deletes no node of a pool at its minimum.

    See docs/acceptance.md row 54.
    """
    del reason
    pool = counts.pool(node.pool)
    if pool.limits is None:
        return None
    in_zone = pool.left_by_zone.get(node.zone, 0)
    if in_zone - 1 < pool.limits.min_per_zone:
        detail = f"{in_zone} nodes left in {node.zone}, minimum {pool.limits.min_per_zone}"
        return Blocker(Unremovable.POOL_AT_MINIMUM, node.pool, detail)
    if pool.left - 1 < pool.limits.min_total:
        return Blocker(Unremovable.POOL_AT_MINIMUM, node.pool, _of(pool.left, pool.limits.min_total))
    return None


def minimum_nodes(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    minimum = counts.policy.minimum_nodes
    if counts.left - node.ready >= minimum:
        return None
    return Blocker(Unremovable.MINIMUM_NODES, detail=_of(counts.left, minimum))


def minimum_non_tainted(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    minimum, left = counts.policy.minimum_non_tainted_nodes, counts.left_non_tainted
    if left - 1 >= minimum or not counts_as_non_tainted(node, counts.policy):
        return None
    return Blocker(Unremovable.MINIMUM_NON_TAINTED, detail=_of(left, minimum))


def _of(left: int, minimum: int) -> str:
    return f"{left} nodes left, minimum {minimum}"


def budget(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    """An allowance is compared with all that is in use, whatever it is in use for (docs/acceptance.md row 71)."""
    pool = counts.pool(node.pool)
    allowed = limit_now(counts.policy.pool(node.pool).budgets, reason, pool.nodes, counts.calendar)
    return _exhausted(Unremovable.BUDGET, node.pool, allowed, len(pool.in_use - {node.uid}))


def cluster_budget(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    used = counts.in_use - (1 if node.uid in counts.pool(node.pool).in_use else 0)
    allowed = limit_now(counts.policy.budgets, reason, counts.nodes, counts.calendar)
    return _exhausted(Unremovable.CLUSTER_BUDGET, "", allowed, used)


def _exhausted(word: Unremovable, about: str, allowed: int | None, used: int) -> Blocker | None:
    if allowed is None or used < allowed:
        return None
    return Blocker(word, about, f"{used} of {allowed} nodes in use")


def rate(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    pool = counts.pool(node.pool)
    own = [start for start in counts.starts if start.pool == node.pool]
    rows = (
        (counts.policy.rate, counts.starts, counts.nodes, ""),
        (counts.policy.pool(node.pool).rate, own, pool.nodes, node.pool),
    )
    spent = (about for rate, starts, nodes, about in rows if _spent(rate, starts, nodes, counts.now))
    about = next(spent, None)
    return None if about is None else Blocker(Unremovable.RATE, about)


def _spent(rate: Rate | None, starts: Iterable[Start], nodes: int, now: datetime) -> bool:
    return rate is not None and starts_left(rate, starts, nodes, now) == 0


def namespace_rate(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    """Each namespace on the node must have room for all its pods there: a drain cannot stop in the middle."""
    del reason
    limit = counts.policy.evictions_per_namespace
    if limit is None:
        return None
    for namespace, pods in sorted(counts.moved_pods.get(node.uid, {}).items()):
        done = moved_lately(limit, counts.starts, namespace, counts.now)
        if done + pods > limit.pods:
            alone = "; more than the limit by itself, so this node never goes" if pods > limit.pods else ""
            return Blocker(Unremovable.NAMESPACE_RATE, namespace, f"{done} of {limit.pods} moved, {pods} here{alone}")
    return None


def recent_addition(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    """A pool with its own time looks at its own additions only; at exactly that time the gate opens.

    See docs/acceptance.md row 49.
    """
    del reason
    own = counts.policy.pool(node.pool).time_since_last_addition is not None
    newest = counts.pool(node.pool).newest if own else counts.newest
    grace = counts.policy.addition_grace(node.pool)
    if newest is None or counts.now - newest >= grace:
        return None
    return Blocker(Unremovable.RECENT_ADDITION, node.pool if own else "", f"until {(newest + grace).isoformat()}")


def time_gap(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    """The orders of one pass are one drain for the gap, so what this pass took does not count.

    See docs/acceptance.md row 50.
    """
    del node, reason
    last, gap = counts.state.last_scale_down, counts.policy.time_gap
    if last is None or counts.now - last >= gap:
        return None
    return Blocker(Unremovable.TIME_GAP, detail=f"until {(last + gap).isoformat()}")


def required_count(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    """Ask for the required count plus the drains in flight, which are not counted themselves.

    See docs/acceptance.md rows 34, 35.
    """
    pool = counts.pool(node.pool)
    if pool.measure is None or reason is not DrainReason.UNDERUTILIZED:
        return None
    needed = counts.policy.pool(node.pool).required_count + len(pool.in_flight)
    if pool.measure.underutilized >= needed:
        return None
    detail = f"{pool.measure.underutilized} under-utilised of {needed} needed"
    return Blocker(Unremovable.TOO_FEW_UNDERUTILIZED, node.pool, detail)


def no_excess(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    """At the threshold the gate is open (docs/acceptance.md row 48)."""
    pool, threshold = counts.pool(node.pool), counts.policy.pool(node.pool).excess_threshold
    if pool.measure is None or reason is not DrainReason.UNDERUTILIZED:
        return None
    found = excess(pool.measure.spare, node)
    if found is not None and found >= threshold:
        return None
    detail = f"{float(found or 0):.2f} of {float(threshold):g}"
    return Blocker(Unremovable.NO_EXCESS, node.pool, detail)


def nodes_per_pass(counts: NodeCounts, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    most = counts.policy.pool(node.pool).max_nodes_per_pass
    full = counts.pool(node.pool).taken >= most
    return Blocker(Unremovable.NODES_PER_PASS, node.pool, f"{most}") if full else None
