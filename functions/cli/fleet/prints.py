"""One view of a fleet, several prints: table, markdown, JSON, and an HTML page without a script."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from functions.cli.fleet.installations import InstallationHealth
from functions.cli.fleet.view import FleetHold, FleetRow, FleetView, rows_to_show
from functions.cli.output.answers import Lines, Notes, PagePart
from functions.cli.output.format import count, json_dollars, moment, monthly, rfc3339
from functions.cli.output.pages import write_page
from functions.cli.output.tables import BOLD, Column, Table
from functions.cli.output.terminal import IN_A_FILE
from functions.cli.plan import as_json, totals
from functions.cli.plan.page import held
from functions.cli.plan.scenarios import paid_cost, title
from functions.cli.plan.totals import FIGURES
from functions.cli.plan.view import PlanView
from functions.cli.report.money_section import blockers, key_figures
from shared import VERSION

STATE: Final = "ebb"
_UNKNOWN: Final = "-"


def table_of(view: FleetView, top: int | None) -> Table:
    """Return a row for each cluster with what is wrong below it, and the sum; unread clusters are never left out."""
    shown = rows_to_show(view, top)
    states = any(row.state for row in view.rows)
    left, width = len(view.rows) - len(shown), len(FIGURES) + 1 + states
    rows = [(f"{row.title}{row.view.mark if row.view else ''}", *_cells(row.views), row.state) for row in shown]
    rows += [(f"… {left} more", *[""] * (width - 1), "")] if left else []
    whole = [(*_total(view), count_states(view))] if len(view.rows) > 1 else []
    name = Column(count(len(view.rows), "cluster"), wraps=True)
    columns = (name, *FIGURES, *([Column(STATE)] if states else []))
    below = {number: row.wrong for number, row in enumerate(shown) if row.wrong}
    cells = [row[:width] for row in (*rows, *whole)]
    return Table.of(
        columns, cells, styles=(*[""] * len(rows), *[BOLD] * len(whole)), below=below, foot=totals.meaning(view.views)
    )


def _total(view: FleetView) -> tuple[str, ...]:
    partial = next((plan.mark for plan in view.views if plan.partial), "")
    name = f"all {len(view.views)}{' that were read' if view.not_read else ''}{partial}"
    return (name, *_cells(view.views))


def _cells(views: Sequence[PlanView]) -> tuple[str, ...]:
    return totals.figures(views) if views else (_UNKNOWN,) * len(FIGURES)


def count_states(view: FleetView) -> str:
    """Return `2 dry run, 1 failing`: how many installations each word is true of."""
    words = {word: number for word, number in view.counts().items() if word != "installations" and number}
    return ", ".join(f"{number:,} {word.replace('_', ' ')}" for word, number in words.items())


def parts(view: FleetView, top: int | None, width: int) -> Iterator[PagePart]:
    yield table_of(view, top)
    yield from held(view.legend, in_full=width == IN_A_FILE)
    yield Notes(tuple(view.notes))
    if view.headline:
        yield Lines((view.headline,), BOLD)


SCHEMA: Final = 1
_OF_ONE_PLAN: Final = ("schema", "cluster", "kept_by", "nodes", "orders", "at_rest", "wave", "costly", "potential")
_LISTS: Final = ("ladder", "commitments", "later", "pools", "holds")
_OTHERS: Final = ("taken_at", "policy_hash", "dry_run", "partial", "prices", "totals")


def document(view: FleetView, top: int | None = None) -> dict[str, Any]:
    """Return the fleet as JSON values, every key always there; `top` chooses among `clusters` alone."""
    plans = [as_json.document(plan) for plan in view.views]
    summed = totals.sums(plans, view.views)
    return {
        "schema": SCHEMA,
        "clusters": [_row_document(row) for row in rows_to_show(view, top)],
        "ladder": summed["ladder"],
        "totals": {**summed["totals"], "not_read": view.not_read, **view.counts()},
        "holds": [_hold_document(hold) for hold in view.holds],
    }


def _hold_document(hold: FleetHold) -> dict[str, Any]:
    parts = [
        {"cluster": title, "nodes": entry.nodes, "cost_per_hour": json_dollars(entry.cost)}
        for title, entry in hold.clusters
    ]
    return {**as_json.held_document(hold.entry), "clusters": parts}


def _row_document(row: FleetRow) -> dict[str, Any]:
    plan: dict[str, Any] = {**dict.fromkeys(_OTHERS), **{name: [] for name in _LISTS}}
    if row.view:
        plan = {name: value for name, value in as_json.document(row.view).items() if name not in _OF_ONE_PLAN}
    return {
        "cluster": row.cluster,
        "source": row.source,
        "faults": list(row.faults),
        **plan,
        "installation": None if row.installation is None else _installation_document(row.installation),
    }


def _installation_document(health: InstallationHealth) -> dict[str, Any]:
    status = health.status
    return {
        "name": health.name,
        "cluster": status.cluster,
        "mode": health.mode and health.mode.value,
        "failing": bool(health.troubles),
        "troubles": [{"trouble": word.value, "sentence": sentence} for word, sentence in health.troubles],
        "pause_reason": health.paused_for or None,
        "last_pass": rfc3339(status.state.last_pass),
        **_count_records(health),
        "saved_nodes": status.saved_nodes,
        "saved_per_hour": json_dollars(status.saved),
    }


def _count_records(health: InstallationHealth) -> dict[str, int]:
    return {name: len(getattr(health.status, name)) for name in ("claims", "backoffs", "breakers")}


_CLUSTERS: Final = 6
_BILL: Final = ("the bill: what stays, what goes, the bound", "bill", "own")
_MONEY: Final = 4


def draw_fleet(view: FleetView) -> str:
    """Return the fleet as HTML; its tables are those of the terminal."""
    columns, clusters = _clusters(view)
    values = {
        "title": _title(view),
        "seen": _seen_line(view),
        "headline": view.headline,
        "figures": list(_figures(view)),
        "version": VERSION,
        "money": totals.OF_BILLS if any(plan.committed for plan in view.views) else "",
        "columns": columns,
        "clusters": clusters,
        "most": max(map(totals.paid_now, view.views), default=0),
        "blockers": blockers(view.legend, _CLUSTERS),
        "installations": [_installation_row(row.title, row.installation) for row in view.rows if row.installation],
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
    columns.insert(len(FIGURES) + 1, _BILL)
    bars = [*map(_bar, view.rows), {"now": 0}]
    return columns, [
        {**dict(enumerate(cells)), "sum": table.styles[at] == BOLD, "wrong": table.below.get(at, ()), **bars[at]}
        for at, cells in enumerate(table.rows)
    ]


def _bar(row: FleetRow) -> dict[str, int]:
    """Return what stays of a cluster's bill, what is paid now, and the bound; the cells have the figures."""
    found = row.scenarios
    parts = {"rest": found.at_rest, "now": found.now, "bound": found.bound} if found else {}
    return {"now": 0, **{name: paid_cost(scenario) for name, scenario in parts.items()}}


def _installation_row(name: str, health: InstallationHealth) -> dict[str, Any]:
    return {
        "name": name,
        "is": health.in_words,
        "last_pass": moment(health.status.state.last_pass) if health.status.state.last_pass else "never",
        **_count_records(health),
        "saved": monthly(health.status.saved),
    }
