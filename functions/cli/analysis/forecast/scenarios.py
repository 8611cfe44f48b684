"""READ FIRST here. The scenarios: now, the autoscaler alone, the policy's steady state, relaxations, the bound."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from functions.cli.analysis.forecast.bound import bound
from functions.cli.analysis.forecast.committed import LaterAddition, later_additions
from functions.cli.analysis.forecast.steady_state import PolicyAtRest, Rest, left_alone, removed_nodes
from functions.cli.analysis.forecast.what_if import DoneOf, find_relaxations, no_progress, try_relaxations
from functions.cli.analysis.relaxations import Relaxation
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.packing import NOTHING_REACHED, Reached
from shared.core.planning.bill import Bill
from shared.core.reasons import Reason

MOST_RELAXED: Final = 3  # So many first answers of `ebb why-not` are scenarios.


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
