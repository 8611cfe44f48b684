"""What must hold before one more node may go: cluster and pool gates, each with its name, and their order.

The planner asks for all of them; the drainer's claim asks for CLAIM_GATES again on fresh counts. A closed gate stops
orders, never marks, and never healing. The autoscaler's own minimums are gates too: it deletes no node below them,
so a drain would empty one for nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.core.cluster.node import Node
from shared.core.cluster.resources import CPU, MEMORY
from shared.core.policy import Policy, PoolPolicy, Rate
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.records.state import ClusterState, Start
from shared.core.rules.budgets import freeze_in_force, limit_now, moved_lately, starts_left, window_open
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


Gate = Callable[[ProposedDrain], Blocker | None]


def paused(proposed: ProposedDrain) -> Blocker | None:
    if proposed.policy.paused:
        return Blocker(Unremovable.PAUSED, detail="policy")
    state = proposed.state
    why = f": {state.pause_reason}" if state.pause_reason else ""
    return Blocker(Unremovable.PAUSED, detail=f"pause flag{why}") if state.paused else None


def frozen(proposed: ProposedDrain) -> Blocker | None:
    freeze = freeze_in_force(proposed.policy.freezes, proposed.now)
    return Blocker(Unremovable.FROZEN, detail=f"until {freeze.end.isoformat()}") if freeze else None


def breaker_open(proposed: ProposedDrain) -> Blocker | None:
    breaker = proposed.state.breakers.get(proposed.node.pool)
    if breaker is None or breaker.until <= proposed.now:
        return None
    return Blocker(Unremovable.BREAKER_OPEN, proposed.node.pool, f"{breaker.why}; until {breaker.until.isoformat()}")


def backing_off(proposed: ProposedDrain) -> Blocker | None:
    backoff = proposed.state.backoffs.get(proposed.node.uid)
    if backoff is None or backoff.until <= proposed.now:
        return None
    return Blocker(Unremovable.BACKING_OFF, detail=f"{backoff.why}; until {backoff.until.isoformat()}")


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
    pool = proposed.pool
    allowed = limit_now(proposed.pool_policy.budgets, proposed.reason, pool.nodes, proposed.counts.calendar)
    return _exhausted(Unremovable.BUDGET, proposed.node.pool, allowed, len(pool.in_use - {proposed.node.uid}))


def cluster_budget(proposed: ProposedDrain) -> Blocker | None:
    used = proposed.counts.in_use - (1 if proposed.node.uid in proposed.pool.in_use else 0)
    allowed = limit_now(proposed.policy.budgets, proposed.reason, proposed.counts.nodes, proposed.counts.calendar)
    return _exhausted(Unremovable.CLUSTER_BUDGET, "", allowed, used)


def _exhausted(word: Unremovable, about: str, allowed: int | None, used: int) -> Blocker | None:
    if allowed is None or used < allowed:
        return None
    return Blocker(word, about, f"{used} of {allowed} nodes in use")


def allows_nothing(proposed: ProposedDrain) -> bool:
    """Whether a budget or rate allows no node at all now, however little is in use."""
    own, policy, nodes = proposed.pool_policy, proposed.policy, proposed.counts.nodes
    calendar = proposed.counts.calendar
    limits = (
        limit_now(own.budgets, proposed.reason, proposed.pool.nodes, calendar),
        limit_now(policy.budgets, proposed.reason, nodes, calendar),
        None if own.rate is None else own.rate.nodes.of(proposed.pool.nodes),
        None if policy.rate is None else policy.rate.nodes.of(nodes),
    )
    return 0 in limits


def rate(proposed: ProposedDrain) -> Blocker | None:
    pool = proposed.pool
    own = [start for start in proposed.counts.starts if start.pool == proposed.node.pool]
    rows = (
        (proposed.policy.rate, proposed.counts.starts, proposed.counts.nodes, ""),
        (proposed.pool_policy.rate, own, pool.nodes, proposed.node.pool),
    )
    spent = (about for rate, starts, nodes, about in rows if _spent(rate, starts, nodes, proposed.now))
    about = next(spent, None)
    return None if about is None else Blocker(Unremovable.RATE, about)


def _spent(rate: Rate | None, starts: Iterable[Start], nodes: int, now: datetime) -> bool:
    return rate is not None and starts_left(rate, starts, nodes, now) == 0


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
    """A pool with its own time looks at its own additions only; at exactly that time the gate opens.

    See docs/acceptance.md row 49.
    """
    own = proposed.pool_policy.time_since_last_addition is not None
    newest = proposed.pool.newest if own else proposed.counts.newest
    grace = proposed.policy.addition_grace(proposed.node.pool)
    if newest is None or proposed.now - newest >= grace:
        return None
    return Blocker(
        Unremovable.RECENT_ADDITION, proposed.node.pool if own else "", f"until {(newest + grace).isoformat()}"
    )


def time_gap(proposed: ProposedDrain) -> Blocker | None:
    """The orders of one pass are one drain for the gap, so what this pass took does not count.

    See docs/acceptance.md row 50.
    """
    last, gap = proposed.state.last_scale_down, proposed.policy.time_gap
    if last is None or proposed.now - last >= gap:
        return None
    return Blocker(Unremovable.TIME_GAP, detail=f"until {(last + gap).isoformat()}")


def required_count(proposed: ProposedDrain) -> Blocker | None:
    """Ask for the required count plus the drains in flight, which are not counted themselves.

    See docs/acceptance.md rows 34, 35.
    """
    pool = proposed.pool
    if pool.measure is None or proposed.reason is not DrainReason.UNDERUTILIZED:
        return None
    needed = proposed.pool_policy.required_count + len(pool.in_flight)
    if pool.measure.underutilized >= needed:
        return None
    detail = f"{pool.measure.underutilized} under-utilised of {needed} needed"
    return Blocker(Unremovable.TOO_FEW_UNDERUTILIZED, proposed.node.pool, detail)


def no_excess(proposed: ProposedDrain) -> Blocker | None:
    """At the threshold the gate is open (docs/acceptance.md row 48)."""
    pool, threshold = proposed.pool, proposed.pool_policy.excess_threshold
    if pool.measure is None or proposed.reason is not DrainReason.UNDERUTILIZED:
        return None
    found = excess(pool.measure.spare, proposed.node)
    if found is not None and found >= threshold:
        return None
    detail = f"{float(found or 0):.2f} of {float(threshold):g}"
    return Blocker(Unremovable.NO_EXCESS, proposed.node.pool, detail)


def nodes_per_pass(proposed: ProposedDrain) -> Blocker | None:
    most = proposed.pool_policy.max_nodes_per_pass
    full = proposed.pool.taken >= most
    return Blocker(Unremovable.NODES_PER_PASS, proposed.node.pool, f"{most}") if full else None


def pool_at_minimum(proposed: ProposedDrain) -> Blocker | None:
    """Keep what the cluster autoscaler would keep: it deletes no node of a pool at its minimum.

    See docs/acceptance.md row 54.
    """
    pool = proposed.pool
    if pool.limits is None:
        return None
    in_zone = pool.left_by_zone.get(proposed.node.zone, 0)
    if in_zone - 1 < pool.limits.min_per_zone:
        detail = f"{in_zone} nodes left in {proposed.node.zone}, minimum {pool.limits.min_per_zone}"
        return Blocker(Unremovable.POOL_AT_MINIMUM, proposed.node.pool, detail)
    if pool.left - 1 < pool.limits.min_total:
        detail = f"{pool.left} nodes left, minimum {pool.limits.min_total}"
        return Blocker(Unremovable.POOL_AT_MINIMUM, proposed.node.pool, detail)
    return None


def resource_minimum(proposed: ProposedDrain) -> Blocker | None:
    """Keep the CPU and memory that node auto-provisioning keeps in the whole cluster.

    The autoscaler counts what the machines have; we count what of it pods may request, which is less and so keeps a
    node too many rather than one too few.
    """
    counts, offered = proposed.counts, proposed.node.allocatable
    for name, unit, word in ((CPU, 1000, "cores"), (MEMORY, 2**30, "GiB")):
        left, here, minimum = (each.get(name) for each in (counts.left_resources, offered, counts.minimum))
        if minimum and left - here < minimum:
            detail = f"{left / unit:.1f} {word} left, {here / unit:.1f} here, minimum {minimum / unit:g}"
            return Blocker(Unremovable.RESOURCE_MINIMUM, detail=detail)
    return None


NO_WORDS: Final[frozenset[str]] = frozenset()
CLAIM_GATES: Final[tuple[Gate, ...]] = (
    # people said no
    paused, frozen, outside_windows,
    # recent trouble
    breaker_open, backing_off,
    # what must remain
    pool_at_minimum, resource_minimum, minimum_nodes, minimum_non_tainted,
    # how many at once, and how fast
    budget, cluster_budget, rate, namespace_rate,
)  # fmt: skip
"""What a claim checks again at the moment of the grant (docs/decisions/claims.md)."""
PASS_GATES: Final[tuple[Gate, ...]] = (recent_addition, time_gap, required_count, no_excess, nodes_per_pass)
"""What the planner alone asks; a person's drain is not asked."""
PACE: Final[frozenset[Gate]] = frozenset({budget, cluster_budget, rate, recent_addition, time_gap, nodes_per_pass})
"""Gates that open by themselves as drains end and time passes, unless what they allow is nothing."""
IGNORABLE: Final[dict[str, frozenset[Gate]]] = {
    "windows": frozenset({outside_windows}),
    "budgets": frozenset({budget, cluster_budget, rate, namespace_rate}),
    "gates": frozenset({frozen, breaker_open, minimum_nodes, minimum_non_tainted}),
}
"""What a person's order may leave out, where the policy's `manual.mayIgnore` allows the word.

Never a pause, a back-off, or what the autoscaler keeps of the pool and the cluster: it would not delete the node.
"""


