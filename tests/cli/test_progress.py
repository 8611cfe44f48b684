"""A terminal shows what takes long and how much of it is done; stdout and a file's stderr never show it."""

import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from functions.cli.output.progress import BETWEEN, LARGE, PATIENCE, LineOfProgress, reading_bar, reading_line, size_of
from tests.cli import dumps
from tests.cli.running import ROOT, run_ebb

MIB = 1024 * 1024


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


class Now:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def lines(drawn: str) -> list[str]:
    return drawn.split("\r\x1b[2K")[1:]


@pytest.mark.parametrize(
    ("expected", "size"),
    [
        pytest.param(
            "Reading night.json  [=====                   ]  22%  20 of 90 MiB", 90 * MIB, id="of a known size"
        ),
        pytest.param("Reading night.json  20 MiB", 0, id="a pipe, whose size nobody knows"),
        pytest.param("Reading night.json  [========================] 100%  20 of 10 MiB", 10 * MIB, id="it has grown"),
    ],
)
def test_a_terminal_sees_how_far_it_is(expected: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    terminal, now = terminal_of(monkeypatch), Now()
    with reading_bar("night.json", size, now) as bar:
        now.seconds += PATIENCE
        bar.add(20 * MIB)
    assert lines(terminal.getvalue()) == [expected, ""]


def test_a_large_file_shows_it_at_once_and_no_file_too_often(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, now = terminal_of(monkeypatch), Now()
    bar = reading_bar("night.json", LARGE, now)
    for _ in range(10):
        bar.add(MIB)
        now.seconds += BETWEEN * 0.55
    assert len(lines(terminal.getvalue())) == 5


@pytest.mark.parametrize(
    ("stream", "size"),
    [
        pytest.param(Terminal(), MIB, id="what is read at once"),
        pytest.param(io.StringIO(), LARGE, id="a file, however long it takes"),
    ],
)
def test_nothing_is_drawn_of(stream: io.StringIO, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with reading_bar("night.json", size, Now()) as bar:
        bar.add(size)
    assert stream.getvalue() == ""


def test_the_line_fits_into_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    terminal, now = terminal_of(monkeypatch), Now()
    bar = reading_bar("gke-production-europe-west4.json.gz", LARGE, now)
    bar.add(MIB)
    assert len(lines(terminal.getvalue())[0]) < 40


def test_the_sizes_of_files_and_folders_add_up(tmp_path: Path) -> None:
    (tmp_path / "inside" / "deeper").mkdir(parents=True)
    (tmp_path / "inside" / "deeper" / "a.json").write_bytes(b"123")
    (tmp_path / "b.json").write_bytes(b"4567")
    assert size_of([tmp_path / "inside", tmp_path / "b.json", tmp_path / "none.json"]) == 7


def large(folder: Path) -> Path:
    path = dumps.write(folder / "night.json", 2)
    path.write_bytes(path.read_bytes().ljust(LARGE))
    return path


def test_stdout_and_a_file_are_as_before(tmp_path: Path) -> None:
    small = run_ebb("plan", "--dump", dumps.write(tmp_path / "night.json", 2))
    shown = run_ebb("plan", "--dump", large(tmp_path))
    assert (shown.stdout, shown.stderr, shown.returncode) == (small.stdout, "", 0)


def test_a_terminal_sees_it_and_the_line_is_gone_in_the_end(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "functions.cli.main", "plan", "--dump", str(large(tmp_path)), "-o", "json"]
    running = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=theirs, cwd=ROOT, timeout=300, check=False)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert running.returncode == 0
    assert "Reading night.json  [" in shown
    assert shown.rindex("Reading") < shown.rindex("\r\x1b[2K") < shown.index("Without --policy")


def test_a_terminal_is_shown_what_is_read_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, watches = terminal_of(monkeypatch), Watches()
    with reading_line("the cluster", watches):
        (watch,) = watches.made
        assert (watch.seconds, watch.cancelled, watch.daemon) == (PATIENCE, False, True)
        watch.act()
    assert watch.cancelled
    assert lines(terminal.getvalue()) == ["Reading the cluster …", ""]


def test_what_is_planned_is_shown_with_its_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, watches = terminal_of(monkeypatch), Watches()
    with reading_line("5,000 nodes", watches, doing="Planning") as phase:
        phase("this pass")
        watches.made[0].act()
        phase("forecast")
    assert lines(terminal.getvalue()) == ["Planning 5,000 nodes: this pass …", "Planning 5,000 nodes: forecast …", ""]


def test_a_failure_ends_the_watch_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, watches = terminal_of(monkeypatch), Watches()
    with pytest.raises(ValueError, match="no dump"), reading_line("night.json", watches):
        raise ValueError("no dump")
    assert watches.made[0].cancelled
    assert terminal.getvalue() == ""


def test_a_file_shows_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, watches = io.StringIO(), Watches()
    monkeypatch.setattr(sys, "stderr", stream)
    with reading_line("night.json", watches):
        watches.made[0].act()
    assert stream.getvalue() == ""


def test_what_is_done_of_several_things_is_shown_with_the_last_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with LineOfProgress(lambda done, last: f"{done} of 2  {last}", after=0) as progress:
        progress.add(note="prod\x1b[31m")
        progress.add(note="stage")
    assert lines(terminal.getvalue()) == ["1 of 2  prod\\x1b[31m", "2 of 2  stage", ""]
