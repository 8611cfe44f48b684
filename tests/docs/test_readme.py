"""The README is short, leads to every page, and shows the demo's film and a sample whose saving other pages name."""

import re
import sys
from typing import Final
from xml.etree import ElementTree as ET

import pytest

from tests.docs.recording import LINES, RECORDING, recorded, svg
from tests.pages import DOCS, README

TEXT = README.read_text(encoding="utf-8")
MOST_LINES = 200
PILOT: Final = (DOCS / "pilot.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= MOST_LINES


def test_it_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\(docs/([\w/.-]+?)(?:#[\w-]+)?\)", TEXT))

    assert {path.name for path in DOCS.glob("*.md")} <= linked


def test_a_command_is_recorded_and_becomes_a_film_with_each_row_drawn_once() -> None:
    code = "import time; print('first <&>'); time.sleep(0.2); print('second')"

    film = ET.fromstring(svg(recorded((sys.executable, "-c", code)), "A film"))  # noqa: S314 - our own

    drawn = [row.text for row in film.iter(f"{SVG}text")]
    assert sorted(filter(None, drawn)) == ["first <&>", "second"]
    assert len(list(film.iter(f"{SVG}use"))) == 3


def test_a_command_that_fails_is_not_recorded() -> None:
    with pytest.raises(RuntimeError, match="broken"):
        recorded((sys.executable, "-c", "print('broken'); raise SystemExit(1)"))


def test_the_recording_is_shown_in_the_readme_and_is_small() -> None:
    film = ET.parse(RECORDING).getroot()  # noqa: S314 - our own

    assert f"docs/pictures/{RECORDING.name}" in TEXT
    assert len(list(film.iter(f"{SVG}use"))) > LINES
    assert RECORDING.stat().st_size < 300_000


def test_the_saving_of_the_sample_is_the_one_that_pages_name() -> None:
    sample = TEXT.partition("<!-- sample -->")[2].partition("<!-- /sample -->")[0]
    named = re.findall(r"\[(\d+) % in the sample", TEXT) + re.findall(r"\[The sample\].* saves (\d+) %", PILOT)

    assert len(named) == 2
    assert [percent for percent in named if f"{percent}%" not in sample.split()] == []
