"""Simulated days on a terminal: one row for each figure, one column for each run, and the nodes over time.

Must not play anything.
"""

from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.format import count, moment
from functions.cli.simulate.view import COLUMNS, DaysView

_LEVELS: Final = "▁▂▃▄▅▆▇█"
_WIDTH: Final = 72
_GAP: Final = 2
_LEAST: Final = 16
"""Columns in which a meaning can be read."""


def show(console: Console, view: DaysView) -> None:
    """Print the runs, the plot and the notes."""
    console.print(f"{count(view.days, 'day')} of {view.cluster or 'the cluster'} from {moment(view.begins)}\n")
    console.print(_figures(view, console.width))
    console.print()
    for line in plot(view):
        console.print(Text(line))
    console.print()
    for note in view.notes:
        console.print(note)


def _figures(view: DaysView, width: int) -> Table:
    """Return the figures; what they mean stands beside them where there is room for it, and else in the docs."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True)
    for name in view.names:
        table.add_column(Text(name), justify="right", no_wrap=True)
    needed = max(len(column.title) for column in COLUMNS) + sum(map(len, view.names)) + _GAP * (len(view.names) + 1)
    explained = width - needed >= _LEAST
    if explained:
        table.add_column("", style="dim")
    for column in COLUMNS:
        said = (column.title, *(column.said(view, run) for run in view.runs))
        table.add_row(*said, *([column.meaning] if explained else []))
    return table


def plot(view: DaysView) -> list[str]:
    """Return the nodes over time, one line of bars for each run, all to one scale."""
    rows = {name: view.points(run, _WIDTH) for name, run in zip(view.names, view.runs, strict=True)}
    least, most = min(map(min, rows.values())), max(map(max, rows.values()))
    width = max(map(len, rows))
    lines = [
        f"{name:>{width}}  {''.join(_level(each, least, most) for each in points)}" for name, points in rows.items()
    ]
    return [f"Nodes over time, from {least} to {most}:", *lines]


def _level(nodes: int, least: int, most: int) -> str:
    return _LEVELS[(nodes - least) * (len(_LEVELS) - 1) // max(most - least, 1)]
