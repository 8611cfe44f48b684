"""The recording of the demo: what its terminal keeps, which screens become frames, and the film."""

import sys
from xml.etree import ElementTree as ET

import pytest

from tests.docs.recording import LINES, RECORDING, Frame, Style, Terminal, recorded, svg, thinned
from tests.pages import README

SVG = "{http://www.w3.org/2000/svg}"


def lines(frame: Frame) -> list[str]:
    return ["".join(letter for letter, _ in row) for row in frame]


def screen(written: str) -> Frame:
    terminal = Terminal()
    terminal.feed(written)
    return terminal.screen()


@pytest.mark.parametrize(
    ("expected", "written"),
    [
        pytest.param(["one", "two"], "one\r\ntwo", id="lines"),
        pytest.param(["one", "   two"], "one\ntwo", id="a line feed alone keeps the column"),
        pytest.param(["two"], "one\rtwo", id="written over"),
        pytest.param(["", "two"], "one\r\ntwo\x1b[1A\x1b[2K\r\n", id="a row is cleared"),
        pytest.param(["three", "two"], "one\r\ntwo\r\x1b[1Athree", id="a row above is written over"),
        pytest.param(["one"], "\x1b[?25lone\x1b[?25h", id="the cursor is hidden and shown"),
    ],
)
def test_the_terminal_keeps_what_is_seen(expected: list[str], written: str) -> None:
    assert lines(screen(written)) == expected


def test_the_terminal_shows_its_last_rows() -> None:
    assert lines(screen("\r\n".join(map(str, range(LINES + 2))))) == [str(row) for row in range(2, LINES + 2)]


def test_a_character_has_the_look_that_was_set_before_it() -> None:
    (row,) = screen("a\x1b[1;33mb\x1b[7mc\x1b[0md")

    looks = [look for _, look in row]
    assert looks == [Style(), Style(33, bold=True), Style(33, bold=True, reverse=True), Style()]


@pytest.mark.parametrize(
    ("expected", "times_and_screens"),
    [
        pytest.param([0.0, 1.0], [(0.0, "a"), (1.0, "b")], id="each that differs"),
        pytest.param([0.0], [(0.0, "a"), (1.0, "a")], id="none twice"),
        pytest.param([0.0, 1.0], [(0.0, "a"), (0.1, "b"), (1.0, "c")], id="none too soon after another"),
        pytest.param([0.0, 0.1], [(0.0, "a"), (0.1, "b")], id="the last one in any case"),
    ],
)
def test_which_screens_become_frames(expected: list[float], times_and_screens: list[tuple[float, str]]) -> None:
    frames = [(at, screen(text)) for at, text in times_and_screens]

    assert [at for at, _ in thinned(frames)] == expected


def test_a_command_is_recorded_and_becomes_a_film_with_each_row_drawn_once() -> None:
    code = "import time; print('first <&>'); time.sleep(0.2); print('second')"

    film = ET.fromstring(svg(recorded((sys.executable, "-c", code)), "A film"))  # noqa: S314 - our own

    drawn = [each.text for each in film.iter(f"{SVG}text")]
    assert sorted(filter(None, drawn)) == ["first <&>", "second"]
    assert len(list(film.iter(f"{SVG}use"))) == 3


def test_a_command_that_fails_is_not_recorded() -> None:
    with pytest.raises(RuntimeError, match="broken"):
        recorded((sys.executable, "-c", "print('broken'); raise SystemExit(1)"))


def test_the_recording_is_shown_in_the_readme_and_is_small() -> None:
    film = ET.parse(RECORDING).getroot()  # noqa: S314 - our own

    assert f"docs/pictures/{RECORDING.name}" in README.read_text(encoding="utf-8")
    assert len(list(film.iter(f"{SVG}use"))) > LINES
    assert RECORDING.stat().st_size < 300_000
