"""The rule of each gate: what must hold before one more node may go, and what of the policy or state it reads."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from shared.core.cluster.node import Node
from shared.core.cluster.resources import CPU, MEMORY
from shared.core.policy import Budget, BudgetUntil, NamespaceRate, Policy, PoolPolicy, Rate, Schedule
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.budgets import frozen_until, limit_now, moved_lately, starts_left, window_open
from shared.core.rules.counts import NodeCounts, PoolCounts, counts_as_non_tainted
from shared.core.rules.utilization import excess


@dataclass(frozen=True, slots=True)
class ProposedDrain:
    """What a gate is asked about: one more node to be taken, why, and the counts without it."""

    counts: NodeCounts
    node: Node
    reason: DrainReason

    @property
    def now(self) -> datetime:
        return self.counts.now

    @property
    def policy(self) -> Policy:
        return self.counts.policy

    @property
    def state(self) -> ClusterState:
        return self.counts.state

    @property
    def pool(self) -> PoolCounts:
        return self.counts.pool(self.node.pool)

    @property
    def pool_policy(self) -> PoolPolicy:
        return self.policy.pool(self.node.pool)

    @property
    def used_in_pool(self) -> int:
        return len(self.pool.in_use - {self.node.uid})

    @property
    def used_in_cluster(self) -> int:
        return self.counts.in_use - (self.node.uid in self.pool.in_use)


def gate_of_pause(proposed: ProposedDrain) -> Blocker | None:
    if proposed.policy.paused:
        return Blocker(Unremovable.PAUSED, detail="policy")
    state = proposed.state
    why = f": {state.pause_reason}" if state.pause_reason else ""
    return Blocker(Unremovable.PAUSED, detail=f"pause flag{why}") if state.paused else None


def _closed_until(
    reason: Unremovable, proposed: ProposedDrain, until: datetime | None, about: str = "", why: str = ""
) -> Blocker | None:
    """At exactly that time the gate opens."""
    if until is None or until <= proposed.now:
        return None
    return Blocker(reason, about, f"{why}until {until.isoformat()}")


def gate_of_freeze(proposed: ProposedDrain) -> Blocker | None:
    return _closed_until(Unremovable.FROZEN, proposed, frozen_until(proposed.policy.freezes, proposed.now))


def breaker_open(proposed: ProposedDrain) -> Blocker | None:
    pool, breaker = proposed.node.pool, proposed.state.breakers.get(proposed.node.pool)
    if breaker is None:
        return None
    return _closed_until(Unremovable.BREAKER_OPEN, proposed, breaker.until, pool, f"{breaker.why}; ")


def backing_off(proposed: ProposedDrain) -> Blocker | None:
    backoff = proposed.state.backoffs.get(proposed.node.uid)
    if backoff is None:
        return None
    return _closed_until(Unremovable.BACKING_OFF, proposed, backoff.until, why=f"{backoff.why}; ")


def outside_windows(proposed: ProposedDrain) -> Blocker | None:
    is_open = window_open(proposed.pool_policy.windows, proposed.counts.calendar)
    return None if is_open else Blocker(Unremovable.OUTSIDE_WINDOWS, proposed.node.pool)


def minimum_nodes(proposed: ProposedDrain) -> Blocker | None:
    minimum = proposed.policy.minimum_nodes
    if proposed.counts.left - proposed.node.ready >= minimum:
        return None
    return Blocker(Unremovable.MINIMUM_NODES, detail=_of(proposed.counts.left, minimum))


def minimum_non_tainted(proposed: ProposedDrain) -> Blocker | None:
    minimum, left = proposed.policy.minimum_non_tainted_nodes, proposed.counts.left_non_tainted
    if left - 1 >= minimum or not counts_as_non_tainted(proposed.node, proposed.policy):
        return None
    return Blocker(Unremovable.MINIMUM_NON_TAINTED, detail=_of(left, minimum))


def _of(left: int, minimum: int) -> str:
    return f"{left} nodes left, minimum {minimum}"


def budget(proposed: ProposedDrain) -> Blocker | None:
    """An allowance is compared with all that is in use, whatever it is in use for (docs/acceptance.md row 71)."""
    nodes, calendar = proposed.pool.nodes, proposed.counts.calendar
    allowed = limit_now(proposed.pool_policy.budgets, proposed.reason, nodes, calendar)
    return _budget_blocker(Unremovable.BUDGET, proposed.node.pool, allowed, proposed.used_in_pool)


def cluster_budget(proposed: ProposedDrain) -> Blocker | None:
    allowed = limit_now(proposed.policy.budgets, proposed.reason, proposed.counts.nodes, proposed.counts.calendar)
    return _budget_blocker(Unremovable.CLUSTER_BUDGET, "", allowed, proposed.used_in_cluster)


def awaiting_deletion(proposed: ProposedDrain) -> Blocker | None:
    """Of the pool as of the cluster. Drains in flight count too: each ends as a node that waits for its deletion."""
    if proposed.policy.budget_until is BudgetUntil.DELETED:
        return None
    limit, counts, pool, own = proposed.policy.awaiting_deletion, proposed.counts, proposed.pool, proposed.node.uid
    word, held_in_pool = Unremovable.AWAITING_DELETION, len(pool.in_flight - {own})
    of_pool = _budget_blocker(word, proposed.node.pool, limit.of(pool.nodes), held_in_pool)
    return of_pool or _budget_blocker(word, "", limit.of(counts.nodes), counts.in_flight - (own in pool.in_flight))


def _budget_blocker(word: Unremovable, about: str, allowed: int | None, used: int) -> Blocker | None:
    if allowed is None or used < allowed:
        return None
    return Blocker(word, about, f"{used} of {allowed} nodes in use")


def schedules(budgets: Iterable[Budget]) -> Iterator[Schedule]:
    return (budget.schedule for budget in budgets if budget.schedule is not None)


def rate_limit(proposed: ProposedDrain) -> Blocker | None:
    pool = proposed.pool
    own = [start for start in proposed.counts.starts if start.pool == proposed.node.pool]
    rows = (
        (proposed.policy.rate, proposed.counts.starts, proposed.counts.nodes, ""),
        (proposed.pool_policy.rate, own, pool.nodes, proposed.node.pool),
    )
    for rate, starts, nodes, about in rows:
        if rate is not None and starts_left(rate, starts, nodes, proposed.now) == 0:
            return Blocker(Unremovable.RATE, about)
    return None


def period_ends(proposed: ProposedDrain, *rates: Rate | NamespaceRate | None) -> Iterator[datetime]:
    return (start.at + rate.per for rate in rates if rate is not None for start in proposed.counts.starts)


def namespace_rate(proposed: ProposedDrain) -> Blocker | None:
    """Each namespace on the node must have room for all its pods there: a drain cannot stop in the middle."""
    limit = proposed.policy.evictions_per_namespace
    if limit is None:
        return None
    for namespace, pods in sorted(proposed.counts.moved_pods.get(proposed.node.uid, {}).items()):
        done = moved_lately(limit, proposed.counts.starts, namespace, proposed.now)
        if done + pods > limit.pods:
            alone = "; more than the limit by itself, so this node never goes" if pods > limit.pods else ""
            return Blocker(Unremovable.NAMESPACE_RATE, namespace, f"{done} of {limit.pods} moved, {pods} here{alone}")
    return None


def recent_addition(proposed: ProposedDrain) -> Blocker | None:
    """See docs/acceptance.md row 49."""
    about = proposed.node.pool if _own_additions(proposed) else ""
    return _closed_until(Unremovable.RECENT_ADDITION, proposed, next(addition_ends(proposed), None), about)


def addition_ends(proposed: ProposedDrain) -> Iterator[datetime]:
    """A pool with its own time looks at its own additions only."""
    newest = proposed.pool.newest if _own_additions(proposed) else proposed.counts.newest
    if newest is not None:
        yield newest + proposed.policy.addition_grace(proposed.node.pool)


def _own_additions(proposed: ProposedDrain) -> bool:
    return proposed.pool_policy.time_since_last_addition is not None


def time_gap(proposed: ProposedDrain) -> Blocker | None:
    """The orders of one pass are one drain for the gap, so what this pass took does not count."""
    # docs/acceptance.md row 50.
    return _closed_until(Unremovable.TIME_GAP, proposed, next(gap_ends(proposed), None))


def gap_ends(proposed: ProposedDrain) -> Iterator[datetime]:
    if proposed.state.last_scale_down is not None:
        yield proposed.state.last_scale_down + proposed.policy.time_gap


def required_count(proposed: ProposedDrain) -> Blocker | None:
    """Ask for the required count plus the drains in flight, which are not counted themselves."""
    # docs/acceptance.md rows 34, 35.
    # A drain whose use of the budgets has ended needs no room any more.
    pool = proposed.pool
    if pool.measure is None or not _must_leave_spare(proposed, "required_count"):
        return None
    needed = proposed.pool_policy.required_count + len(pool.in_flight & pool.in_use)
    if pool.measure.underutilized >= needed:
        return None
    detail = f"{pool.measure.underutilized} underutilized of {needed} needed"
    never = _never_of_so_few(pool.nodes) if proposed.pool_policy.required_count > pool.nodes else ""
    return Blocker(Unremovable.TOO_FEW_UNDERUTILIZED, proposed.node.pool, f"{detail}{never}")


def _must_leave_spare(proposed: ProposedDrain, setting: str) -> bool:
    """Whether the setting binds: only underutilized nodes, and by its default only until demand has fallen."""
    # By then Ebb has filled nodes that the autoscaler would remove, which keeps no spare ones (money-over-days.md).
    if proposed.reason is not DrainReason.UNDERUTILIZED:
        return False
    demand = proposed.state.demand
    has_fallen = demand is not None and demand.fallen >= proposed.node.allocatable.cpu
    return not has_fallen or setting in proposed.pool_policy.written


def _never_of_so_few(nodes: int) -> str:
    return f"; the pool has {nodes} in all, so none goes until it grows"


def no_excess(proposed: ProposedDrain) -> Blocker | None:
    """At the threshold the gate is open (docs/acceptance.md row 48)."""
    pool, threshold = proposed.pool, proposed.pool_policy.excess_threshold
    if pool.measure is None or not _must_leave_spare(proposed, "excess_threshold"):
        return None
    found = excess(pool.measure.spare, proposed.node)
    if found is not None and found >= threshold:
        return None
    never = _never_of_so_few(pool.nodes) if threshold >= pool.nodes else ""
    detail = f"{round(float(found or 0), 2):g} spare; threshold {float(threshold):g}{never}"
    return Blocker(Unremovable.NO_EXCESS, proposed.node.pool, detail)


def nodes_per_pass(proposed: ProposedDrain) -> Blocker | None:
    most = proposed.pool_policy.max_nodes_per_pass
    full = proposed.pool.taken >= most
    return Blocker(Unremovable.NODES_PER_PASS, proposed.node.pool, f"{most}") if full else None


def pool_at_minimum(proposed: ProposedDrain) -> Blocker | None:
    """Keep what the autoscaler would keep: it deletes no node of a pool at its minimum (docs/acceptance.md row 54)."""
    pool = proposed.pool
    if pool.limits is None:
        return None
    zone, limits = proposed.node.zone, pool.limits
    rows = ((pool.left_by_zone.get(zone, 0), limits.min_per_zone, f" in {zone}"), (pool.left, limits.min_total, ""))
    for left, minimum, where in rows:
        if left - 1 < minimum:
            detail = f"{left} nodes left{where}, minimum {minimum}"
            return Blocker(Unremovable.POOL_AT_MINIMUM, proposed.node.pool, detail)
    return None


def resource_minimum(proposed: ProposedDrain) -> Blocker | None:
    # The autoscaler counts what machines have; allocatable is less, and so keeps a node too many at most.
    counts, offered = proposed.counts, proposed.node.allocatable
    for name, unit, word in ((CPU, 1000, "cores"), (MEMORY, 2**30, "GiB")):
        left, here, minimum = (amounts.get(name) for amounts in (counts.left_resources, offered, counts.minimum))
        if minimum and left - here < minimum:
            detail = f"{left / unit:.1f} {word} left, {here / unit:.1f} here, minimum {minimum / unit:g}"
            return Blocker(Unremovable.RESOURCE_MINIMUM, detail=detail)
    return None
