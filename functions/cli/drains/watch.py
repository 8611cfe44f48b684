"""Shows something again and again until a person has seen enough. Must not know what is shown."""

import sys
from collections.abc import Callable
from typing import Final

import typer

from functions.cli.drains.client import INTERRUPTED
from shared.ports import Clock

EVERY_SECONDS: Final = 5.0
"""Each look costs a few reads of the state."""
_CLEAR: Final = "\x1b[2J\x1b[H"


def watch(show: Callable[[], None], clock: Clock) -> None:
    """Show at once and every few seconds; a terminal is cleared before. Ends with Ctrl-C.

    Raises:
        Exit: with the code that a shell reports of an interrupted command.
    """
    try:
        while True:
            if sys.stdout.isatty():
                typer.echo(_CLEAR, nl=False)
            show()
            clock.sleep(EVERY_SECONDS)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
