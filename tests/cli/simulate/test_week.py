"""A week of a large cluster is played while a person waits; the picture of the docs shows what the code draws."""

import re
from datetime import timedelta
from pathlib import Path
from time import process_time

import pytest

from functions.cli.analysis.simulated_days.patterns import Curve, by_curve, swinging
from functions.cli.analysis.simulated_days.run import Days, simulate
from functions.cli.input.inputs import EVERY_POOL
from functions.cli.simulate.synthetic import made_up
from shared.adapters.prices import load
from tests.docs.simulated_week import PICTURE, draw
from tests.machine_speed import slowness

pytestmark = pytest.mark.deep
WEEK = timedelta(days=7)
MOST = 60.0
"""Seconds of CPU for a run on a machine that is not busy; the runs of one command are played at the same time."""


def test_a_week_of_two_hundred_nodes_with_ebb_takes_less_than_a_minute() -> None:
    picture = made_up(200, 1, None)
    demand = by_curve(swinging(picture, 60), Curve(), picture.taken_at, WEEK)
    begun = process_time()
    told = simulate(Days(picture, load(), demand, WEEK), EVERY_POOL)

    spent = process_time() - begun
    assert spent < MOST * slowness()
    assert told.drains > 0


def test_the_picture_of_the_docs_shows_the_runs_that_are_drawn(tmp_path: Path) -> None:
    """The lines follow every change of the planner; that the picture is one of these runs is what must stay true."""
    draw(tmp_path / "week.svg")

    assert _names(tmp_path / "week.svg") == _names(PICTURE), "run make pictures"


def _names(picture: Path) -> list[str]:
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8"))
    return [text.partition(":")[0] for text in texts]
