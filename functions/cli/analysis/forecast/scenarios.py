"""READ FIRST here. The scenarios: now, the autoscaler alone, the policy's steady state, relaxations, the bound.

With commitments also what of them is used, and what Ebb adds once some have ended.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from functions.cli.analysis.forecast.bound import bound
from functions.cli.analysis.forecast.steady_state import PolicyAtRest, Rest, left_alone, removed_nodes
from functions.cli.analysis.forecast.what_if import DoneOf, find_relaxations, no_progress, try_relaxations
from functions.cli.analysis.relaxations import Relaxation
from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.packing import NOTHING_REACHED, Reached
from shared.core.planning.bill import Bill, ends
from shared.core.planning.prices import Prices
from shared.core.policy.values import FLEXIBLE, Capacity
from shared.core.reasons import Reason
from shared.core.records.state import MICRO
from shared.core.rules.situation import Situation

MOST_RELAXED: Final = 3  # So many first answers of `ebb why-not` are scenarios.
MOST_ENDS: Final = 3  # So many ends of commitments are followed, the earliest; each takes as long as a relaxation.


class ScenarioKind(StrEnum):
    NOW = "now"
    AUTOSCALER_ALONE = "autoscaler_alone"
    POLICY_AT_REST = "policy_at_rest"
    RELAXED = "relaxed"
    BOUND = "bound"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario: what is left, in nodes and micro-dollars an hour, and the evictions until then."""

    kind: ScenarioKind
    nodes: int
    cost: int
    evictions: int = 0
    gone: int = 0  # Nodes removed until then, those that were on their way out among them.
    change: Relaxation | None = None
    is_rest: bool = True
    bill: int | None = None
    """What is paid with commitments, fees included; None where nothing is committed. `cost` is the list price."""


@dataclass(frozen=True, slots=True)
class UsedPart:
    """The used part of a commitment, and what the rest costs in micro-dollars an hour."""

    used: Capacity | None
    idle: int


@dataclass(frozen=True, slots=True)
class CommittedRow:
    """A commitment in force, without what other machines use; `fee` is in micro-dollars an hour."""

    family: str
    size: Capacity | None  # None of a flexible commitment: it is for money.
    until: datetime | None
    fee: int
    now: UsedPart
    at_rest: UsedPart | None = None  # None where no steady state is known.


@dataclass(frozen=True, slots=True)
class LaterAddition:
    """What Ebb adds from a time on at which commitments have ended, in micro-dollars an hour, and the nodes left."""

    at: datetime
    families: tuple[str, ...]
    nodes: int
    added: int
    is_rest: bool  # Whether it was followed until no more nodes go.


@dataclass(frozen=True, slots=True)
class Committed:
    """All commitments in force of a cluster in a region, and what Ebb adds once some have ended."""

    rows: tuple[CommittedRow, ...]
    region: str
    later: tuple[LaterAddition, ...] = ()
    use_elsewhere_is_known: bool = True


@dataclass(frozen=True)
class Scenarios:
    now: Scenario
    alone: Scenario
    at_rest: Scenario
    relaxed: tuple[Scenario, ...]
    bound: Scenario
    by: datetime | None  # When the steady state is reached; None if no node goes by the policy.
    held_up: Mapping[Reason, int]  # How many seconds each reason kept the node that was next.
    never: Mapping[Reason, int]  # How many nodes a limit keeps that does not open within half a year.
    gone: frozenset[str] = frozenset()
    begun: Snapshot | None = field(default=None, compare=False)
    """The snapshot of now, with what is pending where the scheduler would put it."""
    left: Snapshot | None = field(default=None, compare=False)
    """The snapshot in steady state, with the pods where the scheduler would put them; pods compare by identity."""
    order: tuple[str, ...] = ()  # The same in the order in which they go.
    begins: Mapping[str, datetime] = field(default_factory=dict)
    """When the drain of each of them begins that goes by the policy; the others are the autoscaler's."""
    idle: tuple[Relaxation, ...] = ()  # Changes that were tried, and free no node by themselves.
    later: tuple[LaterAddition, ...] = ()  # What Ebb adds from each time on at which commitments end.

    @property
    def reached(self) -> Reached:
        """What goes by the policy and the autoscaler, and where its pods lie then."""
        return removed_nodes(self.order, self.left) if self.left is not None else NOTHING_REACHED

    @property
    def common(self) -> Mapping[ScenarioKind, Scenario]:
        """Those that each cluster has, so that those of several clusters add up."""
        return {scenario.kind: scenario for scenario in (self.now, self.alone, self.at_rest, self.bound)}

    @property
    def in_order(self) -> tuple[Scenario, ...]:
        return (self.now, self.alone, self.at_rest, *self.relaxed, self.bound)


