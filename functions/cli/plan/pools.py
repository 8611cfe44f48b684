"""The pools of a plan: node counts, how full they are, cost, and which columns carry information."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.analysis.pools import GOING, PoolSummary, whole_cluster
from functions.cli.output.format import monthly, monthly_parts, percent
from functions.cli.plan.view import PlanView
from shared.core.planning.plan import Verdict

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_EMPTY: Final = "·"
FIGURE: Final = 5
"""Characters of the figure and the blank before it; a ratio above one has three digits."""


def gauge(ratio: Fraction | None, width: int, *, plain: bool = False) -> str:
    """Return a bar of so many characters and the figure; `plain` is for terminals that know ASCII only."""
    figure = percent(ratio).rjust(FIGURE)
    if ratio is None or not width:
        return " " * width + figure
    return (_plain(ratio, width) if plain else _fine(ratio, width)) + figure


def _fine(ratio: Fraction, width: int) -> str:
    eighths = min(int(ratio * width * 8), width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width, _EMPTY)


def _plain(ratio: Fraction, width: int) -> str:
    return ("#" * min(int(ratio * width), width)).ljust(width, ".")


ALL: Final = "all pools"
NONE: Final = "-"


@dataclass(frozen=True, slots=True)
class PoolColumn:
    """One column: its title, a shorter one, its cell of each row, and whether it stays where room is short."""

    title: str
    short: str
    cell: Callable[[PoolSummary], str]
    style: str = ""
    needed: bool = False
    meaning: str = ""
    """What the title does not say by itself."""


def rows(view: PlanView, most: int | None = None) -> tuple[PoolSummary, ...]:
    """Return the pools, and all of them where there are several; of more than `most` the lesser ones are one row."""
    pools = view.pools if most is None or len(view.pools) <= most else _with_rest(view, most - 1)
    return (*pools, view.whole) if len(pools) > 1 else pools


def columns(view: PlanView, given: Sequence[PoolSummary]) -> tuple[PoolColumn, ...]:
    """Return the columns besides name, nodes and bars, without those that say nothing of any pool."""
    could, rest = view.potential is not None, view.ladder is not None
    go, green = not (could or rest), "bold green"
    found = (
        PoolColumn("order", "order", _count(*GOING), green, needed=go),
        PoolColumn("in flight", "flight", _count(Verdict.IN_FLIGHT), "cyan"),
        PoolColumn("waiting", "wait", _count(Verdict.WAITING), "yellow"),
        PoolColumn("keep", "keep", _count(Verdict.KEEP)),
        PoolColumn("cost/mo", "cost/mo", _money(given, lambda pool: pool.cost), needed=True),
        PoolColumn("order/mo", "order/mo", _money(given, lambda pool: pool.saving), green, needed=go),
        PoolColumn("goes", "goes", lambda pool: f"{pool.rest_go:,}" if pool.rest_go else NONE, green, needed=rest,
                   meaning="gone at rest"),
        PoolColumn("goes/mo", "goes/mo", _money(given, lambda pool: pool.rest_save), green, needed=rest),
        PoolColumn("could go", "could", lambda pool: f"{pool.could_go:,}" if pool.could_go else NONE, needed=could,
                   meaning="by the safety rules alone"),
        PoolColumn("could/mo", "could/mo", _money(given, lambda pool: pool.could_save), needed=could),
    )  # fmt: skip
    return tuple(each for each in found if each.needed or each.cell(view.whole) != NONE)


def name_of(pool: PoolSummary) -> str:
    return ALL if pool.pool is None else pool.pool or "no pool"


def _with_rest(view: PlanView, most: int) -> tuple[PoolSummary, ...]:
    ranked = sorted(view.pools, key=lambda pool: (-pool.rest_save, -pool.could_save, -pool.cost, name_of(pool)))
    named = {pool.pool for pool in ranked[:most]}
    others = [node.decision for node in view.nodes if node.decision.pool not in named]
    gone = view.ladder.ladder.gone if view.ladder else ()
    rest = whole_cluster(others, view.potential.nodes if view.potential else (), gone)
    title = f"{len(view.pools) - most:,} more pools"
    return (*(pool for pool in view.pools if pool.pool in named), replace(rest, pool=title))


def _count(*verdicts: Verdict) -> Callable[[PoolSummary], str]:
    def cell(pool: PoolSummary) -> str:
        found = sum(pool.verdicts.get(each, 0) for each in verdicts)
        return f"{found:,}" if found else NONE

    return cell


def _money(given: Sequence[PoolSummary], amount: Callable[[PoolSummary], int]) -> Callable[[PoolSummary], str]:
    """Return cells of which the pools' add up to that of all."""
    pools = [pool for pool in given if pool.pool is not None]
    parts = monthly_parts([amount(pool) for pool in pools])
    told: Mapping[str | None, str] = {pool.pool: part for pool, part in zip(pools, parts, strict=True)}

    def cell(pool: PoolSummary) -> str:
        return told.get(pool.pool) or monthly(amount(pool)) if amount(pool) else NONE

    return cell


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
