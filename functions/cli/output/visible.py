"""Which characters are written: none steers a terminal, none of a name is markdown, `?` is what cannot be encoded."""

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


def replace_unwritable() -> None:
    """Let stdout and stderr write `?` for a character that they cannot: where no locale is set, Python writes UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


_UNDERSCORE: Final = r"(?<![^\W_])_|_(?![^\W_])"
"""Within a word it marks nothing."""
_MARKUP: Final = re.compile(rf"[&<>|`*\[\]\\~!]|{_UNDERSCORE}")
_FOUND_LATER: Final = re.compile(r"[@#](?=\S)|:(?=//)|www(?=\.)", re.IGNORECASE)
"""What mentions, issues and addresses are known by, in what is rendered: an entity would be a sign again by then."""
_JOINER: Final = "\N{WORD JOINER}"
"""Nobody sees it."""
_NO_PLAIN_LETTER: Final = re.compile(rf"[^\w .,:;/%$+=()…→-]|{_UNDERSCORE}")
_BREAKS: Final = re.compile(r"[\t-\r\x85\u2028\u2029]+")


def text(words: str) -> str:
    """Return words of which none is markup, and none calls anyone, names an issue or leads elsewhere."""
    return _MARKUP.sub(_entity, _FOUND_LATER.sub(rf"\g<0>{_JOINER}", _one_line(words)))


def code(name: str) -> str:
    """Return a name or a value as code, whatever letters it has; nothing of an empty one."""
    return f"<code>{_NO_PLAIN_LETTER.sub(_entity, _one_line(name))}</code>" if name.strip() else ""


def details(summary: str, body: str) -> str:
    """Return what a reader may open; both are markdown already, which after a tag wants an empty line."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _one_line(words: str) -> str:
    return visible(_BREAKS.sub(" ", words))


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"
