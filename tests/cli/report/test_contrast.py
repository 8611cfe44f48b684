"""Both themes keep level AA of WCAG 2.2: https://www.w3.org/TR/WCAG22, 1.4.3, 1.4.11, "contrast ratio"."""

import re
from collections.abc import Mapping

import pytest

from functions.cli.output.pages import asset

CSS = asset("page.css")
TEXT, GRAPHIC = 4.5, 3.0
WORDS = ("ink", "soft", "link", "saved-text", "warn")
"""What text is written in."""
MARKS = ("edge", "focus", "saved", "left", "other", "stays", *(f"w{number}" for number in range(7)))
"""What draws a bar, a border of a control, or the focus."""
SURFACES = ("paper", "wash")
PAIRS = (
    *((word, surface, TEXT) for word in WORDS for surface in SURFACES),
    *((mark, "paper", GRAPHIC) for mark in MARKS),
    ("ink", "open", TEXT),
    ("soft", "shut", TEXT),
)
ONLY_ORNAMENT = {"line"}
"""Lines between rows, which say nothing that their place does not say."""


COLOURS = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", CSS)
LIGHT = {name: light for name, light, _ in COLOURS}
THEMES = {"light": LIGHT, "dark": {name: dark for name, _, dark in COLOURS}}


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("colours", [pytest.param(colours, id=name) for name, colours in THEMES.items()])
def test_all_that_is_read_has_contrast(colours: Mapping[str, str]) -> None:
    found = {(one, other): contrast(colours[one], colours[other]) for one, other, _ in PAIRS}
    assert {pair: round(found[pair[:2]], 2) for pair in PAIRS if found[pair[:2]] < pair[2]} == {}


def test_every_colour_is_judged() -> None:
    judged = {name for one, other, _ in PAIRS for name in (one, other)} | ONLY_ORNAMENT
    assert LIGHT.keys() <= judged


def test_text_is_written_in_nothing_else() -> None:
    written = re.findall(r"(?<![\w-])color: ([^;}]+)[;}]", CSS)
    assert {colour.strip() for colour in written} <= {"inherit", *(f"var(--{word})" for word in WORDS)}


def test_no_colour_stands_outside_the_themes() -> None:
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b", CSS) == [colour for _, *both in COLOURS for colour in both]
