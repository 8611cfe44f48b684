"""Which characters are written: control characters become visible, and what the output cannot encode is `?`."""

import re
import sys
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


def enable_ascii_fallback() -> None:
    """Let stdout and stderr write `?` for a character that they cannot: where no locale is set, Python writes UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
