"""Progress on stderr: one line on a terminal, shown when something takes long, and cleared at the end."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import Any, Final, Self

from functions.cli.output.visible import visible

PATIENCE: Final = 1.0
"""Seconds that nobody minds."""
BETWEEN: Final = 0.1
"""Seconds from one drawing of a line that counts to the next."""
_MIB: Final = 1024 * 1024
_CLEAR: Final = "\r\x1b[2K"


class LineOfProgress:
    """A line about how much is done: `line` makes it of the number and of a note on the last thing."""

    def __init__(
        self,
        line: Callable[[int, str], str],
        after: float = PATIENCE,
        between: float = 0,
        now: Callable[[], float] = monotonic,
    ) -> None:
        """Show the line after so many seconds at the earliest, and not more often than every `between`."""
        self._line, self._between, self._now = line, between, now
        self._done, self._note, self._drawn, self._due = 0, "", False, now() + after
        self.shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

    def add(self, done: int = 1, note: str = "") -> None:
        """Count what was done, and draw the line if it is time to."""
        self._done, self._note = self._done + done, note
        if self._now() >= self._due:
            self.draw()

    def draw(self) -> None:
        if self.shown:
            self._due, self._drawn = self._now() + self._between, True
            line = visible(self._line(self._done, self._note))
            sys.stderr.write(f"{_CLEAR}{line[: shutil.get_terminal_size().columns - 1]}")
            sys.stderr.flush()


@contextmanager
def reading_line(
    what: str, after: Callable[[float, Callable[[], None]], Any] = Timer, doing: str = "Reading"
) -> Iterator[Callable[[str], None]]:
    """Show what is read, or otherwise done, if it takes long; yield what names the phase that begins."""
    with LineOfProgress(lambda _, phase: f"{doing} {what}{f': {phase}' if phase else ''} …") as line:
        timer = after(PATIENCE, line.draw)
        timer.daemon = True
        if line.shown:
            timer.start()
        try:
            yield lambda phase: line.add(0, phase)
        finally:
            timer.cancel()


def count_bytes(what: str, now: Callable[[], float] = monotonic) -> LineOfProgress:
    return LineOfProgress(lambda done, _: f"Reading {what}: {done // _MIB:,} MiB …", PATIENCE, BETWEEN, now)
