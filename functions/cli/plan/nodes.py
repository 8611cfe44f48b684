"""The nodes of a plan on a terminal: one line each, in groups by verdict, with its whole reason at any width.

A narrow terminal loses columns in this order: the verdict (it heads its group), the beginning that all names share,
the beginning within a pool, then words of the blocker.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.input.options import Sort
from functions.cli.output.format import GAP, count, monthly, percent, shared_beginning
from functions.cli.plan.view import NodeView, Shown, VerdictGroup
from shared.core.planning.plan import Verdict

ABOUT: Final = "because of"
LEAST_ABOUT: Final = 20
"""Narrower than this a pod's name would hardly ever fit."""
LEAST_NAME: Final = 12

COST: Final = "cost/mo"
_KEYS: Final = (
    ("node", "pool", "cpu", "mem", COST, "go?", "verdict", "reason", "when (UTC)"),
    ("node", "pool", "cpu", "mem", "go?", "verdict", "reason", "when (UTC)"),
    ("node", "pool", "cpu", "mem", "go?", "reason", "when (UTC)"),
    ("short", "pool", "cpu", "mem", "go?", "reason", "when (UTC)"),
    ("tail", "pool", "cpu", "mem", "go?", "reason", "when (UTC)"),
    ("short", "cpu", "mem", "go?", "reason", "when (UTC)"),
)
"""The layouts, widest first; what nodes are sorted by stays in each."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its title, its cell of each row, its width, and whether numbers stand to the right."""

    title: str
    cell: Callable[[NodeView], str]
    width: int
    right: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns that were chosen; `prefixes` is what the names in them have lost, by pool or (empty key) of all."""

    columns: tuple[Column, ...]
    prefixes: Mapping[str, str] = field(default_factory=dict)
    gap: int = GAP

    @property
    def width(self) -> int:
        return sum(column.width for column in self.columns) + self.gap * (len(self.columns) - 1)


def fit(rows: Sequence[NodeView], width: int | None, *, by_cost: bool = False) -> Layout:
    """Return the layout that says most in so many characters; None = a file, which has room for all.

    `by_cost` = the nodes are sorted by it, so that it is shown whatever else has to go.
    """
    layouts = _layouts(rows, by_cost=by_cost)
    longest, shorter = (max(len(row.about[min(place, len(row.about) - 1)]) for row in rows) for place in (0, 1))
    if width is None:
        return _with_about(layouts[0], rows, max(len(ABOUT), longest))
    for wording in (longest, shorter):
        for layout in layouts:
            if wording and layout.width + layout.gap + max(wording, len(ABOUT)) <= width:
                return _with_about(layout, rows, width - layout.width - layout.gap)
    return _without_whole_cause(layouts, rows, width, longest)


def _without_whole_cause(layouts: Sequence[Layout], rows: Sequence[NodeView], width: int, longest: int) -> Layout:
    narrow = min(layouts, key=lambda each: each.width)
    room = width - narrow.width - narrow.gap
    if longest and room >= max(len(ABOUT), LEAST_ABOUT):
        return _with_about(narrow, rows, room)
    tightest = replace(narrow, gap=1)
    fitting = (layout for layout in (*layouts, tightest) if layout.width <= width)
    return next(fitting, None) or _folded(tightest, width)


def _layouts(rows: Sequence[NodeView], *, by_cost: bool) -> list[Layout]:
    shared = shared_beginning([row.name for row in rows])
    by_pool: dict[str, list[str]] = {}
    for row in rows:
        by_pool.setdefault(row.decision.pool, []).append(row.name)
    tails = {pool: shared_beginning(names) for pool, names in by_pool.items()}
    columns = _columns(rows, shared, tails)
    lost = {"short": {"": shared} if shared else {}, "tail": {pool: each for pool, each in tails.items() if each}}
    chosen = [_with_cost(keys) for keys in _KEYS] if by_cost else _KEYS
    return [Layout(tuple(columns[key] for key in keys if key in columns), lost.get(keys[0], {})) for keys in chosen]


def _with_cost(keys: tuple[str, ...]) -> tuple[str, ...]:
    if COST in keys:
        return keys
    at = keys.index("mem") + 1
    return (*keys[:at], COST, *keys[at:])


def _columns(rows: Sequence[NodeView], shared: str, tails: Mapping[str, str]) -> dict[str, Column]:
    columns = {
        "node": _column("node", rows, lambda row: row.name),
        "short": _column("node", rows, lambda row: _cut(row.name, shared)),
        "tail": _column("node", rows, lambda row: _cut(row.name, tails.get(row.decision.pool, ""))),
        "pool": _column("pool", rows, lambda row: row.decision.pool or "-"),
        "cpu": _column("cpu", rows, lambda row: percent(row.decision.cpu_ratio), right=True),
        "mem": _column("mem", rows, lambda row: percent(row.decision.memory_ratio), right=True),
        COST: _column(COST, rows, lambda row: monthly(row.decision.cost), right=True),
        "go?": _column("go?", rows, lambda row: "yes" if row.could_go else ""),
        "verdict": _column("verdict", rows, lambda row: row.verdict),
        "reason": _column("reason", rows, lambda row: row.reason),
        "when (UTC)": _column("when (UTC)", rows, lambda row: row.when),
    }
    if not any(row.could_go for row in rows):
        del columns["go?"]
    return columns


def _column(title: str, rows: Sequence[NodeView], cell: Callable[[NodeView], str], *, right: bool = False) -> Column:
    return Column(title, cell, max(len(title), *(len(cell(row)) for row in rows)), right)


def _cut(name: str, beginning: str) -> str:
    return f"…{name[len(beginning) :]}" if beginning and name.startswith(beginning) else name


def _with_about(layout: Layout, rows: Sequence[NodeView], room: int) -> Layout:
    """Add what stands in the way after the reason, each in the longest wording that has room."""
    if not any(row.about[0] for row in rows):
        return layout

    def wording(row: NodeView) -> str:
        return next(each for each in row.about if len(each) <= room)

    at = next(number for number, column in enumerate(layout.columns) if column.title == "reason") + 1
    about = Column(ABOUT, wording, max(len(ABOUT), *(len(wording(row)) for row in rows)))
    return replace(layout, columns=(*layout.columns[:at], about, *layout.columns[at:]))


def _folded(layout: Layout, width: int) -> Layout:
    """Give the name what room is left; a longer one goes on in the next line."""
    name, *others = layout.columns
    room = max(LEAST_NAME, name.width - (layout.width - width))
    return replace(layout, columns=(replace(name, width=room), *others))


STYLES: Final = {
    Verdict.ORDER: "bold green",
    Verdict.WOULD_ORDER: "bold green",
    Verdict.WAITING: "yellow",
    Verdict.IN_FLIGHT: "cyan",
    Verdict.KEEP: "",
}
_MOST_PREFIXES: Final = 4


def show_nodes(console: Console, given: Shown) -> None:
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
        console.print(_node_table(layout, group, heads=not number))
    if given.more:
        console.print(f"\n… and {count(given.more, 'node')} more: leave out --top.")


def _lost(prefixes: Mapping[str, str]) -> str:
    said = [f"{prefix} ({pool})" if pool else prefix for pool, prefix in sorted(prefixes.items())]
    more = len(said) - _MOST_PREFIXES
    return ", ".join(said[:_MOST_PREFIXES]) + (f" and {more} more" if more > 0 else "")


def _node_table(layout: Layout, group: VerdictGroup, *, heads: bool) -> Table:
    """Return the nodes of one verdict; all groups have columns of the same widths, and the first one names them."""
    table = Table(box=None, pad_edge=False, padding=(0, layout.gap, 0, 0), header_style="bold", show_header=heads)
    for column in layout.columns:
        side: Literal["left", "right"] = "right" if column.right else "left"
        table.add_column(column.title, width=column.width, justify=side, overflow="fold")
    for row in group.nodes:
        table.add_row(*(Text(column.cell(row)) for column in layout.columns), style=STYLES[group.verdict])
    return table
