"""Draws a picture of the nodes: a sign, a name and a bar of used CPU each, as many beside each other as fit.

Must not know where it is shown.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from infra.local.demo.signs import Sign
from infra.local.demo.view import ClusterView, NodeBar, short

LEAST_CELL: Final = 26
MOST_WIDTH: Final = 120
_BESIDES_BAR: Final = 21
"""Sign, name, percent and the blanks between them."""
_NAME: Final = 12


def node_bars(picture: ClusterView, signs: Mapping[str, Sign], width: int) -> RenderableType:
    """Return the nodes pool by pool, with a legend of the signs that are in the picture."""
    width = min(width, MOST_WIDTH)
    columns = max(1, width // LEAST_CELL)
    bar_width = width // columns - _BESIDES_BAR
    pools = list(dict.fromkeys(bar.pool for bar in picture.bars))
    parts: list[RenderableType] = []
    for pool in pools:
        bars = [bar for bar in picture.bars if bar.pool == pool]
        parts.append(Text(f"pool {pool}: {picture.pool(pool)} nodes", style="bold"))
        parts.append(_grid([_cell(bar, _sign(bar, signs), bar_width) for bar in bars], columns))
    return Group(*parts, *_legend({_sign(bar, signs) for bar in picture.bars}, width))


def _sign(bar: NodeBar, signs: Mapping[str, Sign]) -> Sign:
    return Sign.GONE if bar.share is None else signs.get(bar.name, Sign.STAYS)


def _grid(cells: list[Text], columns: int) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for start in range(0, len(cells), columns):
        row = cells[start : start + columns]
        grid.add_row(*row, *[Text()] * (columns - len(row)))
    return grid


def _cell(bar: NodeBar, sign: Sign, width: int) -> Text:
    label = f"{sign.mark} {short(bar.name):<{_NAME}} "
    if bar.share is None:
        return Text(f"{label}{'gone':<{width + 4}}", style=sign.style)
    full = min(width, round(bar.share * width))
    text = Text(label, style=sign.style)
    text.append("█" * full, style=sign.style)
    text.append("░" * (width - full), style="bright_black")
    return text.append(f"{bar.share:>4.0%}", style=sign.style)


def _legend(present: set[Sign], width: int) -> Iterator[Text]:
    """Give lines that no terminal of that width would break between a sign and its word."""
    line = Text("bars: CPU that pods ask for", style="bright_black")
    for sign in Sign:
        if sign not in present or sign is Sign.STAYS:
            continue
        entry = Text.assemble((sign.mark, sign.style), f" {sign.word}")
        if line.cell_len + 2 + entry.cell_len > width:
            yield line
            line = entry
        else:
            line = Text.assemble(line, "  ", entry)
    yield line
