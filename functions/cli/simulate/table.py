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


def show(console: Console, view: DaysView) -> None:
    """Print the runs, the plot and the notes."""
    console.print(f"{count(view.days, 'day')} of {view.cluster or 'the cluster'} from {moment(view.begins)}\n")
    console.print(_figures(view))
    console.print()
    for line in plot(view):
        console.print(Text(line))
    console.print()
    for note in view.notes:
        console.print(note)


def _figures(view: DaysView) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True)
    for run in view.runs:
        table.add_column(Text(run.name), justify="right", overflow="fold")
    table.add_column("", style="dim", overflow="fold")
    for column in COLUMNS:
        table.add_row(column.title, *(column.said(view, run) for run in view.runs), column.meaning)
    return table


def plot(view: DaysView) -> list[str]:
    """Return the nodes over time, one line of bars for each run, all to one scale."""
    rows = {run.name: view.points(run, _WIDTH) for run in view.runs}
    least, most = min(map(min, rows.values())), max(map(max, rows.values()))
    width = max(map(len, rows))
    lines = [
        f"{name:>{width}}  {''.join(_level(each, least, most) for each in points)}" for name, points in rows.items()
    ]
    return [f"Nodes over time, from {least} to {most}:", *lines]


def _level(nodes: int, least: int, most: int) -> str:
    return _LEVELS[(nodes - least) * (len(_LEVELS) - 1) // max(most - least, 1)]
