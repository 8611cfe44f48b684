"""Who goes, one node after another, until the policy is at rest. Must not choose: the forecast did."""

from datetime import UTC, datetime
from typing import Any, Final

from functions.cli.format import clock, monthly
from functions.cli.report.material import Material
from functions.cli.report.tables import table
from shared.core.forecast.ladder import Ladder
from shared.core.planning.pool_summaries import GOING

COLUMNS: Final = ("node", "begins", "by", "moves", "month")
AUTOSCALER: Final = "the autoscaler"


def order(material: Material) -> dict[str, Any]:
    """Return a row for each node that goes, in order; nodes by their place in the plan."""
    ladder = material.ladder
    if ladder is None:
        return table(COLUMNS, ())
    at = material.number
    return table(COLUMNS, (_row(material, name, at[name]) for name in _by_time(ladder) if name in at))


def _by_time(ladder: Ladder) -> list[str]:
    """Return the nodes as they begin; what the autoscaler takes stays behind the node that went before it."""
    latest = datetime.min.replace(tzinfo=UTC)
    rows: list[tuple[datetime, str]] = []
    for name in ladder.order:
        latest = ladder.begins.get(name, latest)
        rows.append((latest, name))
    return [name for _, name in sorted(rows, key=lambda row: row[0])]


def _row(material: Material, name: str, number: int) -> tuple[Any, ...]:
    ladder, decision = material.ladder, material.view.nodes[number].decision
    begins = ladder.begins.get(name) if ladder else None
    now = material.view.taken_at
    time = "in this pass" if decision.verdict in GOING else f"{clock(begins, now)} UTC" if begins else "-"
    whose = material.whose if begins or decision.verdict in GOING else AUTOSCALER
    return (number, time, whose, material.moves_from(name), monthly(decision.cost))
