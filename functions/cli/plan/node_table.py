"""The nodes that were asked for, one line each, in groups by verdict.

Must not choose nodes (`asked` does), nor cut a word of a reason: `layout` leaves out columns instead.
"""

from collections.abc import Mapping
from typing import Final, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.format import count
from functions.cli.options import Sort
from functions.cli.plan.asked import Shown
from functions.cli.plan.layout import Layout, fit
from functions.cli.plan.node_views import VerdictGroup
from shared.core.planning.plan import Verdict

STYLES: Final = {
    Verdict.ORDER: "bold green",
    Verdict.WOULD_ORDER: "bold green",
    Verdict.WAITING: "yellow",
    Verdict.IN_FLIGHT: "cyan",
    Verdict.KEEP: "",
}
_MOST_PREFIXES: Final = 4


def show(console: Console, given: Shown) -> None:
    """Print the nodes, and how many more there are."""
    if not given.nodes:
        console.print("No node is like that.")
        return
    width = console.width if console.is_terminal else None
    layout = fit(given.nodes, width, by_cost=given.sort is Sort.COST)
    if layout.prefixes:
        console.print(f"Names of nodes begin with {_lost(layout.prefixes)}\n")
    for number, group in enumerate(given.groups):
        if number:
            console.print()
        console.print(group.title, style="bold")
        console.print(_table(layout, group, heads=not number))
    if given.more:
        console.print(f"\n… and {count(given.more, 'node')} more: leave out --top.")


def _lost(prefixes: Mapping[str, str]) -> str:
    said = [f"{prefix} ({pool})" if pool else prefix for pool, prefix in sorted(prefixes.items())]
    more = len(said) - _MOST_PREFIXES
    return ", ".join(said[:_MOST_PREFIXES]) + (f" and {more} more" if more > 0 else "")


def _table(layout: Layout, group: VerdictGroup, *, heads: bool) -> Table:
    """Return the nodes of one verdict; all groups have columns of the same widths, and the first one names them."""
    table = Table(box=None, pad_edge=False, padding=(0, layout.gap, 0, 0), header_style="bold", show_header=heads)
    for column in layout.columns:
        side: Literal["left", "right"] = "right" if column.right else "left"
        table.add_column(column.title, width=column.width, justify=side, overflow="fold")
    for row in group.nodes:
        table.add_row(*(Text(column.cell(row)) for column in layout.columns), style=STYLES[group.verdict])
    return table
