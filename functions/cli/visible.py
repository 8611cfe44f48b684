"""Names are other people's: what would steer a terminal, or turn the direction of writing, is shown and not done.

Control characters, bidirectional formatting and separators of lines are written as JSON and Python write them. JSON and
YAML keep names as they are. Must not know who prints, nor rich: a command that fails does not wait for it.
"""

import re
from typing import Final, TypeVar

Value = TypeVar("Value")
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
    return _UNSEEN.sub(_shown, text)


def visible_lines(text: str) -> str:
    """Return text whose line breaks are ours."""
    return _BREAK.join(map(visible, text.split(_BREAK)))


def visible_values(value: Value) -> Value:
    """Return JSON values in which each text is visible, keys too."""
    made: object = value
    if isinstance(value, str):
        made = visible_lines(value)
    elif isinstance(value, dict):
        made = {visible_values(key): visible_values(each) for key, each in value.items()}
    elif isinstance(value, list | tuple):
        made = [visible_values(each) for each in value]
    return made  # type: ignore[return-value]  # of the same kind, a tuple as JSON has it


def _shown(found: "re.Match[str]") -> str:
    code = ord(found[0])
    return _SHORT.get(found[0]) or (f"\\x{code:02x}" if code < _TWO_DIGITS else f"\\u{code:04x}")
