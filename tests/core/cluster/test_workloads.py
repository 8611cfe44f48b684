"""How many replicas of a workload may be away where no PodDisruptionBudget says so (docs/decisions/evictions.md)."""

import pytest

from shared.core.cluster.workloads import Deployment, Workload
from shared.core.policy import Limit


@pytest.mark.parametrize(
    ("expected", "wanted", "limit"),
    [
        pytest.param(1, 1, Limit(percent=25), id="the only one may go"),
        pytest.param(1, 2, Limit(percent=25), id="a quarter of two is one"),
        pytest.param(1, 4, Limit(percent=25), id="a quarter of four is one"),
        pytest.param(2, 5, Limit(percent=25), id="a quarter of five rounds up, as maxUnavailable does"),
        pytest.param(25, 100, Limit(percent=25), id="a quarter of a hundred"),
        pytest.param(1, 8, Limit(percent=0), id="at least one"),
        pytest.param(1, 8, Limit(count=0), id="at least one, as a number too"),
        pytest.param(3, 8, Limit(count=3), id="a plain number"),
        pytest.param(3, 4, Limit(percent=100), id="never all at once"),
        pytest.param(1, 2, Limit(count=5), id="never both of two"),
        pytest.param(1, 0, Limit(percent=25), id="none wanted: what is left goes one by one"),
        pytest.param(1, None, Limit(percent=100), id="not known: one by one"),
    ],
)
def test_at_least_one_and_never_all_replicas_may_be_away(expected: int, wanted: int | None, limit: Limit) -> None:
    assert Workload("w", wanted).may_be_away(limit) == expected


@pytest.mark.parametrize(
    ("expected", "workload"),
    [
        pytest.param(0, Workload("w", 3, 3), id="all are there"),
        pytest.param(2, Workload("w", 3, 1), id="two are not available, wherever they are"),
        pytest.param(0, Workload("w", 3, 4), id="a surge is no lack"),
        pytest.param(None, Workload("w", 3), id="its status is not known"),
        pytest.param(None, Workload(), id="nothing is known"),
    ],
)
def test_what_is_wanted_and_not_available_is_away(expected: int | None, workload: Workload) -> None:
    assert workload.replicas_away == expected


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
