"""A terminal is told what is read when that takes long; stdout and a file's stderr never learn of it."""

import io
import sys
from collections.abc import Callable

import pytest

from functions.cli.output.progress import PATIENCE, reading_line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Watch:
    """A timer of which the test says when its time has come."""

    daemon = False

    def __init__(self, seconds: float, act: Callable[[], None]) -> None:
        self.seconds, self.act, self.cancelled = seconds, act, False

    def start(self) -> None:
        pass

    def cancel(self) -> None:
        self.cancelled = True


class Watches:
    def __init__(self) -> None:
        self.made: list[Watch] = []

    def __call__(self, seconds: float, act: Callable[[], None]) -> Watch:
        self.made.append(Watch(seconds, act))
        return self.made[-1]


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Called by the test itself: pytest puts its own stream back after the fixtures."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def test_a_terminal_is_told_what_is_read_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, watches = terminal_of(monkeypatch), Watches()
    with reading_line("the cluster", watches):
        (watch,) = watches.made
        assert (watch.seconds, watch.cancelled, watch.daemon) == (PATIENCE, False, True)
        watch.act()
    assert watch.cancelled
    assert terminal.getvalue() == "Reading the cluster …\n"


def test_what_is_planned_is_told_likewise(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, watches = terminal_of(monkeypatch), Watches()
    with reading_line("5,000 nodes", watches, doing="Planning"):
        watches.made[0].act()
    assert terminal.getvalue() == "Planning 5,000 nodes …\n"


def test_a_failure_ends_the_watch_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, watches = terminal_of(monkeypatch), Watches()
    with pytest.raises(ValueError, match="no dump"), reading_line("night.json", watches):
        raise ValueError("no dump")
    assert watches.made[0].cancelled
    assert terminal.getvalue() == ""


def test_a_file_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, watches = io.StringIO(), Watches()
    monkeypatch.setattr(sys, "stderr", stream)
    with reading_line("night.json", watches):
        pass
    assert watches.made == []