def scenarios_of(base: PolicyAtRest, progress: DoneOf = no_progress) -> Scenarios:
    snapshot, rest, effort, (changes, _) = base.situation.snapshot, base.rest, base.effort, find_relaxations(base)
    rounds = min(effort.tried, len(changes)) * effort.onward
    found = try_relaxations(base, changes, effort.tried, rounds, progress)
    idle = (freed.held for freed in found.freed if not freed.saving)
    bill, alone = base.bill, left_alone(base.start)
    least = bound(snapshot, bill, base.situation.state)
    return Scenarios(
        now=_scenario(ScenarioKind.NOW, Rest(snapshot), bill),
        alone=_scenario(ScenarioKind.AUTOSCALER_ALONE, alone, bill),
        at_rest=_scenario(ScenarioKind.POLICY_AT_REST, rest, bill),
        relaxed=tuple(
            replace(_scenario(ScenarioKind.RELAXED, freed.rest, bill), change=freed.relaxation)
            for freed in found.freed[:MOST_RELAXED]
            if freed.saving
        ),
        bound=Scenario(ScenarioKind.BOUND, least.nodes, least.cost, bill=least.bill),
        by=rest.by,
        held_up=rest.held_up,
        never=rest.never,
        begun=snapshot,
        gone=frozenset(node.name for node in snapshot.nodes) - {node.name for node in rest.snapshot.nodes},
        left=rest.snapshot,
        order=rest.order,
        begins=rest.begins,
        idle=tuple(held.relaxation for held in (*idle, *found.hopeless)),
        later=later_additions(base, alone),
    )


def _scenario(kind: ScenarioKind, rest: Rest, bill: Bill) -> Scenario:
    nodes = rest.snapshot.nodes
    paid = None if bill.is_list else bill.cost_of(nodes)
    cost = bill.prices.cost_of(nodes)
    return Scenario(kind, len(nodes), cost, rest.evictions, rest.gone, is_rest=rest.is_rest, bill=paid)


def committed_of(
    situation: Situation, prices: Prices, left: Snapshot | None = None, later: tuple[LaterAddition, ...] = ()
) -> Committed | None:
    """Return the commitments of a cluster, None without any; `left` is its steady state, None if that is not known."""
    commitments, nodes = situation.policy.commitments, situation.snapshot.nodes
    bill = Bill.of(prices, commitments, nodes, situation.snapshot.taken_at)
    if bill.is_list:
        return None
    rows = tuple(rows_of(bill, nodes))
    if left:
        pairs = zip(rows, rows_of(bill, left.nodes), strict=True)
        rows = tuple(replace(row, at_rest=after.now) for row, after in pairs)
    return Committed(rows, bill.region, later, use_elsewhere_is_known=commitments.elsewhere is not None)


def rows_of(bill: Bill, nodes: Sequence[Node]) -> Iterator[CommittedRow]:
    for use in bill.uses(nodes):
        own = use.commitment
        yield CommittedRow(own.family, own.size, own.until, use.fee, UsedPart(use.used, use.idle))
    flexible = bill.commitments.flexible
    if flexible:
        fee, part = round(flexible.per_hour * MICRO), UsedPart(None, bill.flexible_idle(nodes))
        yield CommittedRow(FLEXIBLE, None, flexible.until, fee, part)


def later_additions(base: PolicyAtRest, alone: Rest) -> tuple[LaterAddition, ...]:
    """Return what Ebb adds once commitments have ended, by the ends; `alone` is what the autoscaler leaves."""
    if base.bill.is_list:
        return ()
    commitments, now = base.situation.policy.commitments, base.situation.snapshot.taken_at
    return tuple(_addition(base, alone, at) for at in ends(commitments, now)[:MOST_ENDS])


def _addition(base: PolicyAtRest, alone: Rest, at: datetime) -> LaterAddition:
    policy = base.situation.policy
    left = policy.commitments.in_force(at)
    rest = base.onward(replace(policy, commitments=left), base.start.snapshot)
    bill = Bill.of(base.prices, left, base.situation.snapshot.nodes, at)
    added = bill.cost_of(alone.snapshot.nodes) - bill.cost_of(rest.snapshot.nodes)
    ending = {family for family, until in policy.commitments.ends if until == at}
    families = tuple(sorted(ending, key=lambda family: (family == FLEXIBLE, family)))  # the flexible one last
    return LaterAddition(at, families, len(rest.snapshot.nodes), added, rest.is_rest)
