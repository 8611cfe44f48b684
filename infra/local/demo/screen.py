"""Where the story is shown: a terminal with a picture that moves below the events, or plain lines in a file.

Must not know the story.
"""

import sys
import textwrap
from collections.abc import Mapping
from contextlib import AbstractContextManager
from io import TextIOWrapper
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from infra.local.demo.node_bars import node_bars
from infra.local.demo.signs import Sign
from infra.local.demo.view import ClusterView, short

LEAST_HEIGHT: Final = 22
"""A terminal lower than this has no room for a moving picture and the events above it."""
FILE_WIDTH: Final = 100
_INDENT: Final = 24


class Screen(AbstractContextManager["Screen"]):
    """Shows acts, events and pictures; in a terminal the newest picture stays below them while the block lasts."""

    def __init__(self) -> None:
        terminal = sys.stdout.isatty()
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal without block characters shows `?`, and goes on
        self._console = Console(highlight=False, markup=False, width=None if terminal else FILE_WIDTH)
        self.moving = terminal and not self._console.is_dumb_terminal and self._console.height >= LEAST_HEIGHT
        self._live: Live | None = None
        self._acts = 0

    def __enter__(self) -> Self:
        if self.moving:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()
            self._live = None

    @property
    def width(self) -> int:
        return self._console.width

    def act(self, text: str) -> None:
        """Open the next act."""
        self._acts += 1
        self.say()
        number = f"{self._acts}. "
        for line in textwrap.wrap(number + text, self.width - 1, subsequent_indent=" " * len(number)):
            self.say(line, "bold")

    def event(self, at: float, node: str, text: str, sign: Sign) -> None:
        """Show one event, `at` seconds after the story's beginning."""
        head = f"{at:5.1f} s  {sign.mark} {short(node) if node else '':<12}  "
        room = self.width - len(head) - 1 if self._console.is_terminal else 10_000
        first, *others = textwrap.wrap(text, room, break_on_hyphens=False) or [""]
        self.say(head + first, sign.style)
        for line in others:
            self.say(" " * _INDENT + line, sign.style)

    def say(self, text: str = "", style: str = "default") -> None:
        """Show one line as it is; a file gets it whole."""
        self._console.print(Text(text, style=style), soft_wrap=not self._console.is_terminal)

    def show(self, thing: RenderableType) -> None:
        self._console.print(thing)

    def still(self, picture: ClusterView, signs: Mapping[str, Sign]) -> None:
        """Show a picture that stays where it is."""
        self._console.print(node_bars(picture, signs, self.width))

    def move(self, picture: ClusterView, signs: Mapping[str, Sign], status: str) -> None:
        """Replace the picture below the events; a file has none."""
        if self._live:
            head = Text(status, style="bold reverse")
            self._live.update(Group(Text(), head, node_bars(picture, signs, self.width)), refresh=True)


def table(columns: tuple[str, ...]) -> Table:
    """Return an empty table in the demo's style."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        made.add_column(column, style="default", header_style="bright_black")
    return made
