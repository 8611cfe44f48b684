"""A ratio as a bar and a figure: `███▊····  47%`.

Pure. Must not round up: a pool just under its limit must not look as if at it.
"""

from fractions import Fraction
from typing import Final

from functions.cli.format import percent

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_EMPTY: Final = "·"
FIGURE: Final = 5
"""Characters of the figure and the blank before it; a ratio above one has three digits."""


def gauge(ratio: Fraction | None, width: int, *, plain: bool = False) -> str:
    """Return a bar of so many characters and the figure; `plain` is for terminals that know ASCII only."""
    figure = percent(ratio).rjust(FIGURE)
    if ratio is None or not width:
        return " " * width + figure
    return (_plain(ratio, width) if plain else _fine(ratio, width)) + figure


def _fine(ratio: Fraction, width: int) -> str:
    eighths = min(int(ratio * width * 8), width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width, _EMPTY)


def _plain(ratio: Fraction, width: int) -> str:
    return ("#" * min(int(ratio * width), width)).ljust(width, ".")
