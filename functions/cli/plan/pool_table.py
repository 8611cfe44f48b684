"""The pools of a plan on a terminal: how many nodes, how full, what they cost, how many go, wait and stay.

No figure is ever cut: bars get narrower, titles shorter, a pool's name gives way, and at the end verdicts are left out.
Must not count: the view holds the sums.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.analysis.pool_summaries import PoolSummary
from functions.cli.plan.gauge import FIGURE, gauge
from functions.cli.plan.pool_columns import PoolColumn, columns, name_of, rows
from functions.cli.plan.view import PlanView

BARS: Final = (16, 12, 10, 8, 6, 4)
"""The widths of a bar, the widest that fits is taken."""
IN_A_FILE: Final = 10
GAPS: Final = (2, 1)
_LEAST_POOL: Final = 16
"""So much of a pool's name stays."""
REQUESTS: Final = "requests"
_MEMORY: Final = ("memory", "mem")


@dataclass(frozen=True, slots=True)
class PoolLayout:
    """What fits: the columns, the width of the two bars, the blanks between columns, and whether titles are short."""

    columns: tuple[PoolColumn, ...]
    bar: int
    gap: int
    name: int
    short: bool = False

    def titles(self) -> tuple[str, ...]:
        return tuple(each.short if self.short else each.title for each in self.columns)

    @property
    def memory(self) -> str:
        return _MEMORY[self.short]


def show(console: Console, view: PlanView, most: int | None = None) -> None:
    """Print one line for each pool, and one for all of them where there are several; `most` = so many pools at most."""
    given = rows(view, most)
    found = columns(view, given)
    longest = _longest(given)
    whole = PoolLayout(found, IN_A_FILE, max(GAPS), longest)
    layout = fit(given, found, console.width) if console.is_terminal else whole
    table = Table(box=None, pad_edge=False, padding=(0, layout.gap, 0, 0), header_style="bold")
    table.add_column("pool", overflow="ellipsis", no_wrap=True, max_width=layout.name)
    table.add_column("nodes", justify="right", no_wrap=True)
    for title in ("cpu", layout.memory):
        table.add_column(title, no_wrap=True)
    for title in layout.titles():
        table.add_column(title, justify="right", no_wrap=True)
    for row in given:
        cells = _cells(row, layout, plain=console.options.ascii_only)
        table.add_row(*cells, style="bold" if row.pool is None else "")
    console.print(table)
    console.print(Text(_meanings(layout), style="dim"))


def _meanings(layout: PoolLayout) -> str:
    """Return what the titles do not say by themselves."""
    told = (f"{title}: {each.meaning}" for title, each in zip(layout.titles(), layout.columns, strict=True)
            if each.meaning)  # fmt: skip
    return "; ".join((f"cpu, {layout.memory}: {REQUESTS}", *told))


def fit(given: Sequence[PoolSummary], found: Sequence[PoolColumn], width: int) -> PoolLayout:
    """Return the layout that says most in so many characters."""
    least = None
    for least in _layouts(given, found):
        if _width(given, least) <= width:
            break
    return least or PoolLayout(tuple(found), 0, min(GAPS), _LEAST_POOL, short=True)


def _layouts(given: Sequence[PoolSummary], found: Sequence[PoolColumn]) -> Iterator[PoolLayout]:
    """Yield layouts, the one that says most first."""
    spare = [each for each in found if not each.needed]
    longest = _longest(given)
    for name in dict.fromkeys((longest, min(longest, _LEAST_POOL))):
        for bars, short in ((BARS, False), (BARS, True), ((0,), False), ((0,), True)):
            yield from (PoolLayout(tuple(found), bar, gap, name, short) for bar in bars for gap in GAPS)
    for out in range(1, len(spare) + 1):
        chosen = tuple(each for each in found if each not in spare[:out])
        yield from (PoolLayout(chosen, bar, min(GAPS), min(longest, _LEAST_POOL), short=True) for bar in (4, 0))


def _longest(given: Sequence[PoolSummary]) -> int:
    return max(len("pool"), *(len(name_of(row)) for row in given))


def _cells(row: PoolSummary, layout: PoolLayout, *, plain: bool) -> list[Text]:
    bars = [gauge(ratio, layout.bar, plain=plain) for ratio in (row.cpu_ratio, row.memory_ratio)]
    figures = [Text(column.cell(row), style=column.style) for column in layout.columns]
    return [Text(name_of(row)), Text(f"{row.nodes:,}"), *map(Text, bars), *figures]


def _width(given: Sequence[PoolSummary], layout: PoolLayout) -> int:
    """Return the characters of a line."""
    cells = [
        max(len(title), *(len(column.cell(row)) for row in given))
        for title, column in zip(layout.titles(), layout.columns, strict=True)
    ]
    nodes = max(len("nodes"), *(len(f"{row.nodes:,}") for row in given))
    bars = layout.bar + FIGURE + max(layout.bar + FIGURE, len(layout.memory))
    return layout.name + nodes + bars + sum(cells) + layout.gap * (len(cells) + 3)
