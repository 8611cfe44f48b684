"""The history on a terminal: a line a drain, its reason under it where there is no room beside it.

Must not decide what is shown; `history` does.
"""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.drains.history import History, PastDrain
from functions.cli.format import clock, count, moment, monthly, span
from functions.cli.plan.layout import shared_beginning

_ROOM_BESIDE = 150
"""From here on who ordered a drain and what it ended with have columns of their own."""
_GAP = 2
_LEAST_WHY = 40


def show(console: Console, history: History) -> None:
    """Print the drains, how many ended how, and what is saved now."""
    console.print(f"{history.cluster}, {moment(history.now)}\n")
    if not history.drains:
        console.print("No drain has ended in the last 30 days.")
        return
    _show(console, history)
    counted = ", ".join(f"{outcome}: {number:,}" for outcome, number in history.outcomes.items())
    more = sum(history.outcomes.values()) - len(history.drains)
    console.print(f"\n{counted}{f'; {more:,} older ones are not shown' if more else ''}.")
    nodes = count(history.saved_nodes, "node")
    console.print(f"Still saved: {nodes} removed within a day and not come back, {monthly(history.saved)} a month.")


def _show(console: Console, history: History) -> None:
    """Print a line a drain; a name of a node loses what all share before it is broken."""
    names, rows = (
        [past.record.order.node for past in history.drains],
        [_cells(past, history) for past in history.drains],
    )
    beside = [_beside(past) for past in history.drains]
    wide = not console.is_terminal or (
        console.width >= _ROOM_BESIDE and _width(rows, names, [who for who, _ in beside]) + _LEAST_WHY <= console.width
    )
    begin = "" if wide or _width(rows, names) <= console.width else shared_beginning(names)
    if begin:
        console.print(f"Names of nodes begin with {begin}")
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for title in (*_TITLES, "node", *(("ordered", "why") if wide else ())):
        table.add_column(title, no_wrap=title in _TITLES, overflow="fold")
    for cells, name, (who, why) in zip(rows, names, beside, strict=True):
        shown = f"…{name.removeprefix(begin)}" if begin else name
        table.add_row(*map(Text, (*cells, shown, *((who, why) if wide else ()))))
        if not wide:
            table.add_row(*("" for _ in cells), Text("; ".join(filter(None, (who, why))), style="dim"))
    console.print(table)


_TITLES = ("ended", "outcome", "took", "pods")


def _cells(past: PastDrain, history: History) -> tuple[str, ...]:
    took = span(past.took) if past.took is not None else "-"
    return clock(past.ended_at, history.now), past.record.outcome, took, f"{past.moved:,}"


def _beside(past: PastDrain) -> tuple[str, str]:
    """Return who ordered it, or why, and what it ended with."""
    order, word = past.record.order, past.record.why
    why = " ".join(part for part in (f"{word}:" if word else "", past.sentence) if part)
    return order.requested_by or order.reason or order.kind.value, why


def _width(rows: Sequence[Sequence[str]], *columns: Sequence[str]) -> int:
    """Return the characters that lines of these cells and further columns take whole."""
    found = [*zip(_TITLES, *rows, strict=True), *columns]
    return sum(max(map(len, column)) for column in found) + _GAP * (len(found) - 1)
