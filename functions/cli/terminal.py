"""Where the CLI prints: a terminal of its own width, or a file without colours and without line breaks of ours.

A table comes whole; while a person waits, lines come one by one and at once: what waits behind a pipe wants to see
the progress too. Must not know what is printed.
"""

import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import StringIO
from typing import Final

import typer
from rich.console import Console

from functions.cli.visible import visible_lines
from functions.cli.visible_console import VisibleConsole

IN_A_FILE: Final = 10_000
"""Characters a line may have where there is no terminal to fit into."""
_WORD: Final = 10
"""The longest words, `given_back` and `overruled`, fit."""
_TEXT_AT: Final = len("22:00:05  ") + _WORD + 2
_LEAST: Final = 40
_BULLET: Final = "  - "


@contextmanager
def printing() -> Iterator[Console]:
    """Give a console for stdout; a file gets each line whole and without blanks at its end, so that grep finds all."""
    if sys.stdout.isatty():
        yield VisibleConsole(highlight=False, markup=False, emoji=False)
        return
    pages = StringIO()
    yield VisibleConsole(
        file=pages, highlight=False, markup=False, emoji=False, width=IN_A_FILE, color_system=None, force_terminal=False
    )
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in pages.getvalue().splitlines())


def print_progress(at: datetime, word: str, text: str) -> None:
    """Print what happened with its time of day in UTC; the text is wrapped under itself."""
    _print(f"{at.astimezone(UTC):%H:%M:%S}  {word:<{_WORD}}  {text}", _TEXT_AT)


def print_sentence(sentence: str) -> None:
    """Print one sentence."""
    _print(sentence, 0)


def print_point(sentence: str) -> None:
    """Print one point of a list."""
    _print(f"{_BULLET}{sentence}", len(_BULLET))


def print_warning(sentence: str) -> None:
    """Print one sentence where it does not disturb what is piped on."""
    _print(f"ebb: {sentence}", len("ebb: "), err=True)


def _print(text: str, indent: int, *, err: bool = False) -> None:
    stream, text = sys.stderr if err else sys.stdout, visible_lines(text)
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
