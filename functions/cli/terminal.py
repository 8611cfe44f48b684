"""Where the CLI prints: a terminal of its own width, or a file without colours and without line breaks of ours.

Must not know what is printed.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Final

from rich.console import Console

IN_A_FILE: Final = 10_000
"""Characters a line may have where there is no terminal to fit into."""


@contextmanager
def printing() -> Iterator[Console]:
    """Give a console for stdout; a file gets each line whole and without blanks at its end, so that grep finds all."""
    if sys.stdout.isatty():
        yield Console(highlight=False, markup=False, emoji=False)
        return
    pages = StringIO()
    yield Console(
        file=pages, highlight=False, markup=False, emoji=False, width=IN_A_FILE, color_system=None, force_terminal=False
    )
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in pages.getvalue().splitlines())
