"""What the pass knows of each node before anything is chosen: how full it is, what keeps it, since when it could go.

A mark is set once, keeps its time while unbroken, and is lost when broken: estafette's marks (docs/acceptance.md rows
29 to 33), with disabled pools cleared (row 5) and with a limit to silence (docs/decisions/budgets.md).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from msgspec import structs

from shared.core.cluster.node import Node
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.planning.autoscaler import packs_by_itself
from shared.core.planning.bill import Savings
from shared.core.planning.prices import per_month
from shared.core.policy import Policy, PoolPolicy
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.records.state import MICRO, ClusterState, KnownDemand, Mark, PoolMarks, silence
from shared.core.rules.counts import NodeCounts, PoolMeasure
from shared.core.rules.drain_time import NO_ESTIMATE, DrainEstimate
from shared.core.rules.nodes import NODE_RULES, NodeRule, has_expired, judge_node
from shared.core.rules.pods import goes_last
from shared.core.rules.situation import Situation
from shared.core.rules.utilization import Usage, above_limits, excess, spare, usage

NO_MARKS: Final = PoolMarks()


@dataclass(frozen=True, slots=True)
class AssessedNode:
    node: Node
    usage: Usage | None
    reason: DrainReason  # Why it would go: empty, expired or underutilized.
    blockers: tuple[Blocker, ...]
    claimed_by: str | None
    """The order id that holds it (claim or taint); a taint that somebody wrote may hold it with an empty one."""
    avoided: bool = False  # Whether it goes only after all others (singleReplicas: avoid).
    estimate: DrainEstimate = NO_ESTIMATE  # What its drain has to wait for; only of a candidate.

    @property
    def underutilized(self) -> bool:
        """Whether it earns a mark: nothing but passing blockers keeps it."""
        return self.claimed_by is None and all(blocker.reason.row.keeps_mark for blocker in self.blockers)

    @property
    def below_limits(self) -> bool:
        """Whether estafette would count it as underutilized: ratios, age and pool, whatever else keeps it."""
        known = self.usage is not None and self.claimed_by is None
        return known and all(blocker.reason.row.underused for blocker in self.blockers)

    @property
    def is_candidate(self) -> bool:
        return self.claimed_by is None and not self.blockers


def with_demand(situation: Situation) -> Situation:
    """Return the situation, with all that it has found, that remembers the demand of its snapshot, too."""
    asked, known, now = situation.snapshot.cpu_asked, situation.state.demand, situation.now
    demand = known.followed_by(asked, now) if known else KnownDemand(asked, now, asked)
    return replace(situation, state=structs.replace(situation.state, demand=demand))


def assess_nodes(situation: Situation, rules: tuple[NodeRule, ...] = NODE_RULES) -> tuple[AssessedNode, ...]:
    return tuple(assess_node(node, situation, rules) for node in situation.snapshot.nodes)


def assess_node(node: Node, situation: Situation, rules: tuple[NodeRule, ...] = NODE_RULES) -> AssessedNode:
    """Assess one node; with the safety rules alone no ratio is held against it."""
    pods = situation.snapshot.pods_by_node[node.name]
    settings, measured = situation.policy.pool(node.pool), usage(node, pods)
    moving = situation.moving(node.name)
    reason = _reason(node, settings, situation, empty=not moving)
    found = judge_node(node, situation, rules)
    if reason is DrainReason.EXPIRED:
        found = tuple(blocker for blocker in found if blocker.reason is not Unremovable.NOT_EMPTY)
    if rules is NODE_RULES and reason is DrainReason.UNDERUTILIZED and measured is not None:
        found += above_limits(measured, settings)
    if rules is NODE_RULES and reason is not DrainReason.EXPIRED and settings.consolidate_after is None:
        found += (Blocker(Unremovable.CONSOLIDATION_OFF),)
    last = situation.about_moving(node, goes_last)
    held = holder(node, situation.state)
    takes = NO_ESTIMATE if held is not None or found else situation.drain_estimate(node)
    return AssessedNode(node, measured, reason, found, held, last, takes)


def holder(node: Node, state: ClusterState) -> str | None:
    claim = state.claims.get(node.uid)
    return claim.order_id if claim else node.drain_taint


def _reason(node: Node, settings: PoolPolicy, situation: Situation, *, empty: bool) -> DrainReason:
    if empty:
        return DrainReason.EMPTY
    return DrainReason.EXPIRED if has_expired(node, settings, situation.now) else DrainReason.UNDERUTILIZED


def counts_and_excess(situation: Situation, rows: Sequence[AssessedNode]) -> tuple[NodeCounts, dict[str, Fraction]]:
    """Return the counts for the gates, and the excess nodes by pool and (empty key) of the whole cluster."""
    snapshot, policy = situation.snapshot, situation.policy
    measures: dict[str, PoolMeasure] = {}
    surplus: dict[str, Fraction] = {}
    everywhere = NOTHING
    for pool, nodes in snapshot.nodes_by_pool.items():
        own = [assessed for assessed in rows if assessed.node.pool == pool]
        free = spare(nodes, snapshot.pods_by_node, policy.pool(pool).ignore_taints)
        marked = sum(row.underutilized and row.reason is not DrainReason.EXPIRED for row in own)
        measures[pool] = PoolMeasure(marked, free)
        surplus[pool] = _excess(own, free)
        everywhere += free
    surplus[""] = _excess(rows, everywhere)
    return situation.counts(snapshot.nodes).with_measures(measures), surplus


def _excess(rows: Sequence[AssessedNode], free: Resources) -> Fraction:
    """Excess in units of the node that would go first (node-refiner: the least used one)."""
    counted = (row for row in rows if row.claimed_by is None and not row.node.outside)
    measured = [(row.usage.score, row.node.name, row.node) for row in counted if row.usage]
    if not measured:
        return Fraction(0)
    _, _, first = min(measured, key=lambda row: row[:2])
    return excess(free, first) or Fraction(0)


def with_pass_rules(rows: Iterable[AssessedNode], situation: Situation, savings: Savings) -> tuple[AssessedNode, ...]:
    """Return the nodes, kept as well by what only a pass asks: the drainer judges safety, a person's order stands."""
    judged = ((row, saves_too_little(row, situation, savings) or _left_to_autoscaler(row, situation)) for row in rows)
    return tuple(replace(row, blockers=(*row.blockers, *found)) if found else row for row, found in judged)


