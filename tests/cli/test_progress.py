"""A terminal shows what takes long and how much of it is done; stdout and a file's stderr never show it."""

import io
import sys
from collections.abc import Callable

import pytest

from functions.cli.output.progress import BETWEEN, PATIENCE, LineOfProgress, count_bytes, reading_line
from tests.depth import cases
from tests.fakes import FakeClock

MIB = 1024 * 1024


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Watch:
    """A timer of which the test says when its time has come."""

    daemon = cancelled = False

    def __call__(self, seconds: float, act: Callable[[], None]) -> "Watch":
        self.seconds, self.act = seconds, act
        return self

    def start(self) -> None:
        pass

    def cancel(self) -> None:
        self.cancelled = True


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Called by the test itself: pytest puts its own stream back after the fixtures."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def lines(drawn: str) -> list[str]:
    return drawn.split("\r\x1b[2K")[1:]


def test_a_terminal_sees_how_much_was_read_and_not_too_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    terminal, clock = terminal_of(monkeypatch), FakeClock()
    with count_bytes("night.json", clock.monotonic) as line:
        clock.advance(PATIENCE)
        for _ in range(10):
            line.add(MIB)
            clock.advance(BETWEEN * 0.55)
    first, *others = lines(terminal.getvalue())
    assert (first, len(others)) == ("Reading night.json: 1 MiB …", 5)


@cases(
    "stream, seconds",
    ("what is read at once", Terminal(), 0),
    ("a file, however long it takes", io.StringIO(), PATIENCE),
)
def test_nothing_is_drawn_of(stream: io.StringIO, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    clock = FakeClock()
    with count_bytes("night.json", clock.monotonic) as line:
        clock.advance(seconds)
        line.add(MIB)
    assert stream.getvalue() == ""


def test_the_line_fits_into_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    terminal, clock = terminal_of(monkeypatch), FakeClock()
    line = count_bytes("gke-production-europe-west4.json.gz", clock.monotonic)
    clock.advance(PATIENCE)
    line.add(MIB)
    assert len(lines(terminal.getvalue())[0]) < 40


def test_a_terminal_is_shown_what_is_read_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, watch = terminal_of(monkeypatch), Watch()
    with reading_line("the cluster", watch):
        assert (watch.seconds, watch.cancelled, watch.daemon) == (PATIENCE, False, True)
        watch.act()
    assert watch.cancelled
    assert lines(terminal.getvalue()) == ["Reading the cluster …", ""]


def test_what_is_planned_is_shown_with_its_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, watch = terminal_of(monkeypatch), Watch()
    with reading_line("5,000 nodes", watch, doing="Planning") as phase:
        phase("this pass")
        watch.act()
        phase("forecast")
    assert lines(terminal.getvalue()) == ["Planning 5,000 nodes: this pass …", "Planning 5,000 nodes: forecast …", ""]


def test_a_failure_ends_the_watch_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, watch = terminal_of(monkeypatch), Watch()
    with pytest.raises(ValueError, match="no dump"), reading_line("night.json", watch):
        raise ValueError("no dump")
    assert watch.cancelled
    assert terminal.getvalue() == ""


def test_a_file_shows_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, watch = io.StringIO(), Watch()
    monkeypatch.setattr(sys, "stderr", stream)
    with reading_line("night.json", watch):
        watch.act()
    assert stream.getvalue() == ""


def test_what_is_done_of_several_things_is_shown_with_the_last_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with LineOfProgress(lambda done, last: f"{done} of 2  {last}", after=0) as progress:
        progress.add(note="prod\x1b[31m")
        progress.add(note="stage")
    assert lines(terminal.getvalue()) == ["1 of 2  prod\\x1b[31m", "2 of 2  stage", ""]
