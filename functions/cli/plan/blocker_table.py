"""What keeps nodes, the most money first: what is said of nodes and what is said of pods under their own headings.

Must not count: the legend does.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.format import monthly
from functions.cli.plan.layout import GAP
from functions.cli.plan.legend import HOLDING, LegendEntry, WordKind
from functions.cli.plan.sum_detail import SumDetail

HEADINGS: Final[Mapping[WordKind, str]] = {
    WordKind.GOES: "Why nodes go",
    WordKind.NODE: "Why nodes stay in this pass, and what these cost: each node counts once",
    WordKind.POD: "Pods that keep nodes, and what these cost: a node may count in several lines",
    WordKind.ALSO: "What else stands in their way",
}
HOLDS: Final = "holds/mo: what the nodes cost that it is on, not what giving it up frees: ebb why-not tells that."
_OBJECTS: Final = 3
_TITLES: Final = ("holds/mo", "nodes", "reason")
_REASON: Final = 2


def show(console: Console, entries: Sequence[LegendEntry]) -> None:
    """Print each kind under its heading, with all of its reasons."""
    for kind in WordKind:
        _show(console, kind, entries, SumDetail(None, len(entries), _OBJECTS))
    if any(each.kind in HOLDING for each in entries):
        console.print(Text(HOLDS, style="dim"))


def show_first(console: Console, entries: Sequence[LegendEntry], detail: SumDetail) -> None:
    """Print the first reasons of the two kinds that rank blockers."""
    for kind in HOLDING:
        _show(console, kind, entries, detail)


def _show(console: Console, kind: WordKind, entries: Sequence[LegendEntry], detail: SumDetail) -> None:
    own = [each for each in entries if each.kind is kind]
    if own:
        console.print()
        console.print(Text(HEADINGS[kind], style="bold"))
        console.print(_table(own, detail, console.width))


def _table(own: Sequence[LegendEntry], detail: SumDetail, width: int) -> Table:
    """Return the first reasons with money and nodes, with what they mean and the first objects that they are about."""
    most = max(
        detail.reasons, len(own) if len(own) == detail.reasons + 1 else 0
    )  # one row takes no more than "… 1 more"
    shown, rest = own[:most], own[most:]
    rows = [(monthly(entry.cost), f"{entry.nodes:,}", entry.word) for entry in shown]
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    for number, title in enumerate(_TITLES):
        table.add_column(title, justify="left" if number == _REASON else "right", no_wrap=True)
    table.add_column("meaning" if detail.meanings else "about")
    room = width - sum(max(map(len, column)) + GAP for column in zip(_TITLES, *rows, strict=True))
    for row, entry in zip(rows, shown, strict=True):
        table.add_row(*row, entry.sentence if detail.meanings else _about(entry, detail.objects, room))
        if detail.meanings and entry.objects:
            table.add_row("", "", "", Text(entry.some_objects(detail.objects), style="dim"))
    if rest:
        table.add_row("", "", f"… {len(rest)} more")
    return table


def _about(entry: LegendEntry, most: int, room: int) -> str:
    """Return the first objects, with their details where there is room; what it means where it is about none."""
    whole = entry.some_objects(most)
    return (whole if len(whole) <= room else entry.named_objects(most)) or entry.sentence
