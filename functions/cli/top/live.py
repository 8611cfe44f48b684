"""The loop of `ebb top`: a thread reads the cluster, the screen is drawn again, keys scroll and quit."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Final, TypeAlias

from msgspec.structs import replace
from rich.console import Console, Group
from rich.live import Live

from functions.cli.errors import message_of
from functions.cli.input.inputs import gather, recall_passes
from functions.cli.input.options import Sources
from functions.cli.output.terminal import printing
from functions.cli.top.view import LiveView, lines, view_of
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import Plan
from shared.core.planning.waves import left_of
from shared.core.rules.situation import Situation
from shared.errors import EbbError

Read: TypeAlias = LiveView | Exception
_QUIT: Final = ("q", "\x1b", "\x03")
_SCROLL: Final = {"j": 1, "k": -1, " ": 10, "b": -10}
_TICK: Final = 0.2
"""Seconds that a key is waited for before the next look at what was read."""
_A_PRINTED_VIEW: Final = (100, 10_000)


class Watcher:
    """Reads and plans a cluster again and again. Without an installation's marks it keeps those of its own plans."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._plan: Plan | None = None
        self._view: LiveView | None = None

    def look(self) -> LiveView:
        """Return the cluster as it is now. Raises EbbError if it cannot be read."""
        inputs = gather(self._sources)
        past = recall_passes(inputs, assume_marked=False)
        state, marks = past.state, past.marks
        if marks is None and self._plan:
            state, marks = replace(state, last_pass=self._plan.taken_at), self._plan.marks
        situation = Situation(inputs.snapshot, state, inputs.policy)
        self._plan = make_plan(situation, marks, inputs.prices, wave=left_of(past.wave, situation))
        self._view = view_of(self._plan, inputs.snapshot, self._view)
        return self._view


def print_once(view: LiveView) -> None:
    """Print one view, where no terminal can be redrawn."""
    with printing() as console:
        for line in lines(view, *_A_PRINTED_VIEW)[:-1]:
            console.print(line)


def watch(look: Callable[[], LiveView], every: float) -> None:
    """Draw until a person quits. Raises EbbError if the first look fails; later failures stand on the last line."""
    read: SimpleQueue[Read] = SimpleQueue()
    stopped = Event()

    def keep_reading() -> None:
        while not stopped.is_set():
            try:
                read.put(look())
            except Exception as failure:  # noqa: BLE001 - raised again where it is drawn
                read.put(failure)
            stopped.wait(every)

    console = Console(highlight=False, markup=False)
    console.print("Reading the cluster …", style="bright_black")
    Thread(target=keep_reading, daemon=True).start()
    try:
        with _keys() as pressed:
            first = _first(read, pressed)
            if first is None:
                return
            with Live(console=console, screen=True, auto_refresh=False) as live:
                follow(first, read, pressed, lambda *shown: _draw(live, *shown))
    finally:
        stopped.set()


def _first(read: SimpleQueue[Read], pressed: Callable[[float], str]) -> LiveView | None:
    while pressed(_TICK) not in _QUIT:
        try:
            found = read.get_nowait()
        except Empty:
            continue
        if isinstance(found, Exception):
            raise found
        return found
    return None


def follow(
    view: LiveView,
    read: SimpleQueue[Read],
    pressed: Callable[[float], str],
    draw: Callable[[LiveView, int, str], None],
) -> None:
    """Draw each view that was read, from the row that a person scrolled to, until a key quits."""
    scrolled, failure = 0, ""
    while True:
        try:
            found = read.get_nowait()
        except Empty:
            found = None
        if isinstance(found, EbbError):
            failure = message_of(found)
        elif isinstance(found, Exception):
            raise found
        elif found:
            view, failure = found, ""
        draw(view, scrolled, failure)
        key = pressed(_TICK)
        if key in _QUIT:
            return
        scrolled = max(0, scrolled + _SCROLL.get(key, 0))


def _draw(live: Live, view: LiveView, scrolled: int, failure: str) -> None:
    width, height = live.console.size
    live.update(Group(*lines(view, width, height, scrolled, failure)), refresh=True)


@contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """Give a function that waits some seconds for a key, and returns it, or an empty text."""
    import select
    import termios
    import tty

    stream = sys.stdin.fileno()
    before = termios.tcgetattr(stream)

    def pressed(seconds: float) -> str:
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        return sys.stdin.read(1) if ready else ""

    try:
        tty.setcbreak(stream)
        yield pressed
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)
