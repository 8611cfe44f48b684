"""The fleet on a terminal and as markdown: one row for each cluster, the sum, reasons by money."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from functions.cli.fleet.view import TITLES, FleetHold, FleetLine, FleetView, lines, titles, total
from functions.cli.output.documents import code, text
from functions.cli.output.documents import table as markdown_table
from functions.cli.output.format import GAP, count, monthly, some
from functions.cli.plan import table
from functions.cli.plan.sentences import HOLDING, WordKind, show_notes
from functions.cli.plan.table import DETAILS, HEADINGS

_INDENT: Final = 2
_ROOM_FOR_OBJECTS: Final = 100
_LEFT: Final = (0, 1 + len(TITLES))
"""The columns of words; figures stand to the right."""


def show(console: Console, view: FleetView, top: int | None) -> None:
    """Print the fleet."""
    rows, whole = lines(view, top), total(view)
    widths = _widths([titles(view), *(row.cells for row in rows), whole])
    _print(console, FleetLine(titles(view)), widths, "bold")
    for row in rows:
        _print(console, row, widths)
    if len(view.rows) > 1:
        _print(console, FleetLine(whole), widths, "bold")
    detail = DETAILS[0] if not console.is_terminal or console.width >= _ROOM_FOR_OBJECTS else DETAILS[1]
    table.show_first(console, [each.as_entry for each in view.holds], detail)
    console.print()
    show_notes(console, view.notes)
    if view.headline:
        console.print(view.headline)


def _print(console: Console, row: FleetLine, widths: Sequence[int], style: str = "") -> None:
    cells = (
        _padded(cell, width, right=number not in _LEFT)
        for number, (cell, width) in enumerate(zip(row.cells, widths, strict=True))
    )
    console.print(Text((" " * GAP).join(cells).rstrip()), style=style)
    for sentence in row.below:
        console.print(Padding(Text(sentence, style="yellow"), (0, 0, 0, _INDENT)))


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(cell_len, column)) for column in zip(*rows, strict=True)]


def _padded(cell: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - cell_len(cell))
    return f"{blanks}{cell}" if right else f"{cell}{blanks}"


_CLUSTERS: Final = 3
_REASONS: Final = 10


def page(view: FleetView, top: int | None) -> str:
    """Return the fleet as one page."""
    parts = [f"# {count(len(view.rows), 'cluster')}", _clusters(view, top)]
    if view.headline:
        parts.append(f"**{text(view.headline)}**")
    parts += _amiss(view)
    parts += [_held(view.holds, kind) for kind in HOLDING if any(each.entry.kind is kind for each in view.holds)]
    return "\n\n".join((*parts, *(f"> {text(note)}" for note in view.notes)))


def _clusters(view: FleetView, top: int | None) -> str:
    rows = [(code(first), *map(text, others)) for first, *others in (row.cells for row in lines(view, top))]
    name, *others = total(view)
    if len(view.rows) > 1:
        rows.append((f"**{text(name)}**", *(f"**{text(cell)}**" if cell else "" for cell in others)))
    return markdown_table(titles(view), rows, TITLES)


def _amiss(view: FleetView) -> Iterator[str]:
    told = [(row.cells[0], sentence) for row in lines(view, None) for sentence in row.below]
    if told:
        yield "## What is amiss"
        yield "\n".join(f"- {code(title)} {text(sentence)}" for title, sentence in told)


def _held(holds: Sequence[FleetHold], kind: WordKind) -> str:
    own = [each for each in holds if each.entry.kind is kind]
    rows = (
        (code(each.entry.word), text(each.entry.sentence), text(some(each.clusters_in_words, _CLUSTERS)),
         f"{each.entry.nodes:,}", monthly(each.entry.cost))
        for each in own[:_REASONS]
    )  # fmt: skip
    left = f"\n\n… {len(own) - _REASONS} more" if len(own) > _REASONS else ""
    heads = ("reason", "meaning", "clusters", "nodes", "holds/mo")
    return f"## {HEADINGS[kind]}\n\n{markdown_table(heads, rows, ('nodes', 'holds/mo'))}{left}"
