"""Parts of an explanation's pages: facts in two columns, blockers by reason, lists of nodes, pods with their places."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.analysis.explanation import PodPlace
from functions.cli.output.format import count, shared_beginning
from functions.cli.plan.view import BlockerView
from shared.core.reasons import Unremovable

Fact = tuple[str, str | Text]


def facts(rows: Iterable[Fact] = ()) -> Table:
    """Return a grid of two columns."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for row in rows:
        grid.add_row(*row)
    return grid


_MOST: Final = 6
"""Pods of one reason that are named; all of them stand in the list of pods."""


def blockers(found: Sequence[BlockerView]) -> Table:
    """Return each reason once, with all that it is about."""
    table = facts()
    for number, (reason, own) in enumerate(by_reason(found).items(), start=1):
        table.add_row(f"{number}.", Text(reason, style="bold"))
        for line in lines(own):
            table.add_row("", line)
    return table


def by_reason(found: Iterable[BlockerView]) -> dict[str, list[BlockerView]]:
    """Return what was found by its reason; that pods block is said by the pods' own reasons, where there are any."""
    rows: dict[str, list[BlockerView]] = {}
    for each in found:
        rows.setdefault(each.reason, []).append(each)
    if len(rows) > 1:
        rows.pop(Unremovable.BLOCKED_BY_POD.value, None)
    return rows


def lines(own: Sequence[BlockerView]) -> Iterator[str]:
    """Yield what a reason is about, what it means, and what can be done."""
    first, rest = own[0], len(own) - _MOST
    yield from filter(None, (" ".join(part for part in (each.object, each.detail) if part) for each in own[:_MOST]))
    if rest > 0:
        yield f"and {rest:,} more"
    yield first.sentence
    if first.message_id:
        yield f"The cluster autoscaler calls it {first.message_id}."
    yield first.remedy


_FEW: Final = 3
"""Nodes of a pool that are named."""
_MOST_POOLS: Final = 4
_NO_POOL: Final = "no pool"


class NodeNamer:
    """Names nodes of one cluster; `cut` leaves out what the names of a pool begin with, for a terminal."""

    def __init__(self, pools: Mapping[str, str], *, cut: bool) -> None:
        """Take the pool of each node."""
        self._pools = pools
        self._all = _by_pool(pools, pools)
        self._begin = {pool: shared_beginning(own) if cut else "" for pool, own in self._all.items()}

    def said(self, names: Iterable[str], leaving: str = "") -> str:
        """Return the nodes in words, the most of a pool first; `leaving` is the node that a pool counts without."""
        found = sorted(_by_pool(names, self._pools).items(), key=lambda each: (-len(each[1]), each[0]))
        told = [self._of_pool(pool, own, leaving) for pool, own in found[:_MOST_POOLS]]
        rest = found[_MOST_POOLS:]
        if rest:
            told.append(f"{sum(len(own) for _, own in rest):,} of {count(len(rest), 'more pool')}")
        return "; ".join(told)

    def _of_pool(self, pool: str, own: Sequence[str], leaving: str) -> str:
        name, others = pool or _NO_POOL, [each for each in self._all[pool] if each != leaving]
        if len(own) == len(others) and len(own) > 1:
            return f"all {len(own):,} of {name}"
        first = ", ".join(self._cut(each, pool) for each in sorted(own)[:_FEW])
        more = f" and {len(own) - _FEW:,} more" if len(own) > _FEW else ""
        return f"{first}{more} of {name}"

    def _cut(self, name: str, pool: str) -> str:
        begin = self._begin[pool]
        return f"…{name.removeprefix(begin)}" if begin else name


def _by_pool(names: Iterable[str], pools: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(pools[name], []).append(name)
    return found


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
