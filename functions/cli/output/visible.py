"""Which characters are written: control characters become visible, and what the output cannot encode is replaced."""

import codecs
import re
import sys
import unicodedata
from typing import Any, Final, TypeVar

Json = TypeVar("Json")
_BIDI: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_SEPARATORS: Final = "\u2028\u2029"
_SURROGATES: Final = "\ud800-\udfff"
"""Half a character, which no stream can write."""
_UNSEEN: Final = re.compile(rf"[\x00-\x1f\x7f-\x9f{_BIDI}{_SEPARATORS}{_SURROGATES}]")
_BREAK: Final = "\n"
_SHORT: Final = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}
_TWO_DIGITS: Final = 0x100


def visible(text: str) -> str:
    """Return one line in which nothing steers who shows it."""
    return _UNSEEN.sub(_show_character, text)


def visible_lines(text: str) -> str:
    """Return text whose line breaks are ours."""
    return _BREAK.join(map(visible, text.split(_BREAK)))


def visible_values(value: Json) -> Json:
    """Return JSON values in which each text is visible, keys too."""
    made: object = value
    if isinstance(value, str):
        made = visible_lines(value)
    elif isinstance(value, dict):
        made = {visible_values(key): visible_values(item) for key, item in value.items()}
    elif isinstance(value, list | tuple):
        made = [visible_values(item) for item in value]
    return made  # type: ignore[return-value]  # of the same kind, a tuple as JSON has it


def _show_character(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _SHORT.get(found[0]) or (f"\\x{code:02x}" if code < _TWO_DIGITS else f"\\u{code:04x}")


_LETTERS: Final = {
    "...": "…",
    "->": "→",
    "|": "│",
    "-": "─\N{EN DASH}\N{EM DASH}",
    ".": "·░▍▎▏▁▂▃",
    "#": "█▉▊▋▌▄▅▆▇",
    "+": "╭╮╰╯",
    ">=": "≥",
    "<=": "≤",
    "+-": "±",
    "x": "\N{MULTIPLICATION SIGN}",
    "u": "µμ",
    "EUR ": "€",
    "GBP ": "£",
    "Y ": "¥",
    "INR ": "₹",
    "KRW ": "₩",
    "RUB ": "₽",
    "TRY ": "₺",
    "UAH ": "₴",
}
PLAIN: Final = {letter: ascii_ for ascii_, letters in _LETTERS.items() for letter in letters}
"""What stands for a character; a bar's parts count as full from its half on, and money is named by its code."""
_HANDLER: Final = "ebb.plain"


def plain(text: str) -> str:
    """Return text that ASCII can write, as near as it comes."""
    nearest = (unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode() for letter in text)
    return "".join(PLAIN.get(letter) or known or "?" for letter, known in zip(text, nearest, strict=True))


def _instead(fault: UnicodeError) -> tuple[str, int]:
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    return plain(fault.object[fault.start : fault.end]), fault.end


def enable_ascii_fallback() -> None:
    """Let stdout and stderr write something for every character."""
    codecs.register_error(_HANDLER, _instead)
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_HANDLER)
