"""A week of a large cluster is played while a person waits; the picture of the docs is that of the code."""

from datetime import timedelta
from pathlib import Path
from time import process_time

import pytest

from functions.cli.inputs import EVERY_POOL
from functions.cli.simulate.synthetic import made_up
from shared.adapters.prices import load
from shared.core.simulated_days.patterns import Curve, by_curve, swinging
from shared.core.simulated_days.run import Days, simulate
from tests.docs.simulated_week import PICTURE, draw

pytestmark = pytest.mark.slow
WEEK = timedelta(days=7)
MOST = 60.0
"""Seconds of CPU for a run; the runs of one command are played at the same time."""


def test_a_week_of_two_hundred_nodes_with_ebb_takes_less_than_a_minute() -> None:
    picture = made_up(200, 1, None)
    demand = by_curve(swinging(picture, 60), Curve(), picture.taken_at, WEEK)
    begun = process_time()
    told = simulate(Days(picture, load(), demand, WEEK), EVERY_POOL)

    assert process_time() - begun < MOST
    assert told.drains > 0


def test_the_picture_of_the_docs_is_the_one_that_is_drawn(tmp_path: Path) -> None:
    draw(tmp_path / "week.svg")

    assert (tmp_path / "week.svg").read_text(encoding="utf-8") == PICTURE.read_text(encoding="utf-8"), "make pictures"
