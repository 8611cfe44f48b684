"""A week of a large cluster is played while a person waits."""

from datetime import timedelta
from time import process_time

import pytest

from functions.cli.analysis.simulated_days.patterns import Curve, by_curve, swinging
from functions.cli.analysis.simulated_days.run import Days, simulate
from functions.cli.input.inputs import EVERY_POOL
from functions.cli.simulate.synthetic import made_up
from shared.adapters.prices import load
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