def claim_blockers(
    counts: NodeCounts, node: Node, reason: DrainReason, ignore: frozenset[str] = NO_WORDS
) -> tuple[Blocker, ...]:
    """Return every closed gate that a claim must respect, in order; empty = the claim may be granted.

    Args:
        counts: those without this node's claim.
        node: the node to be taken.
        reason: why; a person's drain is bound by every active budget whatever its reasons.
        ignore: the order's words; they count for a person's drain and where the policy allows them.
    """
    skipped = _ignored_gates(counts, reason, ignore)
    return _closed_gates((gate for gate in CLAIM_GATES if gate not in skipped), ProposedDrain(counts, node, reason))


def pass_blockers(counts: NodeCounts, node: Node, reason: DrainReason) -> tuple[Blocker, ...]:
    """Return every closed gate that is the planner's alone; empty for a person's drain."""
    return () if reason is DrainReason.MANUAL else _closed_gates(PASS_GATES, ProposedDrain(counts, node, reason))


def blockers(counts: NodeCounts, node: Node, reason: DrainReason) -> tuple[Blocker, ...]:
    """Return every closed gate for a candidate of a pass, those of the claim first."""
    return (*claim_blockers(counts, node, reason), *pass_blockers(counts, node, reason))


def is_only_paced(counts: NodeCounts, node: Node, reason: DrainReason) -> bool:
    """Whether nothing keeps the node from going in the end, of what the gates know now."""
    return _is_open(PACE, ProposedDrain(counts, node, reason))


