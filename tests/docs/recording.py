"""`make pictures`: `ebb demo` in a small terminal, recorded as an SVG film strip that a CSS animation moves."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby, pairwise
from pathlib import Path
from typing import Final, NamedTuple

from tests.pages import DOCS, ROOT

RECORDING: Final = DOCS / "pictures" / "demo.svg"
COMMAND: Final = (sys.executable, "-m", "functions.cli.main", "demo")
COLUMNS: Final = 105
LINES: Final = 34
SPEED: Final = 1.5
EVERY: Final = 0.4
"""Seconds between two frames, at least."""
HOLD: Final = 8.0
"""Seconds for which the last frame stays."""
_WIDE, _HIGH, _EDGE = 8.4, 18, 12
_TOKEN: Final = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|[\r\n]|[^\x1b\r\n]+")
_COLOURS: Final = {
    31: "#ff7b72", 32: "#7ee787", 33: "#d29922", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea",
    90: "#6e7681", 93: "#e3b341", 94: "#58a6ff",
}  # fmt: skip
_BLOCKS: Final = {"█": 1.0, "░": 0.35}
"""Opacity by character: blocks are drawn, for fonts have them in different widths."""


class Style(NamedTuple):
    colour: int = 39
    bold: bool = False
    reverse: bool = False


Cell = tuple[str, Style]
Row = tuple[Cell, ...]
Frame = tuple[Row, ...]
_BLANK: Final[Cell] = (" ", Style())


class Terminal:
    """Keeps what a program that only moves up, clears rows and sets colours has written."""

    def __init__(self) -> None:
        self._rows: list[list[Cell]] = [[]]
        self._y = self._x = 0
        self._style = Style()

    def feed(self, text: str) -> None:
        for token in _TOKEN.finditer(text):
            if token[2]:
                self._control(token[1], token[2])
            elif token[0] == "\r":
                self._x = 0
            elif token[0] == "\n":
                self._move(self._y + 1)
            else:
                self._write(token[0])

    def screen(self) -> Frame:
        return tuple(tuple(row) for row in self._rows[-LINES:])

    def _control(self, numbers: str, letter: str) -> None:
        if letter == "A":
            self._move(max(0, self._y - int(numbers or 1)))
        elif letter == "K":
            self._rows[self._y] = []
        elif letter == "m":
            for number in map(int, numbers.split(";")):
                self._style = _styled(self._style, number)

    def _move(self, row: int) -> None:
        self._y = row
        self._rows += [[] for _ in range(row + 1 - len(self._rows))]

    def _write(self, text: str) -> None:
        row = self._rows[self._y]
        row += [_BLANK] * (self._x - len(row))
        row[self._x : self._x + len(text)] = [(letter, self._style) for letter in text]
        self._x += len(text)


def _styled(style: Style, number: int) -> Style:
    if number == 0:
        return Style()
    if number in {1, 7}:
        return style._replace(bold=style.bold or number == 1, reverse=style.reverse or number == 7)
    return style._replace(colour=number)


def recorded(command: Sequence[str]) -> list[tuple[float, Frame]]:
    """Run the command in a terminal; return its screens with their seconds. Raises RuntimeError if it fails."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    begun, terminal, frames = time.monotonic(), Terminal(), list[tuple[float, Frame]]()
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=theirs, stdin=theirs, env=os.environ | {"TERM": "xterm-256color"}
    )
    os.close(theirs)
    for text in _written(ours):
        terminal.feed(text)
        frames.append((time.monotonic() - begun, terminal.screen()))
    if process.wait() != 0:
        raise RuntimeError("\n".join("".join(letter for letter, _ in row) for row in terminal.screen()))
    return thinned(frames)


def _written(terminal: int) -> Iterator[str]:
    """Give what is written, a burst at a time, until the program ends."""
    burst = b""
    while True:
        if burst and not select.select([terminal], [], [], 0.05)[0]:
            yield burst.decode()
            burst = b""
        try:
            burst += os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            os.close(terminal)
            yield burst.decode()
            return


