"""The scenarios, pools and blockers with money as printed, and micro-dollars an hour for lengths of bars."""

from collections.abc import Sequence
from typing import Any, Final

from functions.cli.analysis.forecast.scenarios import Scenario, ScenarioKind, Scenarios
from functions.cli.analysis.pools import PoolSummary
from functions.cli.output.format import count, monthly, monthly_parts, percent, whole_money
from functions.cli.plan.scenarios import CHECK, ScenarioMoney, ScenarioRow, added_note, is_followed, paid_cost, worth
from functions.cli.plan.scenarios import title as scenarios_title
from functions.cli.plan.sentences import HOLDING, LegendEntry
from functions.cli.plan.tables import ALL, HEADINGS, OF_BILL
from functions.cli.report.cluster_section import ReportInput
from shared.core.placement.search import LITTLE
from shared.core.reasons import PodBlock, Unremovable, reason_of_word

_OBJECTS: Final = 3


def title(report_input: ReportInput) -> str:
    scenarios = report_input.scenarios
    if scenarios is None:
        plan = report_input.view.plan
        return f"{count(len(plan.decisions), 'node')}{f' for {monthly(plan.cost)} a month' if plan.cost else ''}"
    return scenarios_title(scenarios, ScenarioMoney(scenarios))


def figures(report_input: ReportInput) -> list[dict[str, Any]]:
    scenarios = report_input.scenarios
    return key_figures(scenarios, ScenarioMoney(scenarios), _idle(report_input)) if scenarios else []


def key_figures(scenarios: Scenarios, money: ScenarioMoney, idle: str = "") -> list[dict[str, Any]]:
    """Return the figures of one cluster or of the sum of several: a label, the figure, and what it rests on."""
    rest, gone = scenarios.at_rest, scenarios.now.nodes - scenarios.alone.nodes
    alone = f"{count(gone, 'node')} fewer. {CHECK}" if gone > 0 else "no node fewer"
    per_node = f"{rest.evictions / rest.gone:.1f} for each node that goes" if rest.gone else "no node goes"
    priced = (
        _figure("Ebb adds, a month", whole_money(max(money.added, 0)), added_note(money), good=money.added > 0),
        _figure("The autoscaler alone saves, a month", whole_money(money.saving_of(scenarios.alone)), alone),
        _figure("Now, a month", money.month(scenarios.now), _nodes(scenarios.now, money)),
        _figure("With Ebb, a month", money.month(rest), f"{_nodes(rest, money)}{idle}"),
    )
    nodes = (
        _figure("Ebb adds", worth(scenarios, money) or "nothing", f"{count(rest.nodes, 'node')} left", good=True),
        _figure("The autoscaler alone", count(scenarios.alone.nodes, "node"), alone),
        _figure("Now", count(scenarios.now.nodes, "node"), "their machines have no price here"),
    )
    return [*(priced if money.known else nodes), _figure("Evictions until then", f"{rest.evictions:,}", per_node)]


def _nodes(scenario: Scenario, money: ScenarioMoney) -> str:
    listed = f"; {money.listed.month(scenario)} at list prices" if money.listed else ""
    return f"{count(scenario.nodes, 'node')}{listed}"


def _idle(report_input: ReportInput) -> str:
    """Return what of the bill is paid for commitments that no node uses in steady state; empty for nothing."""
    rows = report_input.view.committed.rows if report_input.view.committed else ()
    idle = sum(row.at_rest.idle for row in rows if row.at_rest)
    return f"; {monthly(idle)} is committed and idle" if idle > LITTLE else ""


def added_row(report_input: ReportInput) -> dict[str, str | None] | None:
    return _row(report_input.view.scenarios.rows[0]) if report_input.view.scenarios else None


def sentences(report_input: ReportInput) -> list[str]:
    """Return what stands below the scenarios; first what their two columns of money mean, where there are two."""
    shown = report_input.view.scenarios
    billed = bool(shown and shown.rows[0].listed)
    return [*([OF_BILL] if billed else []), *(shown.sentences if shown else report_input.view.open_points)]


