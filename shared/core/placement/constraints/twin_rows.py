"""Rows of counts that twins share until one changes a row: a pass of the search copies thousands, and touches few.

Must not know what is counted.
"""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

_Row = TypeVar("_Row")


class TwinRows(Generic[_Row]):
    """Rows by place. Read them with `[place]`, and change only what `mine` returns."""

    def __init__(self, rows: Iterable[_Row], copied: Callable[[_Row], _Row]) -> None:
        self._rows = list(rows)
        self._copied = copied
        self._own = set(range(len(self._rows)))

    def __getitem__(self, place: int) -> _Row:
        return self._rows[place]

    def mine(self, place: int) -> _Row:
        """Return the row to change it."""
        if place not in self._own:
            self._own.add(place)
            self._rows[place] = self._copied(self._rows[place])
        return self._rows[place]

    def copy(self) -> "TwinRows[_Row]":
        """Return an independent twin; from now on neither changes a row in place that both have."""
        twin = TwinRows(self._rows, self._copied)
        twin._own, self._own = set(), set()
        return twin
