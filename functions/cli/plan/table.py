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
from functions.cli.plan.legend import Entry, legend
from functions.cli.plan.view import TITLES, VerdictGroup, groups
from shared.core.planning.plan import Plan, Potential, Verdict

STYLES: Final = {
    Verdict.ORDER: "bold green",
    Verdict.WOULD_ORDER: "bold green",
    Verdict.WAITING: "yellow",
    Verdict.IN_FLIGHT: "cyan",
    Verdict.KEEP: "",
}


def show(console: Console, plan: Plan, potential: Potential | None, notes: Sequence[str]) -> None:
    """Print the whole plan; `notes` come first, because they say what the plan rests on."""
    show_notes(console, notes)
    console.print(_head(plan, potential))
    if not plan.decisions:
        return
    _nodes(console, plan, potential)
    console.print()
    console.print(_legend(legend(plan)))
    console.print()
    console.print(_sum(plan))


def show_notes(console: Console, notes: Sequence[str]) -> None:
    """Print what the plan rests on, before anything else."""
    for note in notes:
        console.print(note, style="yellow" if note.startswith(WARNING) else "italic")
    console.print()


def _head(plan: Plan, potential: Potential | None) -> Table:
    head = _grid()
    head.add_row("Cluster", f"{plan.cluster or 'unknown'}, {moment(plan.taken_at)}")
    head.add_row("Nodes", f"{count(len(plan.decisions), 'node')} with {count(plan.pods, 'pod')}")
    head.add_row("Cost", f"{monthly(plan.cost)} a month ({hourly(plan.cost)} an hour)")
    head.add_row("Saving", _saving(plan))
    if potential is not None:
        head.add_row("Potential", _potential(plan, potential))
    return head


def _saving(plan: Plan) -> str:
    orders = count(len(plan.orders), "order")
    why = " (dry run: nothing is ordered)" if plan.dry_run else " (only shown: ebb plan orders nothing)"
    return f"{monthly(plan.saving)} a month by {orders}{why}"


def _potential(plan: Plan, potential: Potential) -> str:
    share = f", {potential.saving * 100 // plan.cost}% of the cost" if plan.cost else ""
    nodes = count(len(potential.nodes), "node")
    return f"{monthly(potential.saving)} a month by {nodes}{share}, with only the safety rules in force"


def _nodes(console: Console, plan: Plan, potential: Potential | None) -> None:
    parts = groups(plan, frozenset(potential.nodes if potential else ()))
    layout = fit([row for part in parts for row in part.rows], console.width if console.is_terminal else None)
    if layout.prefix:
        console.print(f"\nNames of nodes begin with {layout.prefix}")
    console.print()
    console.print(_table(layout, parts))


def _table(layout: Layout, parts: Iterable[VerdictGroup]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, layout.gap, 0, 0), header_style="bold")
    for column in layout.columns:
        side: Literal["left", "right"] = "right" if column.right else "left"
        table.add_column(column.title, width=column.width, justify=side, overflow="fold")
    for number, part in enumerate(parts):
        if number:
            table.add_row()
        table.add_row(Text(part.title, style="bold"))
        for row in part.rows:
            table.add_row(*(Text(column.cell(row)) for column in layout.columns), style=STYLES[part.verdict])
    return table


def _legend(entries: Sequence[Entry]) -> Table:
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


def _sum(plan: Plan) -> str:
    said = [f"{TITLES[Verdict(word)]}: {number:,}" for word, number in plan.counts().items() if number]
    return f"{', '.join(said)}; {monthly(plan.saving)} of {monthly(plan.cost)} a month would be saved."


def _grid() -> Table:
    """Return a table of two columns: a word that is never broken, and text that wraps between words."""
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column()
    return grid
