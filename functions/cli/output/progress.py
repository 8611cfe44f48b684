"""Progress on stderr while a cluster or a dump is read: one line on a terminal, cleared at the end."""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import Any, Final

import typer

from functions.cli.output.visible import visible

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


LARGE: Final = 32 * 1024 * 1024
"""Bytes that take so long to read that the line is drawn at once, packed ones longer still."""
BETWEEN: Final = 0.1
"""Seconds from one drawing of the line to the next."""
_WIDTH: Final = 24
_MIB: Final = 1024 * 1024
_CLEAR: Final = "\r\x1b[2K"


class ReadingBar:
    """Counts what was read. `size` is 0 where nobody knows it, as of a pipe."""

    def __init__(self, what: str, size: int, now: Callable[[], float] = monotonic) -> None:
        self._what, self._size, self._now = what, size, now
        self._read, self._drawn = 0, False
        self._due = now() + (0 if size >= LARGE else PATIENCE)
        self._shown = sys.stderr.isatty()

    def add(self, read: int) -> None:
        """Count bytes, and draw the line where it is time to."""
        self._read += read
        if self._shown and self._now() >= self._due:
            self._due = self._now() + BETWEEN
            self._drawn = True
            sys.stderr.write(f"{_CLEAR}{self._line()[: shutil.get_terminal_size().columns - 1]}")
            sys.stderr.flush()

    def end(self) -> None:
        if self._drawn:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

    def _line(self) -> str:
        read = f"{self._read // _MIB:,}"
        if not self._size:
            return f"Reading {self._what}  {read} MiB"
        done = min(self._read / self._size, 1)
        bar = f"{'=' * round(done * _WIDTH):<{_WIDTH}}"
        return f"Reading {self._what}  [{bar}] {done:4.0%}  {read} of {max(self._size // _MIB, 1):,} MiB"


@contextmanager
def reading_bar(what: str, size: int = 0) -> Iterator[ReadingBar]:
    """Draw how far something is read, while it is."""
    bar = ReadingBar(what, size)
    try:
        yield bar
    finally:
        bar.end()


def size_of(paths: Sequence[Path]) -> int:
    """Return the bytes of files and folders together, as far as they tell: what cannot be read is said elsewhere."""
    return sum(_size(path) for path in paths)


def _size(path: Path) -> int:
    try:
        inside = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
        return sum(each.stat().st_size for each in inside)
    except OSError:
        return 0