def _left_to_autoscaler(assessed: AssessedNode, situation: Situation) -> tuple[Blocker, ...]:
    """Keep a node that an autoscaler which packs as far as Ebb would may empty itself; empty and expired ones go."""
    # There drains only throw its dice again: over days the bill rises as often as it falls, whatever a pass foresees.
    chosen = assessed.is_candidate and assessed.reason is DrainReason.UNDERUTILIZED
    return (Blocker(Unremovable.AUTOSCALER_PACKS),) if chosen and packs_by_itself(assessed.node, situation) else ()


def saves_too_little(assessed: AssessedNode, situation: Situation, savings: Savings) -> tuple[Blocker, ...]:
    """Return what keeps a node that saves nothing, or too little, given what remains; empty and expired nodes go."""
    node = assessed.node
    if assessed.reason is not DrainReason.UNDERUTILIZED:
        return ()
    if savings.saves_nothing(node):
        since = savings.saves_from(node)
        until = f" before {since:%F}" if since else ""
        return (Blocker(Unremovable.COVERED_BY_COMMITMENT, "", f"saves nothing{until}"),)
    least = situation.policy.pool(node.pool).minimum_saving
    if not least:
        return ()
    pods = len(situation.moving(node.name))
    saved = Fraction(per_month(savings.of(node)), MICRO * max(pods, 1))
    if saved >= least:
        return ()
    detail = f"${float(saved):.2f} a month for each of {pods} pods, minimum ${float(least):g}"
    return (Blocker(Unremovable.SAVING_TOO_SMALL, detail=detail),)


def could_go(rows: Iterable[AssessedNode]) -> dict[str, tuple[str, str]]:
    return {assessed.node.uid: (assessed.node.name, assessed.node.pool) for assessed in rows if assessed.underutilized}


def update_marks(
    old: Mapping[str, PoolMarks],
    could_go: Mapping[str, tuple[str, str]],
    now: datetime,
    last_pass: datetime | None,
    interval: timedelta,
) -> dict[str, PoolMarks]:
    """Return the marks after this pass, by pool; a pool that lost its last mark stays with none."""
    # After a long silence nobody knows whether a node was underutilized all the time: all marks begin again.
    trusted = last_pass is not None and now - last_pass < silence(interval)
    rows: dict[str, dict[str, Mark]] = {pool: {} for pool in old}
    for uid, (name, pool) in sorted(could_go.items()):
        known = old.get(pool, NO_MARKS).marks.get(uid) if trusted else None
        rows.setdefault(pool, {})[uid] = Mark(name, known.since if known else now)
    return {pool: PoolMarks(marks=marks) for pool, marks in sorted(rows.items())}


def changed_pools(old: Mapping[str, PoolMarks], new: Mapping[str, PoolMarks]) -> tuple[str, ...]:
    """Return the pools whose document must be written; in a steady state none (docs/acceptance.md row 32)."""
    return tuple(pool for pool in sorted({*old, *new}) if old.get(pool, NO_MARKS) != new.get(pool, NO_MARKS))


def removable_at(mark: Mark, consolidate_after: timedelta | None) -> datetime | None:
    """Return when the mark is old enough; None = Never."""
    return None if consolidate_after is None else mark.since + consolidate_after


def is_old_enough(mark: Mark, consolidate_after: timedelta | None, now: datetime) -> bool:
    """Whether the node has been marked long enough: at exactly that time it is (docs/acceptance.md row 31)."""
    due = removable_at(mark, consolidate_after)
    return due is not None and due <= now


def is_due(assessed: AssessedNode, marks: Mapping[str, PoolMarks], policy: Policy, now: datetime) -> bool:
    """An expired node's time is its age; any other's is its mark."""
    if assessed.reason is DrainReason.EXPIRED:
        return True
    mark = mark_of(assessed, marks)
    return mark is not None and is_old_enough(mark, policy.pool(assessed.node.pool).consolidate_after, now)


def mark_of(assessed: AssessedNode, marks: Mapping[str, PoolMarks]) -> Mark | None:
    pool = marks.get(assessed.node.pool)
    return pool.marks.get(assessed.node.uid) if pool else None
