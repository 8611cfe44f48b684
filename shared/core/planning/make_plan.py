"""One pass: `make_plan` turns a picture and what Ebb remembers into a verdict for each node (docs/architecture.md).

Reading it from top to bottom is reading the pass: what each node is, since when it could go, whose time has
come, which of those go now. Must not act; equal input gives an equal plan.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import never
from shared.core.planning.at_rest import Searcher
from shared.core.planning.candidates import AssessedNode, assess_nodes
from shared.core.planning.counting import counts_and_excess
from shared.core.planning.decisions import Decider, decision, is_due
from shared.core.planning.marks import INTERVAL, update_marks
from shared.core.planning.next_nodes import next_nodes
from shared.core.planning.plan import NodeDecision, Plan, PlannedOrder, Verdict
from shared.core.planning.prices import Prices
from shared.core.planning.savings import with_savings
from shared.core.planning.selection import Selection
from shared.core.policy import Policy
from shared.core.reasons import Blocker, Unremovable
from shared.core.records.state import ClusterState, PoolMarks
from shared.core.rules.situation import Situation

NO_POLICY: Final = Policy()


def make_plan(
    situation: Situation,
    marks: Mapping[str, PoolMarks] | None,
    prices: Prices,
    interval: timedelta = INTERVAL,
    brake: Callable[[], bool] = never,
) -> Plan:
    """Return one pass's plan.

    `marks` are None where nobody knows any (a dump): of a node that waits for its mark alone, the rest is judged, too.
    `interval` is how far apart passes are expected: three of them (at least 15 min) without a pass restart all marks.
    `brake` ends the search for the plan at rest early when it answers yes; the plan says so.
    """
    snapshot, policy, now = situation.snapshot, situation.policy, situation.now
    rows = with_savings(assess_nodes(situation), situation, prices)
    updated = update_marks(marks or {}, could_go(rows), now, situation.state.last_pass, interval)
    candidates = [assessed for assessed in rows if assessed.is_candidate]
    due = [assessed for assessed in candidates if is_due(assessed, updated, policy, now)]
    counts, surplus = counts_and_excess(situation, rows)
    searcher = Searcher(prices, brake)
    selection = Selection(situation, counts, rows, searcher)
    selection.consider(due)
    if marks is None:
        selection.judge_waiting(assessed for assessed in candidates if not is_due(assessed, updated, policy, now))
    decide = Decider(policy, updated, selection)
    return Plan(
        cluster=snapshot.cluster,
        taken_at=snapshot.taken_at,
        policy_hash=policy.hash,
        dry_run=policy.dry_run,
        decisions=_priced((decide(assessed) for assessed in rows), snapshot, prices),
        orders=_orders(selection, prices),
        marks=updated,
        pods=len(snapshot.pods),
        pending=len(snapshot.pending),
        cost=prices.of_all(snapshot.nodes),
        excess=surplus,
        at_rest=selection.at_rest,
        unforeseen=selection.unforeseen,
        next_nodes=next_nodes(situation, selection, rows, counts, searcher),
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
                decision(each, Verdict.IN_FLIGHT, ())
                if each.claimed_by is not None
                else decision(each, Verdict.KEEP, invalid)
                for each in assess_nodes(Situation(snapshot, state, NO_POLICY))
            ),
            snapshot,
            prices,
        ),
        marks=marks,
        pods=len(snapshot.pods),
        pending=len(snapshot.pending),
        cost=prices.of_all(snapshot.nodes),
    )


def could_go(rows: Iterable[AssessedNode]) -> dict[str, tuple[str, str]]:
    """Return name and pool by node UID of each node that earns a mark."""
    return {assessed.node.uid: (assessed.node.name, assessed.node.pool) for assessed in rows if assessed.underutilized}


def _orders(selection: Selection, prices: Prices) -> tuple[PlannedOrder, ...]:
    if not selection.taken:
        return ()
    moves = selection.simulation.assignments.moves()
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
