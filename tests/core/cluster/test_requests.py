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

HUGE_PAGES = Resources.of({"hugepages-2Mi": 4})


def app(amount: Resources) -> Container:
    return Container("app", amount)


def init(cpu: float, memory: float = 0, *, sidecar: bool = False) -> Container:
    return Container("init", resources(cpu, memory), init=True, sidecar=sidecar)


@pytest.mark.acceptance(19, 20)
@pytest.mark.parametrize(
    ("expected", "containers", "initial"),
    [
        pytest.param(0, [], [], id="no containers"),
        pytest.param(0, [NOTHING], [], id="a container without requests counts nothing"),
        pytest.param(1.5, [resources(1), resources(0.5)], [], id="app containers add up"),
        pytest.param(1.5, [resources(1), NOTHING, resources(0.5)], [], id="one without requests adds nothing"),
        pytest.param(4, [resources(1)], [init(4)], id="a big init container wins"),
        pytest.param(1, [resources(1)], [init(0.5), init(0.7)], id="init containers run one after the other"),
        pytest.param(1.5, [resources(1)], [init(0.5, sidecar=True)], id="a sidecar runs next to the app"),
        pytest.param(4.5, [resources(1)], [init(0.5, sidecar=True), init(4)], id="init next to an earlier sidecar"),
        pytest.param(4, [resources(1)], [init(4), init(0.5, sidecar=True)], id="init before a later sidecar"),
        pytest.param(3, [resources(1)], [init(1, sidecar=True), init(1, sidecar=True)], id="two sidecars"),
    ],
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


@pytest.mark.parametrize(
    ("expected", "pod_level"),
    [
        pytest.param(resources(1, 1), NOTHING, id="none given: the containers' sum"),
        pytest.param(resources(3, 1), resources(3), id="cpu replaced, memory summed"),
        pytest.param(resources(0.5, 2), resources(0.5, 2), id="both replaced, even by less"),
        pytest.param(resources(1, 1), Resources.of({"nvidia.com/gpu": 1}), id="only cpu, memory and huge pages count"),
        pytest.param(resources(1, 1) + HUGE_PAGES, HUGE_PAGES, id="huge pages"),
    ],
)
def test_requests_of_the_pod_itself_replace_the_sum(expected: Resources, pod_level: Resources) -> None:
    assert pod_requests([app(resources(1, 1))], pod_level=pod_level) == expected


def test_overhead_is_added_to_requests_of_the_pod_itself() -> None:
    assert pod_requests([app(resources(1))], overhead=resources(0.5), pod_level=resources(3)) == resources(3.5)


def report(allocated: float = 0, actuated: float | None = None) -> Report:
    return Report(resources(allocated), resources(actuated or 0), reports_actuated=actuated is not None)


def running(*reports: Report, desired: float = 2, infeasible: bool = False) -> RunningPod:
    containers = tuple(RunningContainer(resources(desired), row) for row in reports)
    return RunningPod(containers, infeasible=infeasible)


def whole(said: Report, *, desired: float = 4, infeasible: bool = False, overhead: Resources = NOTHING) -> RunningPod:
    container = RunningContainer(resources(2))
    return RunningPod((container,), overhead, resources(desired), said, infeasible)


@pytest.mark.parametrize(
    ("by_1_36", "by_1_37", "pod"),
    [
        pytest.param(2, 2, running(report()), id="the kubelet has shown nothing"),
        pytest.param(2, 2, running(report(1, 1)), id="growing: the request counts already"),
        pytest.param(3, 3, running(report(3, 3)), id="shrinking: not yet returned"),
        pytest.param(3, 3, running(report(1, 3)), id="allocated, not yet actuated"),
        pytest.param(2, 3, running(report(3)), id="allocated alone is shown: only 1.37 takes it"),
        pytest.param(6, 5, running(report(1, 1), report(4, 4)), id="by container, or over the sums"),
        pytest.param(1, 1, running(report(1, 1), infeasible=True), id="an infeasible request does not count"),
        pytest.param(3, 3, running(report(1, 3), infeasible=True), id="infeasible: the larger of what is reported"),
        pytest.param(2, 1, running(report(1), infeasible=True), id="infeasible, actuated not shown: 1.36 counts it"),
        pytest.param(3, 1, running(report(), report(1, 1), infeasible=True), id="infeasible, one container unheard of"),
        pytest.param(4, 4, whole(report()), id="the pod's own request stands for its containers"),
        pytest.param(5, 5, whole(report(5, 3)), id="the pod shrinks"),
        pytest.param(4, 4, whole(report(5)), id="the pod's actuated is not shown"),
        pytest.param(3, 3, whole(report(3, 1), infeasible=True), id="the pod's own infeasible request"),
        pytest.param(2, 0, whole(report(), infeasible=True, desired=0), id="infeasible, and nothing is reported"),
        pytest.param(6, 6, whole(report(5, 5), overhead=resources(1)), id="overhead that is reported too counts twice"),
        pytest.param(2, 5, whole(report(5, 5), desired=0), id="a report of a pod that asks as containers: only 1.37"),
    ],
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