def thinned(frames: Sequence[tuple[float, Frame]]) -> list[tuple[float, Frame]]:
    kept = list(frames[:1])
    for (at, frame), following in pairwise([*frames, frames[-1]]):
        if frame != kept[-1][1] and (at - kept[-1][0] >= EVERY or following == (at, frame)):
            kept.append((at, frame))
    return kept


def svg(frames: Sequence[tuple[float, Frame]], title: str) -> str:
    """Return a film of the frames that a browser repeats; where motion is not wanted it shows the last one."""
    wide, high = COLUMNS * _WIDE + 2 * _EDGE, LINES * _HIGH + 2 * _EDGE
    numbers = {row: number for number, row in enumerate(dict.fromkeys(row for _, frame in frames for row in frame))}
    drawn = "".join(f'<g id="r{number}">{"".join(_row(row))}</g>\n' for row, number in numbers.items())
    film = "".join(_frame(frame, numbers, number * high) for number, (_, frame) in enumerate(frames))
    seconds = (frames[-1][0] - frames[0][0]) / SPEED + HOLD
    steps = "".join(
        f"{(at - frames[0][0]) / SPEED / seconds:.3%}{{transform:translateY({-number * high}px)}}"
        for number, (at, _) in enumerate(frames)
    )
    last = f"transform:translateY({-(len(frames) - 1) * high}px)"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high}" width="{wide:g}" role="img">
<title>{escape(title)}</title>
<style>
text{{font:13.9px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}}
.b{{font-weight:bold}}
#film{{animation:play {seconds:.1f}s steps(1,end) infinite}}
@keyframes play{{{steps}100%{{{last}}}}}
@media (prefers-reduced-motion:reduce){{#film{{animation:none;{last}}}}}
</style>
<defs>
{drawn}</defs>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<svg x="{_EDGE}" y="{_EDGE}" width="{wide - 2 * _EDGE:g}" height="{high - 2 * _EDGE}"><g id="film">
{film}</g></svg>
</svg>
"""


def _frame(frame: Frame, numbers: dict[Row, int], top: int) -> str:
    rows = "".join(f'<use href="#r{numbers[row]}" y="{top + line * _HIGH}"/>' for line, row in enumerate(frame) if row)
    return f"{rows}\n"


def _row(row: Row) -> Iterator[str]:
    """Draw the runs of one look; each begins on its column, whatever the widths of the font."""
    column = 0
    for (style, block), run in groupby(row, key=lambda cell: (cell[1], _BLOCKS.get(cell[0]))):
        text = "".join(letter for letter, _ in run)
        if text.strip():
            yield from _run(text, column * _WIDE, style, block)
        column += len(text)


def _run(text: str, x: float, style: Style, block: float | None) -> Iterator[str]:
    fill = f' fill="{_COLOURS[style.colour]}"' if style.colour in _COLOURS else ' fill="#e6edf3"'
    wide = f'width="{len(text) * _WIDE:.1f}"'
    if block:
        yield f'<rect x="{x:.1f}" y="3" {wide} height="12"{fill} opacity="{block}"/>'
        return
    if style.reverse:
        yield f'<rect x="{x:.1f}" {wide} height="{_HIGH}" fill="#30363d"/>'
    look = f' style="fill:{_COLOURS[style.colour]}"' if style.colour in _COLOURS else ""
    bold = ' class="b"' if style.bold else ""
    indent = len(text) - len(text.lstrip())
    yield f'<text x="{x + indent * _WIDE:.1f}" y="14"{bold}{look}>{escape(text.strip())}</text>'


def draw(path: Path) -> None:
    path.write_text(
        svg(recorded(COMMAND), "A recording of ebb demo: Ebb drains nodes of a simulated GKE"), encoding="utf-8"
    )


if __name__ == "__main__":
    draw(RECORDING)
    sys.stdout.write(f"{RECORDING.relative_to(ROOT)} is drawn\n")
