"""The demo's screen: nodes as bars with marks and drains, redrawn in place on a terminal."""

import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from io import TextIOWrapper
from typing import Final

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from infra.local.world.kinds import Json
from infra.local.world.pods import is_terminating, node_of, phase_of, pod_requests, units


class Sign(Enum):
    """One state of a node, with the mark before its name on the screen."""

    STAYS = " ", "stays", "default"
    MARKED = "~", "marked", "cyan"
    WAVE = "*", "in the wave", "bright_cyan"
    ORDERED = ">", "ordered", "blue"
    DRAINING = "x", "draining", "yellow"
    HELD = "!", "held by a PDB", "bold red"
    EMPTY = "o", "empty", "green"
    AUTOSCALER = "a", "drained by the autoscaler", "bright_yellow"
    GONE = "-", "gone", "bright_black"
    GIVEN_BACK = "<", "returned", "magenta"
    BLOCKED = "#", "kept by a pod", "bright_blue"
    PERSON = "p", "cordoned by a person", "bright_blue"

    def __init__(self, mark: str, word: str, style: str) -> None:
        self.mark, self.word, self.style = mark, word, style


_POOL: Final = "cloud.google.com/gke-nodepool"


@dataclass(frozen=True)
class NodeBar:
    """One node: its pool, and the share of its CPU that pods request; None once it is gone."""

    name: str
    pool: str
    share: Fraction | None
    sign: Sign = Sign.STAYS


@dataclass
class ClusterView:
    """All nodes that ever were, in the order in which they were first seen, and how many pods there are."""

    bars: Sequence[NodeBar] = ()
    pods: int = 0
    unsettled: int = 0
    """Pods that are Pending or on their way out."""

    def look(self, nodes: Sequence[Json], pods: Sequence[Json]) -> None:
        """See the nodes and pods as the API lists them now; a node that is gone keeps its bar."""
        pools, shares = {bar.name: bar.pool for bar in self.bars}, dict[str, Fraction]()
        for node in nodes:
            name = node["metadata"]["name"]
            pools.setdefault(name, node["metadata"]["labels"].get(_POOL, ""))
            used = sum(pod_requests(pod).get("cpu", 0) for pod in pods if node_of(pod) == name)
            shares[name] = Fraction(used, units("cpu", node["status"]["allocatable"]["cpu"]))
        self.bars = [NodeBar(name, pool, shares.get(name)) for name, pool in pools.items()]
        self.pods = len(pods)
        self.unsettled = sum(phase_of(pod) == "Pending" or is_terminating(pod) for pod in pods)

    @property
    def alive(self) -> int:
        return sum(bar.share is not None for bar in self.bars)

    @property
    def mean_share(self) -> float:
        shares = [bar.share for bar in self.bars if bar.share is not None]
        return float(sum(shares) / max(len(shares), 1))

    def pool(self, name: str) -> int:
        return sum(bar.pool == name and bar.share is not None for bar in self.bars)


def short(node: str) -> str:
    """Return a name that a person can follow: pool and the last part, as in `web-04kc`."""
    parts = node.split("-")
    return f"{'-'.join(parts[2:-2])}-{parts[-1]}"


MOST_WIDTH: Final = 120
_NAME: Final = 12
_LEAST_BAR: Final = 4
_BESIDES: Final = 10
"""Sign, percent and the blanks between them; name and bar come on top."""


def node_bars(view: ClusterView, signs: Mapping[str, Sign], width: int) -> RenderableType:
    """Return the nodes pool by pool, in as many columns as fit, with a legend of the signs that are in use."""
    width = min(width, MOST_WIDTH)
    columns = max(1, width // (_NAME + _BESIDES + _LEAST_BAR))
    bar_width = max(1, width // columns - _NAME - _BESIDES)
    bars = [replace(bar, sign=Sign.GONE if bar.share is None else signs.get(bar.name, Sign.STAYS)) for bar in view.bars]
    lines: list[Text] = []
    for pool in dict.fromkeys(bar.pool for bar in bars):
        lines.append(Text(f"pool {pool}: {view.pool(pool)} nodes", style="bold"))
        cells = [_cell(bar, bar_width) for bar in bars if bar.pool == pool]
        lines += [Text("  ").join(cells[start : start + columns]) for start in range(0, len(cells), columns)]
    present = {bar.sign for bar in bars} - {Sign.STAYS}
    legend = [Text.assemble((sign.mark, sign.style), f" {sign.word}") for sign in Sign if sign in present]
    return Group(*lines, Columns([Text("bars: requested CPU", style="bright_black"), *legend], padding=(0, 2)))


def _cell(bar: NodeBar, width: int) -> Text:
    text = Text(f"{bar.sign.mark} {short(bar.name):<{_NAME}} ", style=bar.sign.style)
    if bar.share is None:
        return text.append(f"{bar.sign.word:<{width + 5}}")
    full = min(width, round(bar.share * width))
    text.append("█" * full)
    text.append("░" * (width - full), style="bright_black")
    return text.append(f"{int(bar.share * 100):>4}%")


LEAST_HEIGHT: Final = 22
"""A terminal lower than this has no room for a moving view and the events above it."""
FILE_WIDTH: Final = 100
_INDENT: Final = 24


class Screen:
    """Shows acts, events and the nodes."""

    def __init__(self) -> None:
        terminal = sys.stdout.isatty()
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal without block characters shows `?`, and goes on
        self._console = Console(highlight=False, markup=False, width=None if terminal else FILE_WIDTH)
        self.moving = terminal and not self._console.is_dumb_terminal and self._console.height >= LEAST_HEIGHT
        self._live: Live | None = None
        self._acts = 0

    @contextmanager
    def redraw(self) -> Iterator[None]:
        """Keep the newest view below the events while the block lasts, where it can move."""
        if not self.moving:
            yield
            return
        with Live(console=self._console, auto_refresh=False, transient=True) as self._live:
            yield
        self._live = None

    @property
    def width(self) -> int:
        return self._console.width

    def act(self, text: str) -> None:
        self._acts += 1
        self.write()
        number = f"{self._acts}. "
        for line in textwrap.wrap(number + text, self.width - 1, subsequent_indent=" " * len(number)):
            self.write(line, "bold")

    def event(self, at: float, node: str, text: str, sign: Sign) -> None:
        """Show one event, `at` seconds after the story's beginning."""
        head = f"{at:5.1f} s  {sign.mark} {short(node) if node else '':<12}  "
        room = self.width - len(head) - 1 if self._console.is_terminal else 10_000
        first, *others = textwrap.wrap(text, room, break_on_hyphens=False) or [""]
        self.write(head + first, sign.style)
        for line in others:
            self.write(" " * _INDENT + line, sign.style)

    def write(self, text: str = "", style: str = "default") -> None:
        """Show one line as it is; a file gets it whole."""
        self._console.print(Text(text, style=style), soft_wrap=not self._console.is_terminal)

    def show(self, thing: RenderableType) -> None:
        self._console.print(thing)

    def still(self, view: ClusterView, signs: Mapping[str, Sign]) -> None:
        """Show the nodes once, for good."""
        self._console.print(node_bars(view, signs, self.width))

    def move(self, view: ClusterView, signs: Mapping[str, Sign], status: str) -> None:
        """Replace the view below the events; a file has none."""
        if self._live:
            head = Text(status, style="bold reverse")
            self._live.update(Group(Text(), head, node_bars(view, signs, self.width)), refresh=True)
