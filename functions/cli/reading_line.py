"""Says on stderr what is being read, where a person would otherwise look at nothing for long; a file learns nothing.

Must not touch stdout, and must not read what it names.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any, Final

import typer

PATIENCE: Final = 1.0
"""Seconds that nobody minds."""
LARGE: Final = 32 * 1024 * 1024
"""Bytes that take about as long to read, packed ones longer still."""
_MIB: Final = 1024 * 1024


@contextmanager
def reading_line(what: str, size: int = 0, after: Callable[[float, Callable[[], None]], Any] = Timer) -> Iterator[None]:
    """Say what is read while it is: at once where it is large, else when it takes long; only in a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    timer = after(0 if size >= LARGE else PATIENCE, lambda: typer.echo(f"Reading {_shown(what, size)} …", err=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _shown(what: str, size: int) -> str:
    return f"{what} ({max(size // _MIB, 1):,} MiB)" if size else what


def size_of(paths: Sequence[Path]) -> int:
    """Return the bytes of files and folders together, as far as they tell: what cannot be read is said elsewhere."""
    return sum(_size(path) for path in paths)


def _size(path: Path) -> int:
    try:
        inside = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
        return sum(each.stat().st_size for each in inside)
    except OSError:
        return 0
