"""A day as a bar of 24 hours: a run of equal hours is one stretch with its number and letter, in any width.

Pure: days in, text out. Must not know the terminal beyond its width.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from string import ascii_lowercase
from typing import Final

from functions.cli.policy.calendar_view import HOURS, Day, Hour
from functions.cli.policy.limits import NodeLimit

_CELLS_IN_A_FILE: Final = 5
"""Characters an hour has where there is no terminal to fit into."""
_LEAST, _MOST = 3, 8
_LONG, _SHORT = "%a %d %b ", "%a %d "
_OPEN, _SHUT, _CHANGES = "─", "·", "*"
_OPEN_STYLE, _SHUT_STYLE = "green", "dim"
Piece = tuple[str, str]
"""Text and its style."""


@dataclass(frozen=True, slots=True)
class Bars:
    """The lines of one picture: the hours above, then a label and its pieces for each day."""

    ruler: str
    rows: tuple[tuple[str, tuple[Piece, ...]], ...]


def bars(days: Sequence[Day], width: int | None) -> Bars:
    """Draw the days in so many characters; None = a file. A terminal narrower than 80 gets lines of 80."""
    label, hour = _layout(width)
    space = len(days[0].date.strftime(label)) if days else 0
    keys = letters(days)
    ruler = " " * space + "".join(f"{number:02}".ljust(hour) for number in range(HOURS)).rstrip()
    return Bars(ruler, tuple((day.date.strftime(label), tuple(_bar(day, keys, hour))) for day in days))


def letters(days: Sequence[Day]) -> dict[NodeLimit, str]:
    """Return a letter for each limit, in the order of their appearance."""
    found = dict.fromkeys(hour.limit for day in days for hour in day.hours if hour is not None)
    return {limit: _letter(number) for number, limit in enumerate(found)}


def _letter(number: int) -> str:
    round_, place = divmod(number, len(ascii_lowercase))
    return f"{ascii_lowercase[place]}{round_ or ''}"


def _layout(width: int | None) -> tuple[str, int]:
    """Return the form of a day's label and the width of an hour; one character closes the bar."""
    if width is None:
        return _LONG, _CELLS_IN_A_FILE
    roomy = (width - 12) // HOURS
    return (_LONG, min(roomy, _MOST)) if roomy > _LEAST else (_SHORT, _LEAST)


def _bar(day: Day, keys: Mapping[NodeLimit, str], width: int) -> Iterator[Piece]:
    for limit, run in groupby(day.hours, key=lambda hour: hour.limit if hour else None):
        hours = [hour for hour in run if hour is not None]
        if limit is None or not hours:
            skipped = day.hours.count(None)
            yield f"│{' ' * (skipped * width - 1)}", ""
        else:
            yield f"│{_stretch(limit, keys[limit], hours, width)}", _SHUT_STYLE if limit.none else _OPEN_STYLE
    yield "│", ""


def _stretch(limit: NodeLimit, key: str, hours: Sequence[Hour], width: int) -> str:
    """Return a run of hours: its number and letter where there is room, and a mark at the end of each mixed hour."""
    fill = _SHUT if limit.none else _OPEN
    marks = {(number + 1) * width - 2 for number, hour in enumerate(hours) if hour.changes}
    text = [_CHANGES if place in marks else fill for place in range(len(hours) * width - 1)]
    room = min(marks, default=len(text))
    for words in (f"{limit.amount} {key} ", f"{limit.amount} {key}", f"{limit.amount}{key}", key):
        if len(words) <= room:
            text[: len(words)] = words
            break
    return "".join(text)
