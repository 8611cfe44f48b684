"""Forty orders within a budget of forty: how many drains are under way after two minutes, by the length of a step."""

import pytest

from shared.settings import Settings
from tests.bench.push_window import ORDERS, Steps, run_window


def test_with_the_default_step_forty_drains_are_under_way_within_two_minutes() -> None:
    went = run_window(Steps(Settings(cluster="c").step_seconds))

    assert went.under_way(120) == ORDERS
    assert went.drained == ORDERS


@pytest.mark.parametrize(
    ("expected", "steps"),
    [
        pytest.param(3, Steps(480), id="steps as long as a drain"),
        pytest.param(9, Steps(60), id="a minute"),
        pytest.param(ORDERS, Steps(25), id="25 s"),
        pytest.param(ORDERS, Steps(480, after_claim=True), id="as long, but the first ends with the claim"),
    ],
)
def test_a_step_that_holds_its_push_keeps_the_window_shut(expected: int, steps: Steps) -> None:
    assert run_window(steps).under_way(90) == expected
