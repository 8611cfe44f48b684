"""Several clusters together: the sum of their scenarios, a table with a row for each, and one sentence about all."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from functions.cli.analysis.forecast.scenarios import Scenario, Scenarios
from functions.cli.output.answers import Lines, PagePart
from functions.cli.output.format import count, whole_money, whole_month
from functions.cli.output.tables import BOLD, DIM, Column, Table
from functions.cli.plan.scenarios import (
    ADDED,
    BOUND,
    DEFAULTS,
    POLICY,
    ScenarioMoney,
    headline,
    paid_cost,
    scenario_documents,
)
from functions.cli.plan.view import PlanView

SCHEMA: Final = 1
PARTIAL: Final = "Partial: "
UNKNOWN: Final = "unknown"
THEIR_POLICIES: Final = "their policies"
_NO_PRICE: Final = "-"
_SUMS: Final = ("nodes", "pods", "pending_pods", "orders", "cost_per_hour", "saving_per_hour", "saving_per_month")
_STEPS: Final = ("nodes", "cost", "evictions", "gone")
FIGURES: Final = (
    Column(ADDED, right=True, style=BOLD),
    *(Column(title, right=True) for title in ("nodes", "now", "alone", "with Ebb")),
    Column("bound", right=True, style=DIM),
    Column("saved", right=True),
)
MEANING: Final = f"All money is a month. alone: with the autoscaler alone. bound: the {BOUND} of any plan."

OF_BILLS: Final = "Money is the bill where capacity is committed, and the list price elsewhere."


def document(documents: Sequence[dict[str, Any]], views: Sequence[PlanView]) -> dict[str, Any]:
    if len(documents) == 1:
        return documents[0]
    return {"schema": SCHEMA, "clusters": list(documents), **sums(documents, views)}


def sums(documents: Sequence[dict[str, Any]], views: Sequence[PlanView]) -> dict[str, Any]:
    totals = {name: round(sum(document["totals"][name] for document in documents), 4) for name in _SUMS}
    scenarios = sum_scenarios(views)
    return {
        "ladder": scenario_documents(scenarios) if scenarios else [],
        "totals": {"clusters": len(documents), **totals},
    }


def sum_scenarios(views: Sequence[PlanView]) -> Scenarios | None:
    """Return the sum of the scenarios that each cluster has; None if no cluster has any."""
    parts = parts_of(views)
    if not parts:
        return None
    now, alone, at_rest, bound = (_sum_of(own) for own in zip(*(part.common.values() for part in parts), strict=True))
    by = max((part.by for part in parts if part.by), default=None)
    return Scenarios(now, alone, at_rest, (), bound, by, {}, {})


def parts_of(views: Sequence[PlanView]) -> tuple[Scenarios, ...]:
    return tuple(view.scenarios.values for view in views if view.scenarios)


def _sum_of(scenarios: Sequence[Scenario]) -> Scenario:
    bill = None if all(scenario.bill is None for scenario in scenarios) else sum(map(paid_cost, scenarios))
    sums = {name: sum(getattr(scenario, name) for scenario in scenarios) for name in _STEPS}
    return replace(scenarios[0], **sums, bill=bill, is_rest=all(scenario.is_rest for scenario in scenarios))


def money_of(views: Sequence[PlanView], scenarios: Scenarios) -> ScenarioMoney:
    return ScenarioMoney(scenarios, parts_of(views))


def settings_of(views: Sequence[PlanView]) -> str:
    """Return whose settings all plans rest on: of several policies the sum is none of any one."""
    policies = {view.plan.policy_hash if view.whose == POLICY else "" for view in views}
    return THEIR_POLICIES if len(policies) > 1 else DEFAULTS if "" in policies else POLICY


def whole_headline(views: Sequence[PlanView]) -> str:
    """Return what Ebb adds in all clusters, and of how many that is known."""
    whole = [view for view in views if view.scenarios]
    counted = views_with_prices(whole)
    scenarios = sum_scenarios(counted)
    if scenarios is None:
        return f"{PARTIAL}of no cluster it is known what could go."
    summary = headline(scenarios, settings_of(views), max(view.plan.taken_at for view in whole), parts_of(counted))
    others = sum(view.totals["nodes"] for view in whole) - scenarios.now.nodes
    unpriced = f" Not counted: {count(others, 'node')} without a price." if others else ""
    partial = "" if len(whole) == len(views) else f"{PARTIAL}{len(whole)} of {len(views)} clusters. "
    return f"{partial}{summary}{unpriced}"


def parts(views: Sequence[PlanView]) -> Iterator[PagePart]:
    yield cluster_table(views)
    yield Lines(("", whole_headline(views)), BOLD)


def views_with_prices(views: Sequence[PlanView]) -> Sequence[PlanView]:
    """Return those whose machines have prices, or all if none has: nodes and money of a sentence are of the same."""
    return [view for view in views if view.plan.cost] or views


def cluster_table(views: Sequence[PlanView]) -> Table:
    marked = next((view.mark for view in views if view.partial), "")
    rows = [(f"{view.plan.cluster}{view.mark}", *figures([view])) for view in views]
    whole = (f"all{marked}", *figures(views))
    name = Column(f"{len(views)} clusters", wraps=True)
    styles = (*[""] * len(rows), BOLD)
    table = Table.of((name, *FIGURES), (*rows, whole), styles=styles, foot=meaning(views))
    if not any(view.potential for view in views):
        return table
    most = (*(view.potential.saving if view.potential else 0 for view in views),)
    cells = (*(_month([amount]) for amount in most), _month(most))
    return replace(table, columns=(*table.columns, Column("potential", cells, right=True)))


def figures(views: Sequence[PlanView]) -> tuple[str, ...]:
    """Return the cells under `FIGURES` of some clusters together, each sum that of what is printed of each."""
    nodes, now = f"{sum(view.totals['nodes'] for view in views):,}", _month([*map(paid_now, views)])
    scenarios = sum_scenarios(views)
    if scenarios is None:
        return (UNKNOWN, nodes, now, *(UNKNOWN,) * (len(FIGURES) - 3))
    money = money_of(views, scenarios)
    if not money.known:
        return (_NO_PRICE, nodes, *(_NO_PRICE,) * (len(FIGURES) - 2))
    alone, rest, bound = (money.month(scenario) for scenario in (scenarios.alone, scenarios.at_rest, scenarios.bound))
    saved = whole_money(money.saving_of(scenarios.at_rest))
    return (whole_money(max(money.added, 0)), nodes, now, alone, rest, bound, saved)


def paid_now(view: PlanView) -> int:
    """Return what is paid for the cluster now, in micro-dollars an hour: the bill where capacity is committed."""
    return paid_cost(view.scenarios.values.now) if view.scenarios else view.plan.cost


def meaning(views: Sequence[PlanView]) -> str:
    return f"{MEANING} {OF_BILLS}" if any(view.committed for view in views) else MEANING


def _month(amounts: Sequence[int]) -> str:
    return whole_money(sum(map(whole_month, amounts)), of=sum(amounts))
