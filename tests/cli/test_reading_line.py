"""A terminal is told what is read when that takes long; stdout and a file's stderr never learn of it."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from functions.cli import input_readers
from functions.cli.reading_line import LARGE, PATIENCE, reading_line, size_of
from tests.cli import dumps
from tests.cli.test_main import process


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


@pytest.mark.parametrize(
    ("expected", "seconds", "size"),
    [
        pytest.param("Reading night.json (32 MiB) …\n", 0, LARGE, id="large, so at once"),
        pytest.param("Reading night.json (1,024 MiB) …\n", 0, 1 << 30, id="very large"),
        pytest.param("Reading night.json (31 MiB) …\n", PATIENCE, LARGE - 1, id="not large, so when it takes long"),
        pytest.param("Reading night.json (1 MiB) …\n", PATIENCE, 5, id="small"),
        pytest.param("Reading night.json …\n", PATIENCE, 0, id="of a size that nobody knows"),
    ],
)
def test_a_terminal_is_told_what_is_read(
    expected: str, seconds: float, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal, watches = terminal_of(monkeypatch), Watches()
    with reading_line("night.json", size, watches):
        (watch,) = watches.made
        assert (watch.seconds, watch.cancelled, watch.daemon) == (seconds, False, True)
        watch.act()
    assert watch.cancelled
    assert terminal.getvalue() == expected


def test_a_failure_ends_the_watch_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, watches = terminal_of(monkeypatch), Watches()
    with pytest.raises(ValueError, match="no dump"), reading_line("night.json", 0, watches):
        raise ValueError("no dump")
    assert watches.made[0].cancelled
    assert terminal.getvalue() == ""


def test_a_file_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, watches = io.StringIO(), Watches()
    monkeypatch.setattr(sys, "stderr", stream)
    with reading_line("night.json", LARGE, watches):
        pass
    assert watches.made == []


def test_the_sizes_of_files_and_folders_add_up(tmp_path: Path) -> None:
    (tmp_path / "inside" / "deeper").mkdir(parents=True)
    (tmp_path / "inside" / "deeper" / "a.json").write_bytes(b"123")
    (tmp_path / "b.json").write_bytes(b"4567")
    assert size_of([tmp_path / "inside", tmp_path / "b.json", tmp_path / "none.json"]) == 7


def large(folder: Path) -> Path:
    path = dumps.write(folder / "night.json", 2)
    path.write_bytes(path.read_bytes().ljust(LARGE))
    return path


def test_a_large_dump_is_named_with_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    monkeypatch.setattr(input_readers, "reading_line", lambda what, size: reading_line(what, size, AtOnce))
    input_readers.from_dump((large(tmp_path),))
    assert terminal.getvalue() == "Reading night.json (32 MiB) …\n"


class AtOnce(Watch):
    def start(self) -> None:
        self.act()


def test_stdout_and_a_file_are_as_before(tmp_path: Path) -> None:
    small = process("plan", "--dump", dumps.write(tmp_path / "night.json", 2))
    shown = process("plan", "--dump", large(tmp_path))
    assert (shown.stdout, shown.stderr, shown.returncode) == (small.stdout, "", 0)
