"""The pools of a plan: how many nodes, how full, what they cost, how many go, wait and stay; the sum below.

Must not count: the view holds the sums.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.format import monthly
from functions.cli.plan.gauge import FIGURE, gauge
from functions.cli.plan.view import PlanView
from shared.core.planning.plan import Verdict
from shared.core.planning.pool_summaries import GOING, PoolSummary

ALL: Final = "all pools"
BARS: Final = (16, 12, 10, 8, 6, 4)
"""The widths of a bar, the widest that fits is taken."""
IN_A_FILE: Final = 10
GAPS: Final = (2, 1)
_LEAST_POOL: Final = 16
_NONE: Final = "-"


@dataclass(frozen=True, slots=True)
class PoolColumn:
    """One column: its title, its cell of each row, and whether it stays where all of it is zero or room is short."""

    title: str
    cell: Callable[[PoolSummary], str]
    style: str = ""
    needed: bool = False


@dataclass(frozen=True, slots=True)
class PoolLayout:
    """What fits: the columns, the width of the two bars, and the blanks between columns."""

    columns: tuple[PoolColumn, ...]
    bar: int
    gap: int


def columns(view: PlanView) -> tuple[PoolColumn, ...]:
    """Return the columns besides name and bars, without those that say nothing of any pool."""
    could, rest = view.potential is not None, view.ladder is not None
    found = (
        PoolColumn("order", lambda pool: _count(pool, *GOING), "bold green", needed=not (could or rest)),
        PoolColumn("in flight", lambda pool: _count(pool, Verdict.IN_FLIGHT), "cyan"),
        PoolColumn("waiting", lambda pool: _count(pool, Verdict.WAITING), "yellow"),
        PoolColumn("keep", lambda pool: _count(pool, Verdict.KEEP)),
        PoolColumn("cost/mo", lambda pool: monthly(pool.cost), needed=True),
        PoolColumn("saved/mo", lambda pool: _money(pool.saving), "bold green", needed=not (could or rest)),
        PoolColumn("goes", lambda pool: f"{pool.rest_go:,}" if pool.rest_go else _NONE, "bold green", needed=rest),
        PoolColumn("at rest/mo", lambda pool: _saved(pool.rest_save), "bold green", needed=rest),
        PoolColumn("could go", lambda pool: f"{pool.could_go:,}" if pool.could_go else _NONE, needed=could),
        PoolColumn("could/mo", lambda pool: _money(pool.could_save), needed=could),
    )
    return tuple(each for each in found if each.needed or each.cell(view.whole) != _NONE)


def show(console: Console, view: PlanView) -> None:
    """Print one line for each pool, and one for all of them where there are several."""
    rows = [*view.pools, view.whole] if len(view.pools) > 1 else list(view.pools)
    given = columns(view)
    layout = fit(rows, given, console.width) if console.is_terminal else PoolLayout(given, IN_A_FILE, max(GAPS))
    table = Table(box=None, pad_edge=False, padding=(0, layout.gap, 0, 0), header_style="bold")
    table.add_column("pool", overflow="ellipsis", no_wrap=True)
    table.add_column("nodes", justify="right", no_wrap=True)
    for title in ("cpu", "memory"):
        table.add_column(title, no_wrap=True)
    for column in layout.columns:
        table.add_column(column.title, justify="right", no_wrap=True)
    for row in rows:
        cells = _cells(row, layout, plain=console.options.ascii_only)
        table.add_row(*cells, style="bold" if row.pool is None else "")
    console.print(table)


def fit(rows: Sequence[PoolSummary], given: Sequence[PoolColumn], width: int) -> PoolLayout:
    """Return the widest bars with which all fits, one verdict left out for them; then none, and fewer verdicts."""
    spare = [each for each in given if not each.needed]
    chosen = [tuple(each for each in given if each not in spare[:out]) for out in range(len(spare) + 1)]
    with_bars = (PoolLayout(each, bar, gap) for each in chosen[:2] for bar in BARS for gap in GAPS)
    without = (PoolLayout(each, 0, gap) for each in chosen for gap in GAPS)
    fitting = (each for each in (*with_bars, *without) if _width(rows, each, width) <= width)
    return next(fitting, PoolLayout(chosen[-1], 0, min(GAPS)))


def name_of(pool: PoolSummary) -> str:
    return ALL if pool.pool is None else pool.pool or "no pool"


def _cells(row: PoolSummary, layout: PoolLayout, *, plain: bool) -> list[Text]:
    bars = [gauge(ratio, layout.bar, plain=plain) for ratio in (row.cpu_ratio, row.memory_ratio)]
    figures = [Text(column.cell(row), style=column.style) for column in layout.columns]
    return [Text(name_of(row)), Text(f"{row.nodes:,}"), *map(Text, bars), *figures]


def _width(rows: Sequence[PoolSummary], layout: PoolLayout, width: int) -> int:
    """Return the characters of a line; a pool's name may be cut where it takes more than its share."""
    cells = [max(len(each.title), *(len(each.cell(row)) for row in rows)) for each in layout.columns]
    names = min(max(len(name_of(row)) for row in rows), max(_LEAST_POOL, width // 5))
    bars = layout.bar + FIGURE + max(layout.bar + FIGURE, len("memory"))
    return names + len("nodes") + bars + sum(cells) + layout.gap * (len(cells) + 3)


def _count(pool: PoolSummary, *verdicts: Verdict) -> str:
    found = sum(pool.verdicts.get(each, 0) for each in verdicts)
    return f"{found:,}" if found else _NONE


def _saved(amount: int) -> str:
    return f"-{monthly(amount)}" if amount else _NONE


def _money(amount: int) -> str:
    return monthly(amount) if amount else _NONE