def is_paced_or_shut(counts: NodeCounts, node: Node, reason: DrainReason) -> bool:
    """The same, when the next window opens."""
    return _is_open(PACE | {outside_windows}, ProposedDrain(counts, node, reason))


def _is_open(passing: frozenset[Gate], proposed: ProposedDrain) -> bool:
    standing = (gate for gate in (*CLAIM_GATES, *PASS_GATES) if gate not in passing)
    return not allows_nothing(proposed) and all(gate(proposed) is None for gate in standing)


def idle_words(reason: DrainReason, ignore: Iterable[str], policy: Policy) -> tuple[str, ...]:
    """Return the words of an order's `ignore` that count for nothing, sorted."""
    counting = policy.manual_may_ignore & IGNORABLE.keys() if reason is DrainReason.MANUAL else NO_WORDS
    return tuple(sorted(set(ignore) - counting))


def _closed_gates(gates: Iterable[Gate], proposed: ProposedDrain) -> tuple[Blocker, ...]:
    found = (gate(proposed) for gate in gates)
    return tuple(blocker for blocker in found if blocker is not None)


def _ignored_gates(counts: NodeCounts, reason: DrainReason, ignore: frozenset[str]) -> frozenset[Gate]:
    if reason is not DrainReason.MANUAL:
        return frozenset()
    allowed = ignore & counts.policy.manual_may_ignore
    return frozenset(gate for word in allowed for gate in IGNORABLE.get(word, ()))
