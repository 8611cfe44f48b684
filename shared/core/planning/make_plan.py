"""One pass: `make_plan` turns a picture and what Ebb remembers into a verdict for each node (docs/architecture.md).

Reading it from top to bottom is reading the pass: what each node is, since when it could go, whose time has
come, which of those go now. Must not act; equal input gives an equal plan.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Final

from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, Simulation, Supply, never, search
from shared.core.planning.at_rest import Searcher, kept_by_the_autoscaler
from shared.core.planning.candidates import AssessedNode, assess_nodes
from shared.core.planning.decisions import Decider, decision, is_due
from shared.core.planning.marks import INTERVAL, update_marks
from shared.core.planning.plan import NodeDecision, Plan, PlannedOrder, Potential, Verdict
from shared.core.planning.prices import Prices
from shared.core.planning.savings import with_savings
from shared.core.planning.selection import Selection, announced_nodes, departing_nodes
from shared.core.policy import Policy
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.records.state import ClusterState, PoolMarks
from shared.core.rules.counts import NodeCounts, PoolMeasure, count_moved_pods, count_nodes
from shared.core.rules.disruption import disruption
from shared.core.rules.nodes import SAFETY_RULES
from shared.core.rules.situation import Situation
from shared.core.rules.utilization import excess, spare

NO_POLICY: Final = Policy()


def make_plan(
    situation: Situation,
    marks: Mapping[str, PoolMarks],
    prices: Prices,
    interval: timedelta = INTERVAL,
    brake: Callable[[], bool] = never,
) -> Plan:
    """Return one pass's plan.

    `interval` is how far apart passes are expected: three of them (at least 15 min) without a pass restart all marks.
    `brake` ends the search for the plan at rest early when it answers yes; the plan says so.
    """
    snapshot, policy, now = situation.snapshot, situation.policy, situation.now
    rows = with_savings(assess_nodes(situation), situation, prices)
    updated = update_marks(marks, _could_go(rows), now, situation.state.last_pass, interval)
    due = [assessed for assessed in rows if assessed.is_candidate and is_due(assessed, updated, policy, now)]
    counts, surplus = _counts_and_excess(situation, rows)
    selection = Selection(situation, counts, rows, Searcher(prices, brake))
    selection.consider(due)
    decide = Decider(policy, updated, selection, now)
    return Plan(
        cluster=snapshot.cluster,
        taken_at=snapshot.taken_at,
        policy_hash=policy.hash,
        dry_run=policy.dry_run,
        decisions=_priced((decide(assessed) for assessed in rows), snapshot, prices),
        orders=_orders(selection, prices),
        marks=updated,
        pods=len(snapshot.pods),
        cost=_cost(snapshot, prices),
        excess=surplus,
        at_rest=selection.at_rest,
    )


def plan_without_policy(
    snapshot: Snapshot, state: ClusterState, marks: Mapping[str, PoolMarks], prices: Prices
) -> Plan:
    """Return the plan while the policy is missing or invalid: nothing is ordered, and the marks stay as they are."""
    invalid = (Blocker(Unremovable.POLICY_INVALID),)
    return Plan(
        cluster=snapshot.cluster,
        taken_at=snapshot.taken_at,
        policy_hash="",
        dry_run=True,
        decisions=_priced(
            (
                decision(each, Verdict.IN_FLIGHT, ()) if each.claimed_by else decision(each, Verdict.KEEP, invalid)
                for each in assess_nodes(Situation(snapshot, state, NO_POLICY))
            ),
            snapshot,
            prices,
        ),
        marks=marks,
        pods=len(snapshot.pods),
        cost=_cost(snapshot, prices),
    )


def potential(situation: Situation, prices: Prices) -> Potential:
    """Return how far the cluster could shrink at all: no timer, gate, budget or limit, every safety rule."""
    snapshot, rows = situation.snapshot, assess_nodes(situation, SAFETY_RULES)
    departing = departing_nodes(snapshot, situation.state)
    announced = announced_nodes(snapshot, departing)
    simulation = Simulation.of(snapshot, departing, announced=announced, robust=False)
    candidates, supplies = _that_could_go_at_all(rows, situation, prices)
    found = search(simulation, candidates, supplies=supplies)
    moves = found.simulation.moves()
    return Potential(found.nodes, found.saving, tuple(move for name in found.nodes for move in moves[name]))


def _that_could_go_at_all(
    rows: Iterable[AssessedNode], situation: Situation, prices: Prices
) -> tuple[list[Candidate], dict[str, Supply]]:
    """Return the candidates and what the autoscaler keeps of all that they take; the policy's minimums are wishes."""
    snapshot, state, now = situation.snapshot, situation.state, situation.now
    counts = count_nodes(snapshot.nodes, snapshot.pools, state, situation.policy, now, snapshot.minimum)
    supplies: dict[str, Supply] = {}
    candidates: list[Candidate] = []
    for node in (each.node for each in rows if each.is_candidate):
        kept = dict(kept_by_the_autoscaler(node, counts))
        supplies.update((use.supply, supply) for use, supply in kept.items())
        moved = disruption(snapshot.pods_by_node[node.name], now)
        candidates.append(Candidate(node.name, prices.of(node).per_hour, moved, uses=tuple(kept)))
    return candidates, supplies


