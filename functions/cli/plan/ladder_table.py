"""The ladder on a terminal: a line for each rung, and below it what the figures do not say. Must not word anything."""

from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.plan.layout import GAP
from functions.cli.plan.view import LadderView

TITLES: Final = ("", "nodes", "a month", "a year", "evictions a node")


def show(console: Console, ladder: LadderView) -> None:
    """Print the ladder."""
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for number, title in enumerate(TITLES):
        table.add_column(title, justify="right" if number else "left", overflow="fold", no_wrap=number > 0)
    for row in ladder.rows:
        cells = (row.title, row.nodes, row.month, row.year, row.evictions)
        table.add_row(*map(Text, cells), style="dim" if row.relaxed else "")
    console.print(table)
    for sentence in ladder.sentences:
        console.print(sentence)
    console.print()
