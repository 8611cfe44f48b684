"""Nodes as bars of requested CPU, with a sign each: what the demo draws. It knows nothing of the core."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Protocol

from rich.text import Text

_BESIDES = 10
"""Sign, percent and the blanks between them; the name comes on top."""


class BarSign(Protocol):
    """The state of a node: the mark before its bar, its word in the legend, its style."""

    mark: str
    word: str
    style: str


class Bar(Protocol):
    """One node. `share` is the part of its CPU that pods request; None where it is gone or not known."""

    @property
    def sign(self) -> BarSign: ...
    @property
    def share(self) -> Fraction | None: ...


def grid(bars: Sequence[tuple[str, Bar]], longest: int, width: int, least: int = 8) -> Iterator[Text]:
    """Yield bars in as many columns as the width has room for.

    Args:
        bars: each with the name to show.
        longest: the length of the longest name in the whole view, so that grids line up.
        width: of the screen.
        least: the length of a bar, at least.
    """
    columns = max(1, width // (longest + _BESIDES + least))
    bar_width = max(1, width // columns - longest - _BESIDES)
    for start in range(0, len(bars), columns):
        yield Text("  ").join(_cell(name, bar, longest, bar_width) for name, bar in bars[start : start + columns])


def _cell(name: str, bar: Bar, longest: int, width: int) -> Text:
    text = Text(f"{bar.sign.mark} {name:<{longest}} ", style=bar.sign.style)
    if bar.share is None:
        return text.append(f"{bar.sign.word:<{width + 5}}")
    full = min(width, round(bar.share * width))
    text.append("█" * full)
    text.append("░" * (width - full), style="bright_black")
    return text.append(f"{int(bar.share * 100):>4}%")


def legend(present: Iterable[BarSign], width: int) -> Iterator[Text]:
    """Yield lines that no terminal of that width would break between a sign and its word."""
    line = Text("bars: requested CPU", style="bright_black")
    for sign in present:
        entry = Text.assemble((sign.mark, sign.style), f" {sign.word}")
        if line.cell_len + 2 + entry.cell_len > width:
            yield line
            line = entry
        else:
            line = Text.assemble(line, "  ", entry)
    yield line
