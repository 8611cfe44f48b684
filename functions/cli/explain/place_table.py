"""Pods with the nodes that they are on or go to: at a narrow terminal names lose the beginning that all of them share.

Must not decide where anything goes.
"""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.plan.layout import shared_beginning
from shared.core.planning.explanation import PodPlace

Cells = tuple[str, ...]
NOWHERE = "nowhere"
NOT_SAID = "not said"
NONE = "-"
_WORDS = frozenset({NOWHERE, NOT_SAID, NONE, "with its node"})
_GAP = 2


def show(console: Console, titles: Sequence[str], rows: Sequence[Cells], nodes: Sequence[int]) -> None:
    """Print one line for each row; `nodes` are the places of the columns that hold names of nodes."""
    beginning = _beginning(console, titles, rows, nodes)
    if beginning:
        console.print(f"Names of nodes begin with {beginning}")
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        cells = (_cut(cell, beginning) if at in nodes else cell for at, cell in enumerate(row))
        table.add_row(*map(Text, cells))
    console.print(table)


def place_of(each: PodPlace) -> str:
    """Return where a pod would go, in one cell."""
    return NOT_SAID if each.landing.fixed else each.landing.node or NOWHERE


def kept_by(each: PodPlace) -> str:
    return ", ".join(dict.fromkeys(blocker.reason.value for blocker in each.blockers))


def _beginning(console: Console, titles: Sequence[str], rows: Sequence[Cells], nodes: Iterable[int]) -> str:
    """Return what names may lose; empty where the whole ones fit."""
    widths = [max(len(title), *(len(row[at]) for row in rows)) for at, title in enumerate(titles)]
    if not console.is_terminal or sum(widths) + _GAP * (len(titles) - 1) <= console.width:
        return ""
    names = {row[at] for row in rows for at in nodes} - _WORDS
    return shared_beginning(sorted(names)) if names else ""


def _cut(name: str, beginning: str) -> str:
    return f"…{name[len(beginning) :]}" if beginning and name.startswith(beginning) else name