def _row(row: ScenarioRow) -> dict[str, str | None]:
    printed = {"title": row.title.strip(), "nodes": row.nodes, "month": row.month, "year": row.year}
    return {**printed, "list": row.listed or None, "evictions": row.evictions}


def scenario_rows(report_input: ReportInput) -> list[dict[str, Any]]:
    """Return the scenarios as printed; `from` is the cost that one is compared with. Both costs are of the bill."""
    shown = report_input.view.scenarios
    if shown is None:
        return []
    pairs = zip(shown.values.in_order, shown.rows[1:], strict=True)
    return [
        {
            "rung": scenario.kind.value,
            **_row(row),
            "saved": _saved_month(shown.values, scenario),
            "relaxed": scenario.change is not None,
            "cost": paid_cost(scenario),
            "from": paid_cost(_against(shown.values, scenario)),
        }
        for scenario, row in pairs
    ]


def pools(report_input: ReportInput) -> list[dict[str, Any]]:
    view = report_input.view
    months = (*monthly_parts([pool.cost for pool in view.pools]), monthly(view.whole.cost))
    saved = (*monthly_parts([pool.rest_save for pool in view.pools]), monthly(view.whole.rest_save))
    rows = [*view.pools, view.whole] if len(view.pools) > 1 else list(view.pools)
    known = view.scenarios is not None
    return [_pool(pool, month, rest if known else None) for pool, month, rest in zip(rows, months, saved, strict=False)]


def blockers(legend: Sequence[LegendEntry], objects: int = _OBJECTS) -> list[dict[str, Any]]:
    """Return what keeps nodes under the table's headings, those that hold most first, each with its remedy."""
    rows = {kind: [_blocker(entry, objects) for entry in legend if entry.kind is kind] for kind in HOLDING}
    return [{"title": HEADINGS[kind], "rows": own} for kind, own in rows.items() if own]


def reasons(report_input: ReportInput) -> dict[str, dict[str, str]]:
    """Return the sentence and the remedy of each reason that stands in a node's way, by its word."""
    found = {
        blocker.reason.value: blocker.reason for node in report_input.view.nodes for blocker in node.decision.blockers
    }
    return {word: {"sentence": reason.sentence, "remedy": reason.remedy} for word, reason in sorted(found.items())}


def _figure(label: str, value: str, note: str, *, good: bool = False) -> dict[str, Any]:
    return {"label": label, "value": value, "note": note, "good": good}


def _against(scenarios: Scenarios, scenario: Scenario) -> Scenario:
    """Return what a scenario is compared with: a relaxation goes on from the policy's steady state."""
    return scenarios.at_rest if scenario.kind in {ScenarioKind.RELAXED, ScenarioKind.BOUND} else scenarios.now


def _saved_month(scenarios: Scenarios, scenario: Scenario) -> str:
    """Return the change of a month; of the bound nothing, for no plan is known to reach it."""
    money = ScenarioMoney(scenarios)
    saved = money.saving_of(scenario) - money.saving_of(_against(scenarios, scenario))
    if scenario.kind in {ScenarioKind.NOW, ScenarioKind.BOUND} or not saved:
        return "-"
    sign, more = ("-", "" if is_followed(scenario) else " or more") if saved > 0 else ("+", "")
    return f"{sign}{whole_money(abs(saved))}{more}"


def _pool(pool: PoolSummary, month: str, saved: str | None) -> dict[str, Any]:
    return {
        "name": ALL if pool.pool is None else pool.pool,
        "sum": pool.pool is None,
        "nodes": pool.nodes,
        "goes": None if saved is None else pool.rest_go,
        "cpu": percent(pool.cpu_ratio),
        "memory": percent(pool.memory_ratio),
        "month": month,
        "saved": saved,
    }


def _blocker(entry: LegendEntry, objects: int) -> dict[str, Any]:
    reason = reason_of_word(entry.word, Unremovable, PodBlock)
    return {
        "reason": entry.word,
        "nodes": entry.nodes,
        "month": entry.month,
        "cost": entry.cost,
        "sentence": entry.sentence,
        "remedy": reason.remedy if reason else "",
        "about": entry.some_objects(objects),
    }
