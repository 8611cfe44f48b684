"""Facts in two columns: a word that is never broken, and text that wraps between words. Must not know what is said."""

from rich.table import Table


def facts() -> Table:
    """Return an empty grid of two columns."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    return grid
