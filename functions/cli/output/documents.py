"""Output for tools: JSON or YAML, and GitHub-flavoured markdown in which names are escaped."""

import json
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Final

import typer

from functions.cli.output.visible import visible, visible_lines

_YAML: Final = "yaml"
_WIDE: Final = 1000
"""Wider than any value: a line is broken nowhere, so that grep finds it."""


def print_document(document: dict[str, Any], output: StrEnum, notes: Sequence[str] = ()) -> None:
    """Print a document on stdout as the output asks, and its notes for people on stderr."""
    print_notes(notes)
    if output != _YAML:
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    from yaml import safe_dump

    typer.echo(safe_dump(document, sort_keys=False, allow_unicode=True, width=_WIDE).rstrip())


def print_notes(notes: Iterable[str]) -> None:
    """Print each note for people once, on stderr: stdout is for a tool."""
    for note in dict.fromkeys(notes):
        typer.echo(visible_lines(note), err=True)


_UNDERSCORE: Final = r"(?<![^\W_])_|_(?![^\W_])"
"""Within a word it marks nothing."""
_MARKUP: Final = re.compile(rf"[&<>|`*\[\]\\~!]|{_UNDERSCORE}")
_FOUND_LATER: Final = re.compile(r"[@#](?=\S)|:(?=//)|www(?=\.)", re.IGNORECASE)
"""What mentions, issues and addresses are known by, in what is rendered: an entity would be a sign again by then."""
_JOINER: Final = "\N{WORD JOINER}"
"""Nobody sees it."""
_NO_PLAIN_LETTER: Final = re.compile(rf"[^\w .,:;/%$+=()…→-]|{_UNDERSCORE}")
_BREAK: Final = re.compile(r"[\t-\r\x85\u2028\u2029]+")


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
    return visible(_BREAK.sub(" ", words))


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"
