"""The plan on a terminal: totals, one row a node, what the words mean, and one line that sums up.

Must not decide anything, and must not cut a word of a reason: `layout` leaves out columns instead.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.format import count, hourly, moment, monthly, some
from functions.cli.inputs import WARNING
from functions.cli.plan.layout import GAP, Layout, fit
from functions.cli.plan.legend import LegendEntry
from functions.cli.plan.view import PlanView, VerdictGroup
from shared.core.planning.plan import Verdict

STYLES: Final = {
    Verdict.ORDER: "bold green",
    Verdict.WOULD_ORDER: "bold green",
    Verdict.WAITING: "yellow",
    Verdict.IN_FLIGHT: "cyan",
    Verdict.KEEP: "",
}


def show(console: Console, view: PlanView) -> None:
    """Print the whole plan; its notes come first, because they say what it rests on."""
    show_notes(console, view.notes)
    console.print(_head(view))
    if not view.nodes:
        return
    _nodes(console, view.groups)
    console.print()
    console.print(_legend(view.legend))
    console.print()
    console.print(view.summary)


def show_notes(console: Console, notes: Sequence[str]) -> None:
    """Print what the plan rests on, before anything else."""
    for note in notes:
        console.print(note, style="yellow" if note.startswith(WARNING) else "italic")
    console.print()


def _head(view: PlanView) -> Table:
    head, totals = _grid(), view.totals
    head.add_row("Cluster", f"{view.cluster or 'unknown'}, {moment(view.taken_at)}")
    head.add_row("Nodes", f"{count(totals.nodes, 'node')} with {count(totals.pods, 'pod')}")
    head.add_row("Cost", f"{monthly(totals.cost)} a month ({hourly(totals.cost)} an hour)")
    head.add_row("Saving", view.saving)
    if view.potential_saving:
        head.add_row("Potential", view.potential_saving)
    return head


def _nodes(console: Console, groups: Sequence[VerdictGroup]) -> None:
    layout = fit([row for group in groups for row in group.nodes], console.width if console.is_terminal else None)
    if layout.prefix:
        console.print(f"\nNames of nodes begin with {layout.prefix}")
    console.print()
    console.print(_table(layout, groups))


def _table(layout: Layout, groups: Iterable[VerdictGroup]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, layout.gap, 0, 0), header_style="bold")
    for column in layout.columns:
        side: Literal["left", "right"] = "right" if column.right else "left"
        table.add_column(column.title, width=column.width, justify=side, overflow="fold")
    for number, group in enumerate(groups):
        if number:
            table.add_row()
        table.add_row(Text(group.title, style="bold"))
        for row in group.nodes:
            table.add_row(*(Text(column.cell(row)) for column in layout.columns), style=STYLES[group.verdict])
    return table


def _legend(entries: Sequence[LegendEntry]) -> Table:
    """Return the reasons with how many nodes and what they mean, and below each the first objects it is about."""
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    table.add_column("nodes", justify="right")
    table.add_column("reason", no_wrap=True)
    table.add_column("meaning")
    for entry in entries:
        table.add_row(f"{entry.nodes:,}", entry.word, entry.sentence)
        if entry.objects:
            table.add_row("", "", Text(some(entry.objects), style="dim"))
    return table


def _grid() -> Table:
    """Return a table of two columns: a word that is never broken, and text that wraps between words."""
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column()
    return grid
