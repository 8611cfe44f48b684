"""A console on which no name breaks a line or steers the terminal: what is printed is made visible first.

Must not know what is printed.
"""

from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from functions.cli.visible import visible

_BREAK: Final = "\n"


class VisibleConsole(Console):
    """A console whose own line breaks stand at the ends of what is printed; any other is a name's."""

    def print(self, *objects: Any, **given: Any) -> None:
        super().print(*map(_visible, objects), **given)


def _visible(given: Any) -> Any:
    if isinstance(given, str):
        return _within_ends(given)
    if isinstance(given, Text):
        return _text(given)
    if isinstance(given, Table):
        _make_cells_visible(given)
    elif isinstance(given, Group):
        return Group(*map(_renderable, given.renderables))
    elif isinstance(given, Padding):
        given.renderable = _renderable(given.renderable)
    return given


def _renderable(given: RenderableType) -> RenderableType:
    shown: RenderableType = _visible(given)
    return shown


def _within_ends(text: str) -> str:
    inner = text.strip(_BREAK)
    return text.replace(inner, visible(inner)) if inner else text


def _text(given: Text) -> Text:
    shown = _within_ends(given.plain)
    if shown == given.plain:
        return given
    return Text(shown, style=given.style, justify=given.justify, overflow=given.overflow, no_wrap=given.no_wrap)


def _make_cells_visible(table: Table) -> None:
    """Change the cells in place: a table is made to be printed once."""
    for column in table.columns:
        column.header = _renderable(column.header)
        column._cells = [_renderable(cell) for cell in column._cells]  # noqa: SLF001 - rich offers no other way
