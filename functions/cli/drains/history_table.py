"""The history on a terminal: a line a drain, its reason under it where there is no room beside it.

Must not decide what is shown; `history` does.
"""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.drains.history import History, PastDrain
from functions.cli.format import clock, count, moment, monthly, span

_ROOM_BESIDE = 150
"""From here on what a drain ended with has a column of its own."""


def show(console: Console, history: History) -> None:
    """Print the drains, how many ended how, and what is saved now."""
    console.print(f"{history.cluster}, {moment(history.now)}\n")
    if not history.drains:
        console.print("No drain has ended in the last 30 days.")
        return
    wide = not console.is_terminal or console.width >= _ROOM_BESIDE
    console.print(_table(history, wide=wide))
    counted = ", ".join(f"{outcome}: {number:,}" for outcome, number in history.outcomes.items())
    more = sum(history.outcomes.values()) - len(history.drains)
    console.print(f"\n{counted}{f'; {more:,} older ones are not shown' if more else ''}.")
    nodes = count(history.saved_nodes, "node")
    console.print(f"Still saved: {nodes} removed within a day and not come back, {monthly(history.saved)} a month.")


def _table(history: History, *, wide: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    titles = ("ended", "outcome", "took", "pods", "ordered", "node", *(("why",) if wide else ()))
    for title in titles:
        table.add_column(title, no_wrap=title not in {"node", "why"}, overflow="fold")
    for past in history.drains:
        why = _why(past)
        table.add_row(*map(Text, (*_cells(past, history), *((why,) if wide else ()))))
        if why and not wide:
            table.add_row("", "", "", "", "", Text(why, style="dim"))
    return table


def _cells(past: PastDrain, history: History) -> tuple[str, ...]:
    order = past.record.order
    who = order.requested_by or order.reason or order.kind.value
    took = span(past.took) if past.took is not None else "-"
    return clock(past.ended_at, history.now), past.record.outcome, took, f"{past.moved:,}", who, order.node


def _why(past: PastDrain) -> str:
    word = past.record.why
    return " ".join(part for part in (f"{word}:" if word else "", past.sentence) if part)
