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
from shared.core.rules.counts import Standing, counts_as_non_tainted
from shared.core.rules.utilization import excess

Gate = Callable[[Standing, Node, DrainReason], Blocker | None]


def paused(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    del node, reason
    if standing.policy.paused:
        return Blocker(Unremovable.PAUSED, detail="policy")
    state = standing.state
    why = f": {state.pause_reason}" if state.pause_reason else ""
    return Blocker(Unremovable.PAUSED, detail=f"pause flag{why}") if state.paused else None


def frozen(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    del node, reason
    freeze = freeze_in_force(standing.policy.freezes, standing.now)
    return Blocker(Unremovable.FROZEN, detail=f"until {freeze.end.isoformat()}") if freeze else None


def breaker_open(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    breaker = standing.state.breakers.get(node.pool)
    if breaker is None or breaker.until <= standing.now:
        return None
    return Blocker(Unremovable.BREAKER_OPEN, node.pool, f"{breaker.why}; until {breaker.until.isoformat()}")


def backing_off(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    backoff = standing.state.backoffs.get(node.uid)
    if backoff is None or backoff.until <= standing.now:
        return None
    return Blocker(Unremovable.BACKING_OFF, detail=f"{backoff.why}; until {backoff.until.isoformat()}")


def outside_windows(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    is_open = window_open(standing.policy.pool(node.pool).windows, standing.calendar)
    return None if is_open else Blocker(Unremovable.OUTSIDE_WINDOWS, node.pool)


def pool_at_minimum(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    """Keep what the cluster autoscaler would keep: it deletes no node of a pool at its minimum.

    See docs/acceptance.md row 54.
    """
    del reason
    pool = standing.pool(node.pool)
    if pool.limits is None:
        return None
    in_zone = pool.left_by_zone.get(node.zone, 0)
    if in_zone - 1 < pool.limits.min_per_zone:
        detail = f"{in_zone} nodes left in {node.zone}, minimum {pool.limits.min_per_zone}"
        return Blocker(Unremovable.POOL_AT_MINIMUM, node.pool, detail)
    if pool.left - 1 < pool.limits.min_total:
        return Blocker(Unremovable.POOL_AT_MINIMUM, node.pool, _of(pool.left, pool.limits.min_total))
    return None


def minimum_nodes(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    minimum = standing.policy.minimum_nodes
    if standing.left - node.ready >= minimum:
        return None
    return Blocker(Unremovable.MINIMUM_NODES, detail=_of(standing.left, minimum))


def minimum_non_tainted(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    minimum, left = standing.policy.minimum_non_tainted_nodes, standing.left_non_tainted
    if left - 1 >= minimum or not counts_as_non_tainted(node, standing.policy):
        return None
    return Blocker(Unremovable.MINIMUM_NON_TAINTED, detail=_of(left, minimum))


def _of(left: int, minimum: int) -> str:
    return f"{left} nodes left, minimum {minimum}"


def budget(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    """An allowance is compared with all that is in use, whatever it is in use for (docs/acceptance.md row 71)."""
    pool = standing.pool(node.pool)
    allowed = limit_now(standing.policy.pool(node.pool).budgets, reason, pool.nodes, standing.calendar)
    return _exhausted(Unremovable.BUDGET, node.pool, allowed, len(pool.in_use - {node.uid}))


def cluster_budget(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    used = standing.in_use - (1 if node.uid in standing.pool(node.pool).in_use else 0)
    allowed = limit_now(standing.policy.budgets, reason, standing.nodes, standing.calendar)
    return _exhausted(Unremovable.CLUSTER_BUDGET, "", allowed, used)


def _exhausted(word: Unremovable, about: str, allowed: int | None, used: int) -> Blocker | None:
    if allowed is None or used < allowed:
        return None
    return Blocker(word, about, f"{used} of {allowed} nodes in use")


def rate(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    pool = standing.pool(node.pool)
    own = [start for start in standing.starts if start.pool == node.pool]
    rows = (
        (standing.policy.rate, standing.starts, standing.nodes, ""),
        (standing.policy.pool(node.pool).rate, own, pool.nodes, node.pool),
    )
    spent = (about for rate, starts, nodes, about in rows if _spent(rate, starts, nodes, standing.now))
    about = next(spent, None)
    return None if about is None else Blocker(Unremovable.RATE, about)


def _spent(rate: Rate | None, starts: Iterable[Start], nodes: int, now: datetime) -> bool:
    return rate is not None and starts_left(rate, starts, nodes, now) == 0


def namespace_rate(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    """Each namespace on the node must have room for all its pods there: a drain cannot stop in the middle."""
    del reason
    limit = standing.policy.evictions_per_namespace
    if limit is None:
        return None
    for namespace, pods in sorted(standing.moving.get(node.uid, {}).items()):
        done = moved_lately(limit, standing.starts, namespace, standing.now)
        if done + pods > limit.pods:
            alone = "; more than the limit by itself, so this node never goes" if pods > limit.pods else ""
            return Blocker(Unremovable.NAMESPACE_RATE, namespace, f"{done} of {limit.pods} moved, {pods} here{alone}")
    return None


def recent_addition(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    """A pool with its own time looks at its own additions only; at exactly that time the gate opens.

    See docs/acceptance.md row 49.
    """
    del reason
    own = standing.policy.pool(node.pool).time_since_last_addition is not None
    newest = standing.pool(node.pool).newest if own else standing.newest
    grace = standing.policy.addition_grace(node.pool)
    if newest is None or standing.now - newest >= grace:
        return None
    return Blocker(Unremovable.RECENT_ADDITION, node.pool if own else "", f"until {(newest + grace).isoformat()}")


def time_gap(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    """The orders of one pass are one drain for the gap, so what this pass took does not count.

    See docs/acceptance.md row 50.
    """
    del node, reason
    last, gap = standing.state.last_scale_down, standing.policy.time_gap
    if last is None or standing.now - last >= gap:
        return None
    return Blocker(Unremovable.TIME_GAP, detail=f"until {(last + gap).isoformat()}")


def required_count(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    """Ask for the required count plus the drains in flight, which are not counted themselves.

    See docs/acceptance.md rows 34, 35.
    """
    pool = standing.pool(node.pool)
    if pool.measure is None or reason is not DrainReason.UNDERUTILIZED:
        return None
    needed = standing.policy.pool(node.pool).required_count + len(pool.in_flight)
    if pool.measure.underutilized >= needed:
        return None
    detail = f"{pool.measure.underutilized} under-utilised of {needed} needed"
    return Blocker(Unremovable.TOO_FEW_UNDERUTILIZED, node.pool, detail)


def no_excess(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    """At the threshold the gate is open (docs/acceptance.md row 48)."""
    pool, threshold = standing.pool(node.pool), standing.policy.pool(node.pool).excess_threshold
    if pool.measure is None or reason is not DrainReason.UNDERUTILIZED:
        return None
    found = excess(pool.measure.spare, node)
    if found is not None and found >= threshold:
        return None
    detail = f"{float(found or 0):.2f} of {float(threshold):g}"
    return Blocker(Unremovable.NO_EXCESS, node.pool, detail)


def nodes_per_pass(standing: Standing, node: Node, reason: DrainReason) -> Blocker | None:
    del reason
    most = standing.policy.pool(node.pool).max_nodes_per_pass
    full = standing.pool(node.pool).taken >= most
    return Blocker(Unremovable.NODES_PER_PASS, node.pool, f"{most}") if full else None
