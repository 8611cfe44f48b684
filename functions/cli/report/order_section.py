"""Who goes, one node after another, until the policy is at rest. Must not choose: the forecast did."""

from datetime import UTC, datetime
from typing import Any, Final

from functions.cli.analysis.forecast.ladder import Ladder
from functions.cli.format import clock, monthly
from functions.cli.report.material import Material
from functions.cli.report.tables import table
from shared.core.planning.plan import PlannedOrder

COLUMNS: Final = ("node", "begins", "by", "moves", "month")
AUTOSCALER: Final = "the autoscaler"
AT_ONCE: Final = "in this pass"


def order(material: Material) -> dict[str, Any]:
    """Return a row for each node that goes: this pass's orders, then the others in order; nodes by their place."""
    ordered = {each.node for each in material.view.orders}
    later = (name for name in _by_time(material.ladder) if name not in ordered) if material.ladder else ()
    return table(
        COLUMNS,
        (*(_ordered(material, each) for each in material.view.orders), *(_later(material, name) for name in later)),
    )


def _ordered(material: Material, order: PlannedOrder) -> tuple[Any, ...]:
    return (material.number[order.node], AT_ONCE, material.whose, len(order.moves), monthly(order.saving))


def _later(material: Material, name: str) -> tuple[Any, ...]:
    number, ladder = material.number[name], material.ladder
    begins = ladder.begins.get(name) if ladder else None
    time = f"{clock(begins, material.view.taken_at)} UTC" if begins else "-"
    cost = material.view.nodes[number].decision.cost
    return (number, time, material.whose if begins else AUTOSCALER, material.moves_from(name), monthly(cost))


def _by_time(ladder: Ladder) -> list[str]:
    """Return the nodes as they begin; what the autoscaler takes stays behind the node that went before it."""
    latest = datetime.min.replace(tzinfo=UTC)
    rows: list[tuple[datetime, str]] = []
    for name in ladder.order:
        latest = ladder.begins.get(name, latest)
        rows.append((latest, name))
    return [name for _, name in sorted(rows, key=lambda row: row[0])]
