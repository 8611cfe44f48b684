"""Several clusters: a report of each, and their sum. Never one merged cluster: no pod moves from one to another.

Must not decide anything: it adds up what the views hold.
"""

from collections.abc import Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from functions.cli.format import monthly
from functions.cli.plan.layout import GAP
from functions.cli.plan.view import PlanView

SCHEMA: Final = 1
_LINE: Final = 72
_SUMS: Final = ("nodes", "pods", "orders", "cost_per_hour", "saving_per_hour", "saving_per_month")


def document(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the plan's JSON of one cluster as it is, or that of several with their sum."""
    if len(documents) == 1:
        return documents[0]
    totals: dict[str, Any] = {name: _sum(name, [each["totals"] for each in documents]) for name in _SUMS}
    return {"schema": SCHEMA, "clusters": list(documents), "totals": {"clusters": len(documents), **totals}}


def end_of_report(console: Console, views: Sequence[PlanView]) -> None:
    """Draw a line below the report of one of several clusters."""
    if len(views) > 1:
        console.print()
        console.print("-" * min(console.width, _LINE), style="dim")
        console.print()


def show_total(console: Console, views: Sequence[PlanView]) -> None:
    """Print a row a cluster and their sum; of one cluster nothing, for its report has it."""
    if len(views) > 1:
        console.print(_table(views))


def markdown(views: Sequence[PlanView]) -> tuple[str, ...]:
    """Return the sum of several clusters as a table of markdown; of one cluster nothing."""
    if len(views) == 1:
        return ()
    titles, *rows = _rows(views)
    sides = ("---", *("--:" for _ in titles[1:]))
    return ("\n".join(f"| {' | '.join(row)} |" for row in (titles, sides, *rows)),)


def _table(views: Sequence[PlanView]) -> Table:
    titles, *rows, total = _rows(views)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for number, title in enumerate(titles):
        table.add_column(title, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    table.add_row(*total, style="bold")
    return table


def _rows(views: Sequence[PlanView]) -> tuple[tuple[str, ...], ...]:
    """Return the titles, a row a cluster, and their sum."""
    most = tuple(view.potential.saving for view in views if view.potential)
    titles = (f"{len(views)} clusters", "nodes", "pods", "cost a month", "saving", *(("potential",) if most else ()))
    rows = [(f"{view.cluster}{view.mark}", *_cells([view]), *((_potential(view),) if most else ())) for view in views]
    marked = next((view.mark for view in views if view.partial), "")
    return (titles, *rows, (f"all{marked}", *_cells(views), *((monthly(sum(most)),) if most else ())))


def _potential(view: PlanView) -> str:
    return monthly(view.potential.saving) if view.potential else "unknown"


def _cells(views: Sequence[PlanView]) -> tuple[str, ...]:
    totals = [view.totals for view in views]
    nodes, pods = sum(each.nodes for each in totals), sum(each.pods for each in totals)
    cost, saving = sum(each.cost for each in totals), sum(each.saving for each in totals)
    return (f"{nodes:,}", f"{pods:,}", monthly(cost), monthly(saving))


def _sum(name: str, totals: Sequence[dict[str, Any]]) -> int | float:
    found = sum(each[name] for each in totals)
    return round(found, 4) if isinstance(found, float) else found
