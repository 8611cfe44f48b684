"""The recording of the demo: a command becomes a film, and the README shows it."""

import sys
from xml.etree import ElementTree as ET

import pytest

from tests.docs.recording import LINES, RECORDING, recorded, svg
from tests.pages import README

SVG = "{http://www.w3.org/2000/svg}"


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
