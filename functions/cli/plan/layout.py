"""Which columns fit into a terminal: every node keeps one line and its whole reason, whatever the width.

What goes first is what is said elsewhere: the objects in the way stand in the legend, the verdict heads its
group, the beginning that all names share stands above the table, and the pool is part of a node's name.
Must not know more of a plan than its nodes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from functions.cli.format import percent
from functions.cli.plan.view import NodeView

GAP: Final = 2
ABOUT: Final = "because of"
LEAST_ABOUT: Final = 24
"""Narrower than this a pod's name would hardly ever fit."""
LEAST_NAME: Final = 12

_KEYS: Final = (
    ("node", "pool", "cpu", "mem", "go?", "verdict", "reason", "when (UTC)"),
    ("node", "pool", "cpu", "mem", "go?", "reason", "when (UTC)"),
    ("short", "pool", "cpu", "mem", "go?", "reason", "when (UTC)"),
    ("short", "cpu", "mem", "go?", "reason", "when (UTC)"),
)
"""The layouts, widest first."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its title, its cell of each row, its width, and whether numbers stand to the right."""

    title: str
    cell: Callable[[NodeView], str]
    width: int
    right: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns that were chosen; `prefix` is what the names in them have lost."""

    columns: tuple[Column, ...]
    prefix: str = ""
    gap: int = GAP

    @property
    def width(self) -> int:
        return sum(column.width for column in self.columns) + self.gap * (len(self.columns) - 1)


def fit(rows: Sequence[NodeView], width: int | None) -> Layout:
    """Return the first layout that fits into so many characters; None = a file, which has room for all."""
    prefix = _shared_beginning(rows)
    columns = _columns(rows, len(prefix))
    layouts = [
        Layout(tuple(columns[key] for key in keys if key in columns), prefix if "short" in keys else "")
        for keys in _KEYS
    ]
    if width is None:
        return _with_about(layouts[0], rows, max(len(ABOUT), *(len(row.about[0]) for row in rows)))
    tightest = replace(layouts[-1], gap=1)
    for layout in (*layouts, tightest):
        if layout.width <= width:
            return _with_about(layout, rows, width - layout.width - layout.gap)
    return _folded(tightest, width)


def _columns(rows: Sequence[NodeView], cut: int) -> dict[str, Column]:
    columns = {
        "node": _column("node", rows, lambda row: row.name),
        "short": _column("node", rows, lambda row: f"…{row.name[cut:]}" if cut else row.name),
        "pool": _column("pool", rows, lambda row: row.decision.pool or "-"),
        "cpu": _column("cpu", rows, lambda row: percent(row.decision.cpu_ratio), right=True),
        "mem": _column("mem", rows, lambda row: percent(row.decision.memory_ratio), right=True),
        "go?": _column("go?", rows, lambda row: "yes" if row.could_go else ""),
        "verdict": _column("verdict", rows, lambda row: row.verdict),
        "reason": _column("reason", rows, lambda row: row.decision.reason),
        "when (UTC)": _column("when (UTC)", rows, lambda row: row.when),
    }
    if not any(row.could_go for row in rows):
        del columns["go?"]
    return columns


def _column(title: str, rows: Sequence[NodeView], cell: Callable[[NodeView], str], *, right: bool = False) -> Column:
    return Column(title, cell, max(len(title), *(len(cell(row)) for row in rows)), right)


def _shared_beginning(rows: Sequence[NodeView]) -> str:
    """Return the beginning that all names share, up to a hyphen."""
    first, last = min(row.name for row in rows), max(row.name for row in rows)
    shared = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), 0)
    return first[: first.rfind("-", 0, shared) + 1]


def _with_about(layout: Layout, rows: Sequence[NodeView], room: int) -> Layout:
    """Add what stands in the way after the reason, each in the longest wording that has room."""

    def wording(row: NodeView) -> str:
        return next(each for each in row.about if len(each) <= room)

    longest = max(len(row.about[0]) for row in rows)
    if not longest or room < max(len(ABOUT), min(LEAST_ABOUT, longest)):
        return layout
    at = next(number for number, column in enumerate(layout.columns) if column.title == "reason") + 1
    about = Column(ABOUT, wording, max(len(ABOUT), *(len(wording(row)) for row in rows)))
    return replace(layout, columns=(*layout.columns[:at], about, *layout.columns[at:]))


def _folded(layout: Layout, width: int) -> Layout:
    """Give the name what room is left; a longer one goes on in the next line."""
    name, *others = layout.columns
    room = max(LEAST_NAME, name.width - (layout.width - width))
    return replace(layout, columns=(replace(name, width=room), *others))
