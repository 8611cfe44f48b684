"""One pass: `make_plan` turns a picture and what Ebb remembers into a verdict for each node (docs/architecture.md).

Reading it from top to bottom is reading the pass: what each node is, since when it could go, whose time has
come, which of those go now. Must not act; equal input gives an equal plan.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, Simulation, search
from shared.core.planning.candidates import NodeFacts, survey
from shared.core.planning.marks import INTERVAL, is_due, removable_at, update
from shared.core.planning.plan import NodeDecision, Plan, PlannedOrder, Potential, Verdict
from shared.core.planning.prices import Prices
from shared.core.planning.selection import Choice, announced_nodes, departing_nodes
from shared.core.policy import Policy
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.core.rules.counts import Measure, Standing, standing
from shared.core.rules.moved_pods import moving
from shared.core.rules.nodes import SAFETY_RULES
from shared.core.rules.utilization import excess, spare

NO_POLICY: Final = Policy()


def make_plan(
    snapshot: Snapshot,
    state: ClusterState,
    marks: Mapping[str, PoolMarks],
    policy: Policy | None,
    now: datetime,
    prices: Prices,
    interval: timedelta = INTERVAL,
) -> Plan:
    """Return one pass's plan. Without a policy nothing is ordered and the marks stay as they are.

    `interval` is how far apart passes are expected: three of them (at least 15 min) without a pass restart all marks.
    """
    if policy is None:
        return _without_policy(snapshot, state, marks, now, prices)
    rows = survey(snapshot, state, policy, now)
    updated = update(marks, _could_go(rows), now, state.last_pass, interval)
    due = [facts for facts in rows if facts.candidate and _is_due(facts, updated, policy, now)]
    measured, surplus = _measured(snapshot, state, policy, rows, now)
    choice = Choice(snapshot, state, policy, measured)
    choice.consider(due)
    decide = _Decider(policy, updated, choice, now)
    return Plan(
        cluster=snapshot.cluster,
        taken_at=snapshot.taken_at,
        policy_hash=policy.hash,
        dry_run=policy.dry_run,
        decisions=tuple(decide(facts) for facts in rows),
        orders=_orders(choice, prices),
        marks=updated,
        pods=len(snapshot.pods),
        cost=_cost(snapshot, prices),
        excess=surplus,
    )


def potential(snapshot: Snapshot, state: ClusterState, policy: Policy, now: datetime, prices: Prices) -> Potential:
    """Return how far the cluster could shrink at all: no timer, gate, budget or limit, every safety rule."""
    rows = survey(snapshot, state, policy, now, SAFETY_RULES)
    departing = departing_nodes(snapshot, state)
    simulation = Simulation.of(snapshot, now, departing, announced=announced_nodes(snapshot, departing), robust=False)
    candidates = [Candidate(facts.node.name, prices.of(facts.node).per_hour) for facts in rows if facts.candidate]
    found = search(simulation, candidates)
    moves = found.simulation.moves()
    return Potential(found.nodes, found.saving, tuple(move for name in found.nodes for move in moves[name]))


def _could_go(rows: Iterable[NodeFacts]) -> dict[str, tuple[str, str]]:
    return {facts.node.uid: (facts.node.name, facts.node.pool) for facts in rows if facts.underutilized}


def _is_due(facts: NodeFacts, marks: Mapping[str, PoolMarks], policy: Policy, now: datetime) -> bool:
    """An expired node's time is its age; any other's is its mark."""
    if facts.reason is DrainReason.EXPIRED:
        return True
    mark = mark_of(facts, marks)
    return mark is not None and is_due(mark, policy.pool(facts.node.pool).consolidate_after, now)


def mark_of(facts: NodeFacts, marks: Mapping[str, PoolMarks]) -> Mark | None:
    pool = marks.get(facts.node.pool)
    return pool.marks.get(facts.node.uid) if pool else None


def _measured(
    snapshot: Snapshot, state: ClusterState, policy: Policy, rows: Sequence[NodeFacts], now: datetime
) -> tuple[Standing, dict[str, Fraction]]:
    """Return the counts for the gates, and the excess nodes by pool and (empty key) of the whole cluster."""
    measures: dict[str, Measure] = {}
    surplus: dict[str, Fraction] = {}
    everywhere = NOTHING
    for pool, nodes in snapshot.nodes_by_pool.items():
        own = [facts for facts in rows if facts.node.pool == pool]
        free = spare(nodes, snapshot.pods_by_node, policy.pool(pool).ignore_taints)
        measures[pool] = Measure(_underutilized(own), free)
        surplus[pool] = _excess(own, free)
        everywhere += free
    surplus[""] = _excess(rows, everywhere)
    counts = standing(snapshot.nodes, snapshot.pools, state, policy, now).measured(measures)
    return counts.moves(moving(snapshot, snapshot.nodes, policy)), surplus


def _underutilized(rows: Iterable[NodeFacts]) -> int:
    return sum(facts.underutilized and facts.reason is not DrainReason.EXPIRED for facts in rows)


def _excess(rows: Sequence[NodeFacts], free: Resources) -> Fraction:
    """Excess in units of the node that would go first (node-refiner: the least used one)."""
    measured = [facts for facts in rows if facts.usage and not facts.claimed_by]
    if not measured:
        return Fraction(0)
    first = min(measured, key=lambda facts: (facts.usage.score if facts.usage else 0, facts.node.name))
    return excess(free, first.node) or Fraction(0)


class _Decider:
    """Says the verdict of each node, once everything is known."""

    def __init__(self, policy: Policy, marks: Mapping[str, PoolMarks], choice: Choice, now: datetime) -> None:
        self._policy, self._marks, self._choice, self._now = policy, marks, choice, now
        self._taken = {facts.node.name for facts in choice.taken}

    def __call__(self, facts: NodeFacts) -> NodeDecision:
        verdict, found = self._verdict(facts)
        mark = mark_of(facts, self._marks)
        after = self._policy.pool(facts.node.pool).consolidate_after
        return decision(
            facts, verdict, found, mark.since if mark else None, removable_at(mark, after) if mark else None
        )

    def _verdict(self, facts: NodeFacts) -> tuple[Verdict, tuple[Blocker, ...]]:
        if facts.claimed_by:
            return Verdict.IN_FLIGHT, ()
        if facts.blockers:
            return Verdict.KEEP, facts.blockers
        if facts.node.name in self._taken:
            return (Verdict.WOULD_ORDER if self._policy.dry_run else Verdict.ORDER), ()
        if not _is_due(facts, self._marks, self._policy, self._now):
            return Verdict.WAITING, (Blocker(Unremovable.MARKED_RECENTLY),)
        return Verdict.KEEP, self._choice.kept[facts.node.name]


def decision(
    facts: NodeFacts,
    verdict: Verdict,
    found: tuple[Blocker, ...],
    marked_since: datetime | None = None,
    removable: datetime | None = None,
) -> NodeDecision:
    """Return a node's decision; the first blocker names it."""
    first = found[0].reason.value if found else facts.claimed_by or facts.reason.value
    measured = facts.usage
    return NodeDecision(
        name=facts.node.name,
        uid=facts.node.uid,
        pool=facts.node.pool,
        verdict=verdict,
        reason=first,
        blockers=found,
        cpu_ratio=measured.cpu if measured else None,
        memory_ratio=measured.memory if measured else None,
        movable_cpu_ratio=measured.movable_cpu if measured else None,
        movable_memory_ratio=measured.movable_memory if measured else None,
        accelerator_ratio=measured.accelerator if measured else None,
        score=measured.score if measured else None,
        marked_since=marked_since,
        removable_at=removable,
        underutilized=facts.below_limits,
        allocatable=facts.node.allocatable if measured else NOTHING,
        requested=measured.requested if measured else NOTHING,
    )


