from collections.abc import Sequence

import pytest

from shared.core.cluster.requests import (
    Container,
    Report,
    RunningContainer,
    RunningPod,
    booked_by_1_36,
    booked_by_1_37,
    booked_where_it_runs,
    pod_requests,
)
from shared.core.cluster.resources import NOTHING, Resources
from tests.builders import resources
from tests.depth import cases

HUGE_PAGES = Resources.of({"hugepages-2Mi": 4})


def app(amount: Resources) -> Container:
    return Container("app", amount)


def init(cpu: float, memory: float = 0, *, sidecar: bool = False) -> Container:
    return Container("init", resources(cpu, memory), init=True, sidecar=sidecar)


@pytest.mark.acceptance(19, 20)
@cases(
    "expected, containers, initial",
    ("no containers", 0, [], []),
    ("a container without requests counts nothing", 0, [NOTHING], []),
    ("app containers add up", 1.5, [resources(1), resources(0.5)], []),
    ("one without requests adds nothing", 1.5, [resources(1), NOTHING, resources(0.5)], []),
    ("a big init container wins", 4, [resources(1)], [init(4)]),
    ("init containers run one after the other", 1, [resources(1)], [init(0.5), init(0.7)]),
    ("a sidecar runs next to the app", 1.5, [resources(1)], [init(0.5, sidecar=True)]),
    ("init next to an earlier sidecar", 4.5, [resources(1)], [init(0.5, sidecar=True), init(4)]),
    ("init before a later sidecar", 4, [resources(1)], [init(4), init(0.5, sidecar=True)]),
    ("two sidecars", 3, [resources(1)], [init(1, sidecar=True), init(1, sidecar=True)]),
)
def test_the_larger_of_running_and_initialising_is_booked(
    expected: float, containers: Sequence[Resources], initial: Sequence[Container]
) -> None:
    assert pod_requests([*map(app, containers), *initial]) == resources(expected)


@pytest.mark.acceptance(19)
def test_the_maximum_is_taken_resource_by_resource() -> None:
    assert pod_requests([app(resources(cpu=2, memory=1)), init(cpu=1, memory=4)]) == resources(cpu=2, memory=4)


@pytest.mark.acceptance(19)
def test_overhead_is_added_to_whatever_is_booked() -> None:
    assert pod_requests([app(resources(1)), init(2)], overhead=resources(0.25, 0.1)) == resources(2.25, 0.1)
    assert pod_requests([app(resources(1))], overhead=resources(0.5), pod_level=resources(3)) == resources(3.5)


@cases(
    "expected, pod_level",
    ("none given: the containers' sum", resources(1, 1), NOTHING),
    ("cpu replaced, memory summed", resources(3, 1), resources(3)),
    ("both replaced, even by less", resources(0.5, 2), resources(0.5, 2)),
    ("only cpu, memory and huge pages count", resources(1, 1), Resources.of({"nvidia.com/gpu": 1})),
    ("huge pages", resources(1, 1) + HUGE_PAGES, HUGE_PAGES),
)
def test_requests_of_the_pod_itself_replace_the_sum(expected: Resources, pod_level: Resources) -> None:
    assert pod_requests([app(resources(1, 1))], pod_level=pod_level) == expected


def report(allocated: float = 0, actuated: float | None = None) -> Report:
    return Report(resources(allocated), resources(actuated or 0), reports_actuated=actuated is not None)


def running(*reports: Report, desired: float = 2, infeasible: bool = False) -> RunningPod:
    containers = tuple(RunningContainer(resources(desired), row) for row in reports)
    return RunningPod(containers, infeasible=infeasible)


def whole(said: Report, *, desired: float = 4, infeasible: bool = False, overhead: Resources = NOTHING) -> RunningPod:
    container = RunningContainer(resources(2))
    return RunningPod((container,), overhead, resources(desired), said, infeasible)


@cases(
    "by_1_36, by_1_37, pod",
    ("the kubelet has shown nothing", 2, 2, running(report())),
    ("growing: the request counts already", 2, 2, running(report(1, 1))),
    ("shrinking: not yet returned", 3, 3, running(report(3, 3))),
    ("allocated, not yet actuated", 3, 3, running(report(1, 3))),
    ("allocated alone is shown: only 1.37 takes it", 2, 3, running(report(3))),
    ("by container, or over the sums", 6, 5, running(report(1, 1), report(4, 4))),
    ("an infeasible request does not count", 1, 1, running(report(1, 1), infeasible=True)),
    ("infeasible: the larger of what is reported", 3, 3, running(report(1, 3), infeasible=True)),
    ("infeasible, actuated not shown: 1.36 counts it", 2, 1, running(report(1), infeasible=True)),
    ("infeasible, one container unheard of", 3, 1, running(report(), report(1, 1), infeasible=True)),
    ("the pod's own request stands for its containers", 4, 4, whole(report())),
    ("the pod shrinks", 5, 5, whole(report(5, 3))),
    ("the pod's actuated is not shown", 4, 4, whole(report(5))),
    ("the pod's own infeasible request", 3, 3, whole(report(3, 1), infeasible=True)),
    ("infeasible, and nothing is reported", 2, 0, whole(report(), infeasible=True, desired=0)),
    ("overhead that is reported too counts twice", 6, 6, whole(report(5, 5), overhead=resources(1))),
    ("a report of a pod that asks as containers: only 1.37", 2, 5, whole(report(5, 5), desired=0)),
)
def test_what_each_scheduler_books_for_a_running_pod(by_1_36: float, by_1_37: float, pod: RunningPod) -> None:
    assert (booked_by_1_36(pod), booked_by_1_37(pod)) == (resources(by_1_36), resources(by_1_37))


def test_the_higher_of_the_two_is_booked_resource_by_resource() -> None:
    """CPU is highest container by container (1.36), memory where only the allocation is told (1.37)."""
    two = (
        RunningContainer(resources(2, 1), Report(resources(4, 1), resources(4, 1), reports_actuated=True)),
        RunningContainer(resources(2, 1), Report(resources(1, 1), resources(1, 1), reports_actuated=True)),
        RunningContainer(resources(0, 1), Report(resources(0, 5))),
    )
    pod = RunningPod(two)

    assert booked_by_1_36(pod) == resources(6, 3)
    assert booked_by_1_37(pod) == resources(5, 7)
    assert booked_where_it_runs(pod) == resources(6, 7)


def test_only_a_sidecars_report_counts_among_init_containers_of_1_36() -> None:
    grown = report(5, 5)
    pod = RunningPod((RunningContainer(resources(1), grown, init=True),))
    beside = RunningPod((RunningContainer(resources(1), grown, init=True, sidecar=True),))

    assert (booked_by_1_36(pod), booked_by_1_37(pod)) == (resources(1), resources(5))
    assert booked_by_1_36(beside) == booked_by_1_37(beside) == resources(5)
