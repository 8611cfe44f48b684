"""The fleet as one HTML page: no script, nothing from a server; its tables are those of the terminal."""

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, Final

from functions.cli.fleet.installations import InstallationHealth
from functions.cli.fleet.table import count_states, table_of
from functions.cli.fleet.view import FleetRow, FleetView
from functions.cli.output.format import count, moment, monthly
from functions.cli.output.pages import write_page
from functions.cli.output.tables import BOLD
from functions.cli.plan import totals
from functions.cli.plan.scenarios import paid_cost, title
from functions.cli.report.money_section import blockers, key_figures

_CLUSTERS: Final = 6
_BILL: Final = ("the bill: what stays, what goes, the bound", "bill", "own")
_MONEY: Final = 4
"""So many of a report's figures."""


def draw_fleet(view: FleetView) -> str:
    """Return the page."""
    columns, clusters = _clusters(view)
    values = {
        "title": _title(view),
        "seen": _seen_line(view),
        "headline": view.headline,
        "figures": list(_figures(view)),
        "version": version("ebb"),
        "money": totals.OF_BILLS if any(plan.committed for plan in view.views) else "",
        "columns": columns,
        "clusters": clusters,
        "most": max(map(totals.paid_now, view.views), default=0),
        "blockers": blockers(view.legend, _CLUSTERS),
        "installations": [_installation(row.title, row.installation) for row in view.rows if row.installation],
        "notes": view.notes,
    }
    return write_page("fleet.html", values)


def _title(view: FleetView) -> str:
    scenarios, every = totals.sum_scenarios(view.views), count(len(view.rows), "cluster")
    if scenarios is None:
        return every
    clusters = every if len(view.views) == len(view.rows) else f"{len(view.views):,} of {every}"
    return title(scenarios, totals.money_of(view.views, scenarios), f" in {clusters}")


def _seen_line(view: FleetView) -> str:
    times = sorted(shown.plan.taken_at for shown in view.views)
    if not times:
        return "The state of installations"
    first, last = moment(times[0]), moment(times[-1])
    return f"As they were on {first}" if first == last else f"As they were between {first} and {last}"


def _figures(view: FleetView) -> Iterator[dict[str, Any]]:
    """Yield the figures on top: those of a report of all clusters, then how many clusters and installations."""
    views = totals.views_with_prices(view.views)
    scenarios = totals.sum_scenarios(views)
    if scenarios:
        yield from key_figures(scenarios, totals.money_of(views, scenarios))[:_MONEY]
    notes = [f"{view.not_read:,} could not be read" if view.not_read else "all were read"]
    if view.installations:
        notes.append(f"{count(len(view.installations), 'installation')}: {count_states(view)}")
    yield {"label": "Clusters", "value": f"{len(view.rows):,}", "note": "; ".join(notes), "good": False}


def _clusters(view: FleetView) -> tuple[list[tuple[str, Any, str]], list[dict[Any, Any]]]:
    """Return the columns of the terminal's table with the bills' bars, and its rows."""
    table = table_of(view, None)
    columns: list[tuple[str, Any, str]] = [
        (column.title, at, "number" if column.right else "short" if at else "head")
        for at, column in enumerate(table.columns)
    ]
    columns.insert(len(totals.FIGURES) + 1, _BILL)
    bars = [*map(_bar, view.rows), {"now": 0}]
    return columns, [
        {**dict(enumerate(cells)), "sum": table.styles[at] == BOLD, "wrong": table.below.get(at, ()), **bars[at]}
        for at, cells in enumerate(table.rows)
    ]


def _bar(row: FleetRow) -> dict[str, int]:
    """Return what stays of a cluster's bill, what is paid now, and the bound; the cells have the figures."""
    found = row.view.scenarios.values if row.view and row.view.scenarios else None
    return (
        {"rest": paid_cost(found.at_rest), "now": paid_cost(found.now), "bound": paid_cost(found.bound)}
        if found
        else {"now": 0}
    )


def _installation(name: str, health: InstallationHealth) -> dict[str, Any]:
    status = health.status
    return {
        "name": name,
        "is": health.in_words,
        "last_pass": moment(status.last_pass) if status.last_pass else "never",
        **{name: len(getattr(status, name)) for name in ("claims", "backoffs", "breakers")},
        "saved": monthly(health.saved),
    }