def _orders(choice: Choice, prices: Prices) -> tuple[PlannedOrder, ...]:
    if not choice.taken:
        return ()
    moves = choice.simulation.moves()
    return tuple(
        PlannedOrder(
            node=facts.node.name,
            uid=facts.node.uid,
            pool=facts.node.pool,
            reason=facts.reason,
            saving=prices.of(facts.node).per_hour,
            moves=moves[facts.node.name],
        )
        for facts in choice.taken
    )


def _without_policy(
    snapshot: Snapshot, state: ClusterState, marks: Mapping[str, PoolMarks], now: datetime, prices: Prices
) -> Plan:
    invalid = (Blocker(Unremovable.POLICY_INVALID),)
    rows = survey(snapshot, state, NO_POLICY, now)
    return Plan(
        cluster=snapshot.cluster,
        taken_at=snapshot.taken_at,
        policy_hash="",
        dry_run=True,
        decisions=tuple(
            decision(facts, Verdict.IN_FLIGHT, ()) if facts.claimed_by else decision(facts, Verdict.KEEP, invalid)
            for facts in rows
        ),
        marks=marks,
        pods=len(snapshot.pods),
        cost=_cost(snapshot, prices),
    )


def _cost(snapshot: Snapshot, prices: Prices) -> int:
    return sum(prices.of(node).per_hour for node in snapshot.nodes)
