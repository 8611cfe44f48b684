"""What keeps nodes, the most money first: what is said of nodes and what is said of pods under their own headings.

Must not count: the legend does.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.format import monthly, some
from functions.cli.plan.layout import GAP
from functions.cli.plan.legend import HOLDING, LegendEntry, WordKind

HEADINGS: Final[Mapping[WordKind, str]] = {
    WordKind.GOES: "Why nodes go",
    WordKind.NODE: "Why nodes stay: each node counts once",
    WordKind.POD: "Pods that keep nodes: a node counts in each line that is true of it",
    WordKind.ALSO: "What else stands in their way",
}
IN_SUM: Final = 4
"""Reasons of a kind that the sum names; all stand below the nodes."""
_OBJECTS: Final = 3
_ONE: Final = 1
_ROOM_FOR_ONE: Final = 100
"""In narrower terminals a sum that fits one screen names none."""


def show(console: Console, entries: Sequence[LegendEntry], *, whole: bool) -> None:
    """Print each kind under its heading; where it is not the whole, the first of the two that rank blockers."""
    for kind in WordKind if whole else HOLDING:
        own = [each for each in entries if each.kind is kind]
        if own:
            console.print()
            console.print(Text(HEADINGS[kind], style="bold"))
            objects = _OBJECTS if whole else _ONE if console.width >= _ROOM_FOR_ONE else 0
            console.print(_table(own if whole else own[:IN_SUM], objects, len(own)))


def _table(entries: Sequence[LegendEntry], objects: int, all_of_them: int) -> Table:
    """Return the reasons with money, nodes and meaning, and below each the first objects it is about."""
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    table.add_column("holds/mo", justify="right", no_wrap=True)
    table.add_column("nodes", justify="right", no_wrap=True)
    table.add_column("reason", no_wrap=True)
    table.add_column("meaning")
    for entry in entries:
        table.add_row(monthly(entry.cost), f"{entry.nodes:,}", entry.word, entry.sentence)
        if entry.objects and objects:
            table.add_row("", "", "", Text(some(entry.objects, objects), style="dim"))
    if len(entries) < all_of_them:
        table.add_row("", "", f"… {all_of_them - len(entries)} more")
    return table
