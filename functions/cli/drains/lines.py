"""Lines that come one by one while a person waits: each with its time, wrapped under itself in a terminal.

A file gets each line whole, at once: what waits behind a pipe wants to see the progress too. Must not know what
is told.
"""

import shutil
import sys
import textwrap
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import typer

_WORD: Final = 10
"""The longest words, `given_back` and `overruled`, fit."""
_TEXT_AT: Final = len("22:00:05  ") + _WORD + 2
_LEAST: Final = 40
_BULLET: Final = "  - "


@dataclass(frozen=True, slots=True)
class Line:
    """What happened when: the phase's or answer's own word, and what it means here."""

    at: datetime
    word: str
    text: str


def show(line: Line) -> None:
    """Print one line with its time of day in UTC."""
    _print(f"{line.at.astimezone(UTC):%H:%M:%S}  {line.word:<{_WORD}}  {line.text}", _TEXT_AT)


def say(sentence: str) -> None:
    """Print one sentence."""
    _print(sentence, 0)


def point(sentence: str) -> None:
    """Print one point of a list."""
    _print(f"{_BULLET}{sentence}", len(_BULLET))


def warn(sentence: str) -> None:
    """Print one sentence where it does not disturb what is piped on."""
    _print(f"ebb: {sentence}", len("ebb: "), err=True)


def _print(text: str, indent: int, *, err: bool = False) -> None:
    stream = sys.stderr if err else sys.stdout
    width = max(_LEAST, shutil.get_terminal_size().columns) if stream.isatty() else 0
    for line in _wrapped(text, width, indent) if width else [text]:
        typer.echo(line, err=err)
    stream.flush()


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    """Break between words only: a name is copied whole, even where it is wider than the terminal."""
    return textwrap.wrap(
        text,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
