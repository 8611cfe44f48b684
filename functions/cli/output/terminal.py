"""Where the CLI prints: a terminal at its own width, or a file without colours and without added line breaks."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import StringIO
from typing import Any, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.output.format import GAP
from functions.cli.output.visible import visible, visible_lines

_BREAK: Final = "\n"


class VisibleConsole(Console):
    """A console whose own line breaks stand at the ends of what is printed; any other is a name's."""

    def print(self, *objects: Any, **given: Any) -> None:
        super().print(*map(_visible, objects), **given)


def _visible(given: Any) -> Any:
    """Return a string or a text whose inner line breaks and control characters are visible; tables see to theirs."""
    if isinstance(given, Text):
        shown = _within_ends(given.plain)
        return given if shown == given.plain else Text(shown, style=given.style)
    return _within_ends(given) if isinstance(given, str) else given


def _within_ends(text: str) -> str:
    inner = text.strip(_BREAK)
    return text.replace(inner, visible(inner)) if inner else text


def facts(rows: Iterable[tuple[str, str | Text]], style: str = "") -> Table:
    """Return two columns: a word that is never broken, in that style, and text that wraps between words."""
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True, style=style)
    grid.add_column()
    for word, text in rows:
        grid.add_row(visible(word), _visible(text))
    return grid


IN_A_FILE: Final = 10_000
"""Characters a line may have where there is no terminal to fit into."""
_WORD: Final = 10
"""The longest words, `given_back` and `overruled`, fit."""
_TEXT_AT: Final = len("22:00:05  ") + _WORD + 2
_LEAST: Final = 40
BULLET: Final = "  - "


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
    _print(sentence, len(BULLET) if sentence.startswith(BULLET) else 0)


def print_warning(sentence: str) -> None:
    """Print one sentence where it does not disturb what is piped on."""
    _print(f"ebb: {sentence}", len("ebb: "), err=True)


def _print(text: str, indent: int, *, err: bool = False) -> None:
    stream, text = sys.stderr if err else sys.stdout, visible_lines(text)
    width = max(_LEAST, shutil.get_terminal_size().columns) if stream.isatty() else 0
    for line in _wrap_text(text, width, indent) if width else [text]:
        typer.echo(line, err=err)
    stream.flush()


def _wrap_text(text: str, width: int, indent: int) -> list[str]:
    """Break between words only: a name is copied whole, even where it is wider than the terminal."""
    return textwrap.wrap(
        text,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
