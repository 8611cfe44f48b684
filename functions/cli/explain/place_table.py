"""Pods with the nodes that they are on or go to: at a narrow terminal names lose the beginning that all of them share.

Must not decide where anything goes.
"""

from collections.abc import Callable, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.analysis.explanation import PodPlace
from functions.cli.plan.layout import shared_beginning

Cells = tuple[str, ...]
NOWHERE = "nowhere"
NOT_SAID = "not said"
NONE = "-"
_WORDS = frozenset({NOWHERE, NOT_SAID, NONE, "with its node"})
_GAP = 2


def show(
    console: Console, titles: Sequence[str], rows: Sequence[Cells], nodes: Sequence[int], pools: Mapping[str, str]
) -> None:
    """Print one line for each row; `nodes` are the places of the columns that hold names of nodes, `pools` theirs."""
    shown, begins = _fit(console, titles, rows, nodes, pools)
    if begins:
        console.print(f"Names of nodes begin with {begins}")
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in shown:
        table.add_row(*map(Text, row))
    console.print(table)


def place_of(each: PodPlace) -> str:
    """Return where a pod would go, in one cell."""
    return NOT_SAID if each.landing.fixed else each.landing.node or NOWHERE


def kept_by(each: PodPlace) -> str:
    return ", ".join(dict.fromkeys(blocker.reason.value for blocker in each.blockers))


def _fit(
    console: Console, titles: Sequence[str], rows: Sequence[Cells], nodes: Sequence[int], pools: Mapping[str, str]
) -> tuple[Sequence[Cells], str]:
    """Return the rows with names as long as there is room for, and what these have lost."""
    names = sorted({row[at] for row in rows for at in nodes} - _WORDS)
    if not console.is_terminal or not names or _width(titles, rows) <= console.width:
        return rows, ""
    tried = [
        ([tuple(_worded(cell, wording, is_node=at in nodes) for at, cell in enumerate(row)) for row in rows], begins)
        for wording, begins in _wordings(names, pools)
    ]
    return next((each for each in tried if _width(titles, each[0]) <= console.width), tried[-1])


def _wordings(names: Sequence[str], pools: Mapping[str, str]) -> Sequence[tuple[Callable[[str], str], str]]:
    """Return ways to say a name and what each leaves out: what all share goes first, then what those of a pool share.

    Then the pool is said in its place, and at the end left out, too.
    """
    shared = shared_beginning(names)
    by_pool: dict[str, list[str]] = {}
    for name in names:
        by_pool.setdefault(pools.get(name, ""), []).append(name)
    own = {pool: shared_beginning(each) for pool, each in by_pool.items()}
    told = ", ".join(f"{begin} ({pool})" if pool else begin for pool, begin in sorted(own.items()) if begin)
    return (
        (lambda name: _cut(name, shared), shared),
        (lambda name: f"{pools.get(name, '')} {_cut(name, own[pools.get(name, '')])}".lstrip(), told),
        (lambda name: _cut(name, own[pools.get(name, "")]), told),
    )


def _worded(cell: str, wording: Callable[[str], str], *, is_node: bool) -> str:
    return wording(cell) if is_node and cell not in _WORDS else cell


def _width(titles: Sequence[str], rows: Sequence[Cells]) -> int:
    widths = [max(len(title), *(len(row[at]) for row in rows)) for at, title in enumerate(titles)]
    return sum(widths) + _GAP * (len(titles) - 1)


def _cut(name: str, beginning: str) -> str:
    return f"…{name[len(beginning) :]}" if beginning and name.startswith(beginning) else name