def _could_go(rows: Iterable[AssessedNode]) -> dict[str, tuple[str, str]]:
    return {assessed.node.uid: (assessed.node.name, assessed.node.pool) for assessed in rows if assessed.underutilized}


def _counts_and_excess(situation: Situation, rows: Sequence[AssessedNode]) -> tuple[NodeCounts, dict[str, Fraction]]:
    """Return the counts for the gates, and the excess nodes by pool and (empty key) of the whole cluster."""
    snapshot, policy = situation.snapshot, situation.policy
    measures: dict[str, PoolMeasure] = {}
    surplus: dict[str, Fraction] = {}
    everywhere = NOTHING
    for pool, nodes in snapshot.nodes_by_pool.items():
        own = [assessed for assessed in rows if assessed.node.pool == pool]
        free = spare(nodes, snapshot.pods_by_node, policy.pool(pool).ignore_taints)
        measures[pool] = PoolMeasure(_underutilized(own), free)
        surplus[pool] = _excess(own, free)
        everywhere += free
    surplus[""] = _excess(rows, everywhere)
    state, now = situation.state, situation.now
    counts = count_nodes(snapshot.nodes, snapshot.pools, state, policy, now, snapshot.minimum)
    moved = count_moved_pods(snapshot, snapshot.nodes, policy)
    return counts.with_measures(measures).with_moved_pods(moved), surplus


def _underutilized(rows: Iterable[AssessedNode]) -> int:
    return sum(assessed.underutilized and assessed.reason is not DrainReason.EXPIRED for assessed in rows)


def _excess(rows: Sequence[AssessedNode], free: Resources) -> Fraction:
    """Excess in units of the node that would go first (node-refiner: the least used one)."""
    measured = [assessed for assessed in rows if assessed.usage and not assessed.claimed_by]
    if not measured:
        return Fraction(0)
    first = min(measured, key=lambda assessed: (assessed.usage.score if assessed.usage else 0, assessed.node.name))
    return excess(free, first.node) or Fraction(0)


def _orders(selection: Selection, prices: Prices) -> tuple[PlannedOrder, ...]:
    if not selection.taken:
        return ()
    moves = selection.simulation.moves()
    return tuple(
        PlannedOrder(
            node=assessed.node.name,
            uid=assessed.node.uid,
            pool=assessed.node.pool,
            reason=assessed.reason,
            saving=prices.of(assessed.node).per_hour,
            moves=moves[assessed.node.name],
        )
        for assessed in selection.taken
    )


def _priced(decisions: Iterable[NodeDecision], snapshot: Snapshot, prices: Prices) -> tuple[NodeDecision, ...]:
    """Return the decisions, each with what its node costs."""
    return tuple(replace(each, cost=prices.of(snapshot.node_by_name[each.name]).per_hour) for each in decisions)


def _cost(snapshot: Snapshot, prices: Prices) -> int:
    return sum(prices.of(node).per_hour for node in snapshot.nodes)
