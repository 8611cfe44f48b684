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
    WordKind.NODE: "Why nodes stay, and what these cost: each node counts once",
    WordKind.POD: "Pods that keep nodes, and what these cost: a node counts in each true line",
    WordKind.ALSO: "What else stands in their way",
}
HOLDS: Final = "holds/mo: what the nodes cost that it is on, not what giving it up frees: ebb why-not tells that."
_OBJECTS: Final = 3


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
        console.print(_table(own, detail))


def _table(own: Sequence[LegendEntry], detail: SumDetail) -> Table:
    """Return the first reasons with money, nodes and meaning, and below each the first objects that it is about."""
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    table.add_column("holds/mo", justify="right", no_wrap=True)
    table.add_column("nodes", justify="right", no_wrap=True)
    table.add_column("reason", no_wrap=True)
    if detail.meanings:
        table.add_column("meaning")
    for entry in own[: detail.reasons]:
        meaning = (entry.sentence,) if detail.meanings else ()
        table.add_row(monthly(entry.cost), f"{entry.nodes:,}", entry.word, *meaning)
        if entry.objects and detail.objects:
            table.add_row("", "", "", Text(entry.some_objects(detail.objects), style="dim"))
    if detail.reasons < len(own):
        table.add_row("", "", f"… {len(own) - detail.reasons} more")
    return table
