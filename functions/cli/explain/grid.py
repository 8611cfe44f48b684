"""Facts in two columns: a word that is never broken, and text that wraps between words. Must not know what is said."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

Fact = tuple[str, str | Text]


def facts(rows: Iterable[Fact] = ()) -> Table:
    """Return a grid of two columns."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for row in rows:
        grid.add_row(*row)
    return grid
