from typing import Any

import pytest

from shared.core.cluster.resources import Resources
from shared.core.placement import Simulation
from tests.adapters.objects import api_pod, container, read
from tests.builders import cluster, node, pod, resources


def reported(name: str = "app", *, allocated: str = "", actuated: str = "") -> dict[str, Any]:
    status: dict[str, Any] = {"name": name}
    if allocated:
        status["allocatedResources"] = {"cpu": allocated}
    if actuated:
        status["resources"] = {"requests": {"cpu": actuated}}
    return status


INFEASIBLE = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
DEFERRED = {"type": "PodResizePending", "status": "True", "reason": "Deferred"}


@pytest.mark.parametrize(
    ("expected", "statuses", "conditions"),
    [
        pytest.param(None, [], [], id="no status yet"),
        pytest.param(None, [reported(allocated="1", actuated="1")], [], id="the status repeats the spec"),
        pytest.param(None, [reported(allocated="1000m", actuated="1")], [], id="the same in other words"),
        pytest.param(None, [reported(allocated="500m", actuated="500m")], [], id="growing: the request counts already"),
        pytest.param(resources(2), [reported(allocated="2", actuated="2")], [], id="shrinking: not yet returned"),
        pytest.param(resources(2), [reported(allocated="1", actuated="2")], [], id="allocated, not yet actuated"),
        pytest.param(
            resources(0.5),
            [reported(allocated="500m", actuated="500m")],
            [INFEASIBLE],
            id="an opt-out that cannot come true",
        ),
        pytest.param(
            None, [reported(allocated="500m")], [INFEASIBLE], id="1.36 takes the request if actuated is not shown"
        ),
        pytest.param(None, [reported(allocated="500m")], [DEFERRED], id="an opt-out that waits counts"),
        pytest.param(None, [reported("other", allocated="9")], [], id="a status of no container of the spec"),
    ],
)
def test_a_running_pod_books_what_its_status_reports(
    expected: Resources | None, statuses: list[dict[str, Any]], conditions: list[dict[str, Any]]
) -> None:
    status = {"containerStatuses": statuses, "conditions": conditions}

    assert read(api_pod(containers=[container("1")], status=status)).booked == expected


def test_a_pod_that_does_not_run_books_its_spec() -> None:
    status = {"containerStatuses": [reported(allocated="2")]}

    assert read(api_pod(nodeName="", status={**status, "phase": "Pending"})).booked is None
    assert read(api_pod(status={**status, "phase": "Succeeded"})).booked is None


def test_a_sidecars_status_counts_too() -> None:
    sidecar = container("1", name="proxy", restartPolicy="Always")
    status = {"initContainerStatuses": [reported("proxy", allocated="2")]}

    assert read(api_pod(containers=[container("1")], initContainers=[sidecar], status=status)).booked == resources(3)


def test_the_pods_own_status_counts_and_its_overhead_again_as_both_schedulers_count_it() -> None:
    status = {"allocatedResources": {"cpu": "4500m"}, "resources": {"requests": {"cpu": "2500m"}}}
    spec: dict[str, Any] = {"resources": {"requests": {"cpu": "2"}}, "overhead": {"cpu": "500m"}}

    assert read(api_pod(containers=[container("1")], status=status, **spec)).booked == resources(5)


def test_what_a_class_requests_is_the_spec_alone() -> None:
    status = {"containerStatuses": [reported(allocated="2")]}
    pod = read(api_pod(containers=[container("1")], status=status))

    assert (pod.spec.requests, pod.requests) == (resources(1), resources(2))


@pytest.mark.parametrize(
    ("moves", "wish"),
    [
        pytest.param(True, "1", id="none"),
        pytest.param(False, "3500m", id="one that the node puts off"),
    ],
)
def test_a_node_keeps_room_for_a_resize_that_waits(moves: bool, wish: str) -> None:
    """What a pod asks for on its node counts as taken there before the node gives it (Deferred)."""
    status = {"containerStatuses": [reported(allocated="1", actuated="1")], "conditions": [DEFERRED]}
    waiting = read(api_pod("grows", containers=[container(wish)], nodeName="n2", status=status))
    nodes = [node("n1"), node("n2", cpu=4)]
    simulation = Simulation.of(cluster(nodes, [waiting, pod("mover", on="n1", cpu=1)]))

    assert (simulation.try_remove("n1") is None) is moves
