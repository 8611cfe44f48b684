"""Output where the terminal or the pipe cannot write every character: what it cannot is written with what it can.

A command must not break off in the middle of an answer for the sake of a line or a dash. Must not print.
"""

import codecs
import sys
import unicodedata
from typing import Any, Final

PLAIN: Final = {
    "…": "...",
    "→": "->",
    "│": "|",
    "─": "-",
    "·": ".",
    "░": ".",
    "≥": ">=",
    "≤": "<=",
    "±": "+-",
    "\N{MULTIPLICATION SIGN}": "x",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "µ": "u",
    "μ": "u",
    "╭": "+",
    "╮": "+",
    "╰": "+",
    "╯": "+",
    **dict.fromkeys("█▉▊▋▌", "#"),
    **dict.fromkeys("▄▅▆▇", "#"),
    **dict.fromkeys("▍▎▏▁▂▃", "."),
    "€": "EUR ",
    "£": "GBP ",
    "¥": "Y ",
    "₹": "INR ",
    "₩": "KRW ",
    "₽": "RUB ",
    "₺": "TRY ",
    "₴": "UAH ",
}
"""What stands for a character; a bar's parts count as full from its half on, and money is named by its code."""
_HANDLER: Final = "ebb.plain"
_UNKNOWN: Final = "?"


def plain(text: str) -> str:
    """Return text that ASCII can write, as near as it comes."""
    return "".join(PLAIN.get(letter) or _nearest(letter) for letter in text)


def _nearest(letter: str) -> str:
    return unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode() or _UNKNOWN


def _instead(fault: UnicodeError) -> tuple[str, int]:
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    return plain(fault.object[fault.start : fault.end]), fault.end


def never_break_off() -> None:
    """Let stdout and stderr write something for every character."""
    codecs.register_error(_HANDLER, _instead)
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_HANDLER)
