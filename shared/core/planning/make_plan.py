"""One pass: `make_plan` turns a snapshot and what Ebb remembers into a verdict for each node (docs/architecture.md).

It reads from top to bottom. Each node gets exactly one verdict, with all its reasons. Equal input, equal plan.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import is_
from typing import Final

from shared.core.cluster.resources import NOTHING
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import never
from shared.core.placement.cluster_arrays import ArraysOf, ClusterArrays, SnapshotMemo
from shared.core.planning.candidates import (
    AssessedNode,
    assess_nodes,
    could_go,
    counts_and_excess,
    is_due,
    mark_of,
    removable_at,
    update_marks,
    with_demand,
    with_pass_rules,
)
from shared.core.planning.plan import NodeDecision, Plan, PlannedOrder, Verdict
from shared.core.planning.prices import Prices
from shared.core.planning.selection import Selection, savings_of
from shared.core.planning.steady_state import Searcher
from shared.core.planning.steering import next_nodes
from shared.core.planning.waves import costly_nodes
from shared.core.policy import Policy
from shared.core.reasons import Blocker, Unremovable
from shared.core.records.state import INTERVAL, ClusterState, PoolMarks
from shared.core.rules.drain_time import DrainTime
from shared.core.rules.situation import Situation

NO_POLICY: Final = Policy()


@dataclass(frozen=True, slots=True)
class PassOptions:
    brake: Callable[[], bool] = never
    """Ends the search for the steady state early when it answers yes; the plan notes that."""
    arrays_of: ArraysOf | None = None
    """Knows arrays of snapshots from before; None: the pass makes each of its own once."""
    paced: bool = True  # False lets nodes go together whose pods Ebb moves one drain at a time.


def make_plan(
    situation: Situation,
    marks: Mapping[str, PoolMarks] | None,
    prices: Prices,
    interval: timedelta = INTERVAL,
    wave: Sequence[str] | None = None,
    options: PassOptions = PassOptions(),
) -> Plan:
    """Return one pass's plan.

    `marks` are None where nobody knows any (a dump): of a node that waits for its mark alone, the rest is judged, too.
    `interval` is how far apart passes are expected: three of them (at least 15 min) without a pass restart all marks.
    `wave` are the nodes that are left of a wave that lives; None where none does: then one may begin.
    """
    situation = with_demand(situation)
    snapshot, policy, now = situation.snapshot, situation.policy, situation.now
    savings = savings_of(situation, prices)
    rows = with_pass_rules(assess_nodes(situation), situation, savings)
    updated = update_marks(marks or {}, could_go(rows), now, situation.state.last_pass, interval)
    candidates = [assessed for assessed in rows if assessed.is_candidate]
    due = [assessed for assessed in candidates if is_due(assessed, updated, policy, now)]
    counts, surplus = counts_and_excess(situation, rows)
    searcher = Searcher(savings, options.brake, options.arrays_of or SnapshotMemo(ClusterArrays, is_))
    selection = Selection(situation, counts, rows, searcher, wave, paced=options.paced)
    selection.consider(due)
    if marks is None:
        selection.judge_waiting(assessed for assessed in candidates if not is_due(assessed, updated, policy, now))
    decide = Decider(policy, updated, selection, prices)
    return Plan(
        cluster=snapshot.cluster,
        taken_at=snapshot.taken_at,
        policy_hash=policy.hash,
        dry_run=policy.dry_run,
        decisions=tuple(map(decide, rows)),
        orders=_orders(selection),
        marks=updated,
        pods=len(snapshot.pods),
        pending=len(snapshot.pending),
        cost=prices.cost_of(snapshot.nodes),
        savings=savings,
        excess=surplus,
        at_rest=selection.at_rest,
        wave=selection.wave,
        costly=costly_nodes(situation, rows, savings.bill, counts),
        demand=situation.state.demand,
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
        decisions=tuple(
            decision(node, Verdict.IN_FLIGHT, (), prices)
            if node.claimed_by is not None
            else decision(node, Verdict.KEEP, invalid, prices)
            for node in assess_nodes(Situation(snapshot, state, NO_POLICY))
        ),
        marks=marks,
        pods=len(snapshot.pods),
        pending=len(snapshot.pending),
        cost=prices.cost_of(snapshot.nodes),
    )


def _orders(selection: Selection) -> tuple[PlannedOrder, ...]:
    if not selection.taken:
        return ()
    moves = selection.simulation.assignments.moves()
    return tuple(
        PlannedOrder(
            node=assessed.node.name,
            uid=assessed.node.uid,
            pool=assessed.node.pool,
            reason=assessed.reason,
            saving=selection.saved[assessed.node.name],
            moves=moves[assessed.node.name],
        )
        for assessed in selection.taken
    )


class Decider:
    """The verdict of each node, once everything is known."""

    def __init__(self, policy: Policy, marks: Mapping[str, PoolMarks], selection: Selection, prices: Prices) -> None:
        self._policy, self._marks, self._selection, self._prices = policy, marks, selection, prices
        self._taken = {assessed.node.name for assessed in selection.taken}

    def __call__(self, assessed: AssessedNode) -> NodeDecision:
        verdict, found = self._verdict(assessed)
        mark = mark_of(assessed, self._marks)
        after = self._policy.pool(assessed.node.pool).consolidate_after
        marked, removable = (mark.since, removable_at(mark, after)) if mark else (None, None)
        # Together with the drains before it where the node's time has come.
        takes = self._selection.times.get(assessed.node.name) or assessed.estimate.alone
        takes_if_it_goes = takes if assessed.is_candidate else None
        return decision(assessed, verdict, found, self._prices, marked, removable, takes_if_it_goes)

    def _verdict(self, assessed: AssessedNode) -> tuple[Verdict, tuple[Blocker, ...]]:
        if assessed.claimed_by is not None:
            return Verdict.IN_FLIGHT, ()
        if assessed.blockers:
            return Verdict.KEEP, assessed.blockers
        if assessed.node.name in self._taken:
            return (Verdict.WOULD_ORDER if self._policy.dry_run else Verdict.ORDER), ()
        if assessed.node.name in self._selection.kept:
            return Verdict.KEEP, self._selection.kept[assessed.node.name]
        return Verdict.WAITING, (Blocker(Unremovable.MARKED_RECENTLY),)


def decision(
    assessed: AssessedNode,
    verdict: Verdict,
    found: tuple[Blocker, ...],
    prices: Prices,
    marked_since: datetime | None = None,
    removable: datetime | None = None,
    takes: DrainTime | None = None,
) -> NodeDecision:
    """Return a node's decision; the first blocker names it."""
    first = found[0].reason.value if found else assessed.claimed_by or assessed.reason.value
    measured = assessed.usage
    return NodeDecision(
        name=assessed.node.name,
        uid=assessed.node.uid,
        pool=assessed.node.pool,
        cost=prices.of(assessed.node).per_hour,
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
        underutilized=assessed.below_limits,
        allocatable=assessed.node.allocatable if measured else NOTHING,
        requested=measured.requested if measured else NOTHING,
        drain=takes,
        outside=assessed.node.outside and assessed.claimed_by is None,
    )
