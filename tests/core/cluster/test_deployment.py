"""What a Deployment's strategy comes to (kubernetes, controller/deployment/util, ResolveFenceposts)."""

import pytest

from shared.core.cluster.workloads import Deployment
from shared.core.policy import Limit


def percent(share: int) -> Limit:
    return Limit(percent=share)


@pytest.mark.parametrize(
    ("surge", "unavailable", "wanted", "given"),
    [
        pytest.param(1, 0, 1, (percent(25), percent(25)), id="the defaults with one replica"),
        pytest.param(1, 1, 4, (percent(25), percent(25)), id="the defaults with four"),
        pytest.param(2, 1, 5, (percent(25), percent(25)), id="surge rounds up, what may lack rounds down"),
        pytest.param(0, 1, 1, (Limit(count=0), percent(25)), id="both come to nothing: one may lack"),
        pytest.param(1, 0, 3, (Limit(count=1), Limit(count=0)), id="numbers"),
    ],
)
def test_a_strategy_is_resolved_as_the_controller_does(
    surge: int, unavailable: int, wanted: int, given: tuple[Limit, Limit]
) -> None:
    found = Deployment(name="default/Deployment/web", wanted=wanted, max_surge=given[0], max_unavailable=given[1])

    assert (found.surge, found.unavailable) == (surge, unavailable)


@pytest.mark.parametrize(
    ("expected", "counts"),
    [
        pytest.param(True, (1, 1, 1), id="rolled out"),
        pytest.param(False, (2, 1, 1), id="the old pod is still there"),
        pytest.param(False, (1, 0, 1), id="not begun"),
        pytest.param(False, (1, 1, 0), id="not available"),
    ],
)
def test_a_rollout_is_over_when_every_pod_is_new_and_available(expected: bool, counts: tuple[int, int, int]) -> None:
    created, updated, available = counts
    found = Deployment(name="w", created=created, updated=updated, available=available)

    assert found.settled is expected
