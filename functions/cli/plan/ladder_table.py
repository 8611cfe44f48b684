"""The ladder on a terminal: a line for each rung, and below it what the figures do not say. Must not word anything."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.plan.ladder_rows import LadderRow
from functions.cli.plan.layout import GAP
from functions.cli.plan.view import LadderView

TITLES: Final = ("", "nodes", "a month", "a year", "saved", "evictions a node")
SHORTER: Final = (*TITLES[:-1], "per node")
"""Where a rung's name needs the room: what it counts is said below the table."""
PER_NODE: Final = "per node: evictions for each node that goes."


def show(console: Console, ladder: LadderView) -> None:
    """Print the ladder."""
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    titles = TITLES if _width(ladder, TITLES) <= console.width else SHORTER
    for number, title in enumerate(titles):
        table.add_column(title, justify="right" if number else "left", overflow="fold", no_wrap=number > 0)
    for row in ladder.rows:
        table.add_row(*map(Text, cells_of(row)), style="dim" if row.relaxed else "")
    console.print(table)
    if titles is SHORTER:
        console.print(PER_NODE, style="dim")
    for sentence in ladder.sentences:
        console.print(sentence)
    console.print()


def cells_of(row: LadderRow) -> tuple[str, ...]:
    """Return what stands in a row, under `TITLES`."""
    return row.title, row.nodes, row.month, row.year, row.share, row.evictions


def _width(ladder: LadderView, titles: Sequence[str]) -> int:
    """Return the characters that a line takes whole."""
    columns = zip(titles, *map(cells_of, ladder.rows), strict=True)
    return sum(max(map(len, column)) for column in columns) + GAP * (len(titles) - 1)
