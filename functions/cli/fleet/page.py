"""The fleet as one HTML page: no script, nothing from a server; its tables are those of the terminal."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Final

from functions.cli.fleet.installations import InstallationHealth
from functions.cli.fleet.table import states_of, table_of
from functions.cli.fleet.view import FleetHold, FleetRow, FleetView
from functions.cli.output import html
from functions.cli.output.format import count, moment, monthly, some, whole_money
from functions.cli.output.html import Frame, Html, Section, element, figure, made_by
from functions.cli.output.tables import Column, Table
from functions.cli.plan import totals
from functions.cli.plan.scenarios import CHECK, added_note, paid, title
from functions.cli.plan.sentences import HOLDING
from functions.cli.plan.tables import HEADINGS
from functions.cli.plan.totals import FIGURES
from functions.cli.report.drawings import bill
from functions.cli.report.page import blocker_table
from shared.core.reasons import PodBlock, Unremovable, named

_CLUSTERS: Final = 6
_BILL: Final = "the bill: what stays, what goes, the bound"
_STATES: Final = (
    Column("installation", wraps=True), Column("is", wraps=True), Column("last pass", wraps=True),
    Column("claims", right=True), Column("left alone", right=True), Column("breakers open", right=True),
    Column("still saved a month", right=True),
)  # fmt: skip


def page(view: FleetView) -> str:
    """Return the page."""
    figures, sections = tuple(_figures(view)), (_clusters(view), _blockers(view), _installations(view), _basis(view))
    frame = Frame(_title(view), html.together([_seen(view)]), view.headline, figures, f"{made_by()}.")
    return html.page(frame, [each for each in sections if each.body])


def _title(view: FleetView) -> str:
    scenarios, every = totals.summed(view.views), count(len(view.rows), "cluster")
    if scenarios is None:
        return every
    clusters = every if len(view.views) == len(view.rows) else f"{len(view.views):,} of {every}"
    return title(scenarios, totals.money_of(view.views, scenarios), f" in {clusters}")


def _seen(view: FleetView) -> str:
    times = sorted(each.taken_at for each in view.views)
    if not times:
        return "The state of installations"
    first, last = moment(times[0]), moment(times[-1])
    return f"As they were on {first}" if first == last else f"As they were between {first} and {last}"


def _figures(view: FleetView) -> Iterator[Html]:
    """Yield the figures on top."""
    views = totals.priced(view.views)
    scenarios = totals.summed(views)
    if scenarios:
        money = totals.money_of(views, scenarios)
        adds, rest = max(money.added, 0), f"{money.month(scenarios.at_rest)} a month with Ebb"
        alone = money.saved(scenarios.alone)
        yield figure("Ebb adds, a month", whole_money(adds), added_note(money), good=adds > 0)
        yield figure("Autoscaler alone saves, a month", whole_money(alone), CHECK if alone > 0 else "")
        yield figure("Now, a month", money.month(scenarios.now), f"{count(scenarios.now.nodes, 'node')}; {rest}")
    missing = f"{view.not_read:,} could not be read" if view.not_read else "all were read"
    yield figure("Clusters", f"{len(view.rows):,}", missing)
    if view.installations:
        yield figure("Installations", f"{len(view.installations):,}", states_of(view))


def _clusters(view: FleetView) -> Section:
    whole = table_of(view, None)
    columns = list(whole.columns)
    most = max(map(totals.paid_now, view.views), default=0)
    bars = zip_longest((_bar(each, most) for each in view.rows), whole.columns[0].cells)
    columns.insert(len(FIGURES) + 1, Column(_BILL, tuple(bar or "" for bar, _ in bars), wraps=True))
    lead = "Each cluster is planned by itself. What could not be read is a row, too, and is not in the sum."
    lead = f"{lead} {totals.OF_BILLS}" if any(each.committed for each in view.views) else lead
    made = html.table(replace(whole, columns=tuple(columns)), "Money by cluster", "clusters")
    return Section("clusters", "Money by cluster", lead, (made,))


def _bar(row: FleetRow, most: int) -> str:
    """Draw what stays of a cluster's bill, the saving, and the bound as a line; the cells have the figures."""
    found = row.view.scenarios.values if row.view and row.view.scenarios else None
    return bill(paid(found.at_rest), paid(found.now), most, least=paid(found.bound)) if found and most else ""


def _blockers(view: FleetView) -> Section:
    made: list[Html] = []
    for kind in HOLDING:
        own = [each for each in view.holds if each.entry.kind is kind]
        if own:
            made += [
                element("h3", HEADINGS[kind]),
                html.table(blocker_table([*map(_hold, own)]), HEADINGS[kind], "blockers"),
            ]
    lead = "Over all clusters, ordered by the money that it holds, with what can be done about it."
    return Section("blockers", "What keeps nodes", lead, tuple(made))


def _hold(hold: FleetHold) -> dict[str, Any]:
    """Return a reason as the report's table of blockers takes it."""
    entry, reason = hold.entry, named(hold.entry.word, Unremovable, PodBlock)
    return {
        "month": entry.month,
        "cost": entry.cost,
        "nodes": entry.nodes,
        "sentence": entry.sentence,
        "reason": entry.word,
        "remedy": reason.remedy if reason else "",
        "about": some(hold.clusters_in_words, _CLUSTERS),
    }


def _installations(view: FleetView) -> Section:
    rows = [_installation(each.title, each.installation) for each in view.rows if each.installation]
    made = (html.table(Table.of(_STATES, rows), "Installations"),) if rows else ()
    lead = "By the state and policy of each. Faults are shown with the clusters."
    return Section("installations", "Installations", lead, made)


def _installation(title: str, health: InstallationHealth) -> tuple[str, ...]:
    status = health.status
    last = moment(status.last_pass) if status.last_pass else "never"
    numbers = (len(status.claims), len(status.backoffs), len(status.breakers))
    return (title, health.in_words, last, *(f"{each:,}" for each in numbers), monthly(health.saved))


def _basis(view: FleetView) -> Section:
    notes = element("ul", *(element("li", each) for each in view.notes), class_="notes")
    return Section("basis", "What the figures rest on", "", (notes,) if view.notes else ())
