"""Tables: one value each, drawn on a terminal and as markdown from the same columns."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Self

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from functions.cli.output.format import GAP
from functions.cli.output.visible import code, text, visible

BOLD: Final = "bold"
DIM: Final = "dim"
_LEAST_NAME: Final = 12
_BREAK: Final = "\n"


@dataclass(frozen=True)
class Column:
    """One column: its title, a cell for each row, and how they look; `right` is for figures."""

    title: str
    cells: tuple[str, ...] = ()
    right: bool = False
    style: str = ""
    code: bool = False
    """Names and words of programs: markdown shows them as code."""
    wraps: bool = False
    """May take several lines where the terminal is narrow; any other column is cut there."""
    below: bool = False
    """On a terminal its cells stand below those of the column before."""

    @cached_property
    def width(self) -> int:
        return max(map(cell_len, (self.title, *self.cells)))


@dataclass(frozen=True)
class Table:
    columns: tuple[Column, ...]
    styles: tuple[str, ...] = ()
    """One for each row; empty where no row has any."""
    groups: Mapping[int, str] = field(default_factory=dict)
    """Titles between the rows on a terminal, by the number of the row that follows."""
    below: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Sentences that a terminal shows below a row, by its number."""
    lead: str = ""
    """A line above, on a terminal."""
    foot: str = ""
    """A line below: what titles leave open."""
    gap: int = GAP

    @classmethod
    def of(cls, columns: Sequence[Column], rows: Iterable[Sequence[str]], **given: Any) -> Self:
        cells = list(zip(*rows, strict=True)) or [()] * len(columns)
        return cls(tuple(replace(column, cells=own) for column, own in zip(columns, cells, strict=True)), **given)

    def without_columns(self, titles: Collection[str]) -> Self:
        return replace(self, columns=tuple(column for column in self.columns if column.title not in titles))

    @property
    def width(self) -> int:
        """The characters of a line in which nothing is broken."""
        own = [column.width for column in self.columns if not column.below]
        return sum(own) + self.gap * (len(own) - 1)

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        return zip(*(column.cells for column in self.columns), strict=True)


def fit(tables: Iterable[Table], width: int) -> Table:
    """Return the first table that has room in so many characters; the last one where none has."""
    found = Table(())
    for found in tables:
        if found.width <= width:
            break
    return found


def draw(console: Console, table: Table) -> None:
    """Print the table; the parts of one with titles or sentences between rows have columns of the same widths."""
    if table.lead:
        console.print(f"{table.lead}\n" if table.groups else table.lead)
    rows = list(table.rows)
    cuts = sorted({0, len(rows), *table.groups, *(number + 1 for number in table.below)})
    for begin, end in pairwise(cuts or (0, 0)):
        if begin in table.groups:
            console.print(f"{_BREAK if begin else ''}{table.groups[begin]}", style=BOLD)
        console.print(_grid(table, rows, range(begin, end), console.width if cuts[1:-1] else None))
        for sentence in table.below.get(end - 1, ()):
            console.print(Padding(Text(visible(sentence), style="yellow"), (0, 0, 0, table.gap)))
    if table.foot:
        console.print(Text(table.foot, style=DIM))


def _grid(table: Table, rows: Sequence[Sequence[str]], part: range, width: int | None) -> Grid:
    """Return some rows; where `width` is given, each column is as wide as the whole table needs it there."""
    grid = Grid(box=None, pad_edge=False, padding=(0, table.gap, 0, 0), header_style=BOLD, show_header=part.start == 0)
    over = max(0, table.width - width) if width else 0
    for number, column in enumerate(column for column in table.columns if not column.below):
        room = column.width if number else max(min(_LEAST_NAME, column.width), column.width - over)
        side: Any = "right" if column.right else "left"
        looks: dict[str, Any] = {"justify": side, "no_wrap": not column.wraps, "width": room if width else None}
        grid.add_column(Text(visible(column.title)), overflow="fold", **looks)
    for number in part:
        for line in _lines(table.columns, rows[number]):
            grid.add_row(*line, style=table.styles[number] if table.styles else "")
    return grid


def _lines(columns: Sequence[Column], cells: Sequence[str]) -> Iterator[list[Text]]:
    """Yield the cells of one row as a terminal shows them: those of columns `below` in lines of their own."""
    shown = [(column, Text(visible(cell), style=column.style)) for column, cell in zip(columns, cells, strict=True)]
    above = [cell for column, cell in shown if not column.below]
    yield above
    place = -1
    for column, cell in shown:
        place += not column.below
        if column.below and cell.plain:
            yield [cell if at == place else Text() for at in range(len(above))]


def as_markdown(table: Table) -> str:
    """Return the table with the sentences below it. A name can be no markup; what is bold on a terminal is so here."""
    rows = list(table.rows)
    strong = [bool(table.styles) and table.styles[number] == BOLD for number in range(len(rows))]
    cells = (
        tuple(_cell(column, cell, strong=bold) for column, cell in zip(table.columns, row, strict=True))
        for row, bold in zip(rows, strong, strict=True)
    )
    titles = [text(column.title) for column in table.columns]
    sides = ["--:" if column.right else "---" for column in table.columns]
    lines = (f"| {' | '.join(row)} |" for row in (titles, sides, *cells))
    wrong = (f"- {code(rows[at][0])} {text(sentence)}" for at, own in table.below.items() for sentence in own)
    return "\n\n".join(filter(None, ("\n".join(lines), text(table.foot), "\n".join(wrong))))


def _cell(column: Column, cell: str, *, strong: bool) -> str:
    shown = code(cell.strip()) if column.code else text(cell.strip())
    return f"**{shown}**" if strong and shown else shown
