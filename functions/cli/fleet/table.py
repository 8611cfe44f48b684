"""The fleet on a terminal: a line a cluster with what is amiss below it, the sum, what holds money, what it rests on.

Must not word anything: `cells` does.
"""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from functions.cli.fleet.cells import TITLES, FleetLine, lines, titles, total
from functions.cli.fleet.view import FleetView
from functions.cli.plan import blocker_table
from functions.cli.plan.layout import GAP
from functions.cli.plan.notes import show_notes
from functions.cli.plan.sum_detail import DETAILS

_INDENT: Final = 2
_ROOM_FOR_OBJECTS: Final = 100
_LEFT: Final = (0, 1 + len(TITLES))
"""The columns of words; figures stand to the right."""


def show(console: Console, view: FleetView, top: int | None) -> None:
    """Print the fleet."""
    rows, whole = lines(view, top), total(view)
    widths = _widths([titles(view), *(row.cells for row in rows), whole])
    _print(console, FleetLine(titles(view)), widths, "bold")
    for row in rows:
        _print(console, row, widths)
    if len(view.rows) > 1:
        _print(console, FleetLine(whole), widths, "bold")
    detail = DETAILS[0] if not console.is_terminal or console.width >= _ROOM_FOR_OBJECTS else DETAILS[1]
    blocker_table.show_first(console, [each.as_entry for each in view.holds], detail)
    console.print()
    show_notes(console, view.notes)
    if view.headline:
        console.print(view.headline)


def _print(console: Console, row: FleetLine, widths: Sequence[int], style: str = "") -> None:
    cells = (
        _padded(cell, width, right=number not in _LEFT)
        for number, (cell, width) in enumerate(zip(row.cells, widths, strict=True))
    )
    console.print(Text((" " * GAP).join(cells).rstrip()), style=style)
    for sentence in row.below:
        console.print(Padding(Text(sentence, style="yellow"), (0, 0, 0, _INDENT)))


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(cell_len, column)) for column in zip(*rows, strict=True)]


def _padded(cell: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - cell_len(cell))
    return f"{blanks}{cell}" if right else f"{cell}{blanks}"
