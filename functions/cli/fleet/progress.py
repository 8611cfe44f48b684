"""How far a fleet is read, on one line of a terminal that is cleared in the end; a file learns nothing.

Must not touch stdout.
"""

import shutil
from types import TracebackType
from typing import Final, Protocol, Self, TextIO, TypeVar

_CLEAR: Final = "\r\x1b[2K"


class NamedSource(Protocol):
    """What was read: it has a name."""

    @property
    def name(self) -> str: ...


class ReadSource(Protocol):
    """What became of something that was read."""

    @property
    def source(self) -> NamedSource: ...

    @property
    def faults(self) -> tuple[str, ...]: ...


R = TypeVar("R", bound=ReadSource)


class FleetProgress:
    """Counts what is done of so many."""

    def __init__(self, of: int, stream: TextIO) -> None:
        self._of, self._stream = of, stream
        self._done = self._failed = 0
        self._shown = stream.isatty()

    def __enter__(self) -> Self:
        self._draw("")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, value, trace
        if self._shown:
            self._write("")

    def done(self, read: R) -> R:
        """Count what was read, and hand it on."""
        self._done += 1
        self._failed += bool(read.faults)
        self._draw(read.source.name)
        return read

    def _draw(self, last: str) -> None:
        if self._shown:
            failed = f", {self._failed} not read" if self._failed else ""
            self._write(f"Reading the fleet  {self._done} of {self._of}{failed}  {last}".rstrip())

    def _write(self, line: str) -> None:
        plain = "".join(letter if letter.isprintable() else "?" for letter in line)
        self._stream.write(f"{_CLEAR}{plain[: shutil.get_terminal_size().columns - 1]}")
        self._stream.flush()
