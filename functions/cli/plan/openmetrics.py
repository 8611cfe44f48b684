"""The plan as OpenMetrics gauges: an outside contract. What is not known has no series."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Final

from functions.cli.analysis.forecast.scenarios import Scenario, ScenarioKind
from functions.cli.analysis.pools import PoolSummary
from functions.cli.output.format import dollars
from functions.cli.output.openmetrics import MONEY, Gauge, Samples, exposition, one
from functions.cli.plan.sentences import HOLDING, LegendEntry
from functions.cli.plan.view import PlanView
from shared.core.planning.plan import Verdict


def _scenarios(figure: Callable[[Scenario], Fraction | float], *names: str) -> Callable[[PlanView], Samples]:
    """Return the values of scenarios that every cluster has: relaxations name PodDisruptionBudgets, maybe many."""

    def values(view: PlanView) -> Samples:
        scenarios = view.scenarios.values if view.scenarios else None
        found = [getattr(scenarios, name) for name in names] if scenarios else []
        return [((scenario.kind.value,), figure(scenario)) for scenario in found]

    return values


_ALL: Final = ("now", "alone", "at_rest", "bound")


def _pools(figure: Callable[[PoolSummary], Fraction | float | None]) -> Callable[[PlanView], Samples]:
    def values(view: PlanView) -> Iterator[tuple[tuple[str], Fraction | float]]:
        for pool in view.pools:
            value = figure(pool)
            if value is not None:
                yield (pool.pool or "",), value

    return values


def _verdicts(view: PlanView) -> Samples:
    return [((pool.pool or "", each.value), pool.verdicts.get(each, 0)) for pool in view.pools for each in Verdict]


def _held(figure: Callable[[LegendEntry], Fraction | float]) -> Callable[[PlanView], Samples]:
    return lambda view: [((each.word, each.kind.value), figure(each)) for each in view.legend if each.kind in HOLDING]


def _bills(view: PlanView) -> Samples:
    found = view.scenarios.values if view.scenarios else None
    each = [getattr(found, name) for name in _ALL] if found else []
    return [((one.kind.value,), dollars(one.bill)) for one in each if one.bill is not None]


def _idle(view: PlanView) -> Samples:
    sums: dict[tuple[str, str], int] = {}
    for row in view.committed.rows if view.committed else ():
        for kind, part in ((ScenarioKind.NOW, row.now), (ScenarioKind.POLICY_AT_REST, row.at_rest)):
            if part:
                key = row.family, kind.value
                sums[key] = sums.get(key, 0) + part.idle
    return [(key, dollars(amount)) for key, amount in sums.items()]


def _by_then(view: PlanView) -> Samples:
    by = view.scenarios.values.by if view.scenarios else None
    return one(by.timestamp() if by else None)


_OF_SCENARIO: Final = ("rung",)
_OF_POOL: Final = ("pool",)
_OF_REASON: Final = ("reason", "of")
GAUGES: Final = (
    Gauge("ebb_plan_taken_at_timestamp", "When the cluster was read, Unix time.",
          lambda view: one(view.taken_at.timestamp()), unit="seconds"),
    Gauge("ebb_plan_partial", "1 if not all pods of the cluster are known, else 0.",
          lambda view: one(bool(view.partial))),
    Gauge("ebb_plan_dry_run", "1 if the policy planned with is a dry run, else 0.", lambda view: one(view.dry_run)),
    Gauge("ebb_plan_pods", "Pods of the cluster.", lambda view: one(view.totals.pods)),
    Gauge("ebb_plan_orders", "Nodes that a pass would order away now.", lambda view: one(view.totals.orders)),
    Gauge("ebb_plan_saving", "What these orders would save.",
          lambda view: one(None if view.partial else dollars(view.totals.saving)), unit=MONEY),
    Gauge("ebb_ladder_nodes", "Nodes in each scenario: now, autoscaler_alone, policy_at_rest, bound.",
          _scenarios(lambda scenario: scenario.nodes, *_ALL), _OF_SCENARIO),
    Gauge("ebb_ladder_cost", "What the nodes of each scenario cost.",
          _scenarios(lambda scenario: dollars(scenario.cost), *_ALL), _OF_SCENARIO, MONEY),
    Gauge("ebb_ladder_bill", "What is paid for each scenario with the commitments, fees included.",
          _bills, _OF_SCENARIO, MONEY),
    Gauge("ebb_commitment_idle", "What is paid for the part of commitments that is not used: now and policy_at_rest.",
          _idle, ("family", "rung"), MONEY),
    Gauge("ebb_ladder_evictions", "Evictions until each scenario is reached.",
          _scenarios(lambda scenario: scenario.evictions, "alone", "at_rest"), _OF_SCENARIO),
    Gauge("ebb_ladder_at_rest_timestamp", "When the steady state is reached, Unix time.", _by_then, unit="seconds"),
    Gauge("ebb_pool_nodes", "Nodes of a pool by verdict.", _verdicts, ("pool", "verdict")),
    Gauge("ebb_pool_cost", "What the nodes of a pool cost.", _pools(lambda pool: dollars(pool.cost)), _OF_POOL, MONEY),
    Gauge("ebb_pool_cpu", "CPU requests by allocatable CPU.", _pools(lambda pool: pool.cpu_ratio), _OF_POOL, "ratio"),
    Gauge("ebb_pool_memory", "Memory requests by allocatable memory.", _pools(lambda pool: pool.memory_ratio),
          _OF_POOL, "ratio"),
    Gauge("ebb_pool_saving_at_rest", "What the nodes of a pool cost that are gone in steady state.",
          lambda view: _pools(lambda pool: dollars(pool.rest_save))(view) if view.scenarios else (), _OF_POOL, MONEY),
    Gauge("ebb_held_nodes",
          "Nodes kept by a reason; of is node (each counts once) or pod (a node may have several).",
          _held(lambda each: each.nodes), _OF_REASON),
    Gauge("ebb_held_cost", "What the nodes cost that a reason keeps.", _held(lambda each: dollars(each.cost)),
          _OF_REASON, MONEY),
)  # fmt: skip
"""All of them, in the order in which they are written."""


def page(views: Sequence[PlanView]) -> str:
    """Return the plans of one or several clusters as one text."""
    return exposition(GAUGES, [(view.cluster or "unknown", view) for view in views], currency_of(views))


def currency_of(views: Iterable[PlanView]) -> str:
    """Return the currency in which all of them are priced."""
    return next((view.prices.basis.currency for view in views if view.prices), "USD")
