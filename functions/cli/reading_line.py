"""Says on stderr what is being read, where a person would otherwise look at nothing for long; a file learns nothing.

Must not touch stdout, and must not read what it names.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any, Final

import typer

from functions.cli.visible import visible

PATIENCE: Final = 1.0
"""Seconds that nobody minds."""


@contextmanager
def reading_line(
    what: str, after: Callable[[float, Callable[[], None]], Any] = Timer, doing: str = "Reading"
) -> Iterator[None]:
    """Say what is read, or otherwise done, when that takes long; only in a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    timer = after(PATIENCE, lambda: typer.echo(f"{doing} {visible(what)} …", err=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
