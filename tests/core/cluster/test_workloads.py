"""How many replicas of a workload may be away where no PodDisruptionBudget says so (docs/decisions/evictions.md)."""

from shared.core.cluster.workloads import Deployment, Workload
from shared.core.policy import Limit
from tests.depth import cases


@cases(
    "expected, wanted, limit",
    ("the only one may go", 1, 1, Limit(percent=25)),
    ("a quarter of two is one", 1, 2, Limit(percent=25)),
    ("a quarter of four is one", 1, 4, Limit(percent=25)),
    ("a quarter of five rounds up, as maxUnavailable does", 2, 5, Limit(percent=25)),
    ("a quarter of a hundred", 25, 100, Limit(percent=25)),
    ("at least one", 1, 8, Limit(percent=0)),
    ("at least one, as a number too", 1, 8, Limit(count=0)),
    ("a plain number", 3, 8, Limit(count=3)),
    ("never all at once", 3, 4, Limit(percent=100)),
    ("never both of two", 1, 2, Limit(count=5)),
    ("none wanted: what is left goes one by one", 1, 0, Limit(percent=25)),
    ("not known: one by one", 1, None, Limit(percent=100)),
)
def test_at_least_one_and_never_all_replicas_may_be_away(expected: int, wanted: int | None, limit: Limit) -> None:
    assert Workload("w", wanted).may_be_away(limit) == expected


@cases(
    "expected, workload",
    ("all are there", 0, Workload("w", 3, 3)),
    ("two are not available, wherever they are", 2, Workload("w", 3, 1)),
    ("a surge is no lack", 0, Workload("w", 3, 4)),
    ("its status is not known", None, Workload("w", 3)),
    ("nothing is known", None, Workload()),
)
def test_what_is_wanted_and_not_available_is_away(expected: int | None, workload: Workload) -> None:
    assert workload.replicas_away == expected


def percent(share: int) -> Limit:
    return Limit(percent=share)


@cases(
    "surge, unavailable, wanted, given",
    ("the defaults with one replica", 1, 0, 1, (percent(25), percent(25))),
    ("the defaults with four", 1, 1, 4, (percent(25), percent(25))),
    ("surge rounds up, what may lack rounds down", 2, 1, 5, (percent(25), percent(25))),
    ("both come to nothing: one may lack", 0, 1, 1, (Limit(count=0), percent(25))),
    ("numbers", 1, 0, 3, (Limit(count=1), Limit(count=0))),
)
def test_a_strategy_is_resolved_as_the_controller_does(
    surge: int, unavailable: int, wanted: int, given: tuple[Limit, Limit]
) -> None:
    found = Deployment(name="default/Deployment/web", wanted=wanted, max_surge=given[0], max_unavailable=given[1])

    assert (found.surge, found.unavailable) == (surge, unavailable)


@cases(
    "expected, counts",
    ("rolled out", True, (1, 1, 1)),
    ("the old pod is still there", False, (2, 1, 1)),
    ("not begun", False, (1, 0, 1)),
    ("not available", False, (1, 1, 0)),
)
def test_a_rollout_is_over_when_every_pod_is_new_and_available(expected: bool, counts: tuple[int, int, int]) -> None:
    created, updated, available = counts
    found = Deployment(name="w", created=created, updated=updated, available=available)

    assert found.settled is expected
