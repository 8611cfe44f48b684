"""The savings that README and docs/pilot.md name are those that the commands next to them print."""

import json
import re
from typing import Final

import pytest
from typer.testing import CliRunner

from functions.cli.main import app
from tests.pages import DOCS, README, rows

PILOT: Final = (DOCS / "pilot.md").read_text(encoding="utf-8")
HEAD: Final = "| `ebb simulate --synthetic 60 --days 7` | nodes on average, autoscaler alone | with Ebb | saved |"
WEEKS: Final = [pytest.param(cells, id=cells[0]) for cells in rows(PILOT, HEAD)]


def test_the_saving_of_the_sample_is_the_one_that_pages_name() -> None:
    text = README.read_text(encoding="utf-8")
    sample = text.partition("<!-- sample -->")[2].partition("<!-- /sample -->")[0]
    named = re.findall(r"\[(\d+) % in the sample", text) + re.findall(r"\[The sample\].* saves (\d+) %", PILOT)

    assert len(named) == 2
    assert [percent for percent in named if f"{percent}%" not in sample.split()] == []


@pytest.mark.deep
@pytest.mark.parametrize("cells", WEEKS)
def test_each_week_of_the_pilot_guide_is_what_the_command_prints(cells: list[str]) -> None:
    (command,) = re.findall(r"`ebb ([^`]+)`", HEAD)
    words = [*command.split(), *cells[0].strip("`").split(), "--output", "json"]

    ended = CliRunner().invoke(app, words)

    alone, ebb = json.loads(ended.stdout)["runs"]
    shown = [f"{alone['mean_nodes']:.1f}", f"{ebb['mean_nodes']:.1f}", f"{ebb['saved']:.1%}".replace("%", " %")]
    assert cells[1:] == shown
