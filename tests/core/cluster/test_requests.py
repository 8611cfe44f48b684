from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.requests import InitContainer, pod_requests
from shared.core.cluster.resources import NOTHING, Resources
from tests.builders import resources


def init(cpu: float, *, sidecar: bool = False) -> InitContainer:
    return InitContainer(resources(cpu), sidecar)


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
        pytest.param(1.5, [resources(1)], [init(0.5, sidecar=True)], id="a sidecar runs beside the app"),
        pytest.param(4.5, [resources(1)], [init(0.5, sidecar=True), init(4)], id="init beside an earlier sidecar"),
        pytest.param(4, [resources(1)], [init(4), init(0.5, sidecar=True)], id="init before a later sidecar"),
        pytest.param(3, [resources(1)], [init(1, sidecar=True), init(1, sidecar=True)], id="two sidecars"),
    ],
)
def test_the_larger_of_running_and_initialising_is_booked(
    expected: float, containers: Sequence[Resources], initial: Sequence[InitContainer]
) -> None:
    assert pod_requests(containers, initial) == resources(expected)


@pytest.mark.acceptance(19)
def test_the_maximum_is_taken_resource_by_resource() -> None:
    app, start = resources(cpu=2, memory=1), InitContainer(resources(cpu=1, memory=4))

    assert pod_requests([app], [start]) == resources(cpu=2, memory=4)


@pytest.mark.acceptance(19)
def test_overhead_is_added_to_whatever_is_booked() -> None:
    assert pod_requests([resources(1)], [init(2)], overhead=resources(0.25, 0.1)) == resources(2.25, 0.1)


@pytest.mark.parametrize(
    ("expected", "pod_level"),
    [
        pytest.param(resources(1, 1), NOTHING, id="none given: the containers' sum"),
        pytest.param(resources(3, 1), resources(3), id="cpu replaced, memory summed"),
        pytest.param(resources(0.5, 2), resources(0.5, 2), id="both replaced, even by less"),
        pytest.param(resources(1, 1), Resources.of({"nvidia.com/gpu": 1}), id="only cpu, memory and huge pages count"),
        pytest.param(
            resources(1, 1) + Resources.of({"hugepages-2Mi": 4}), Resources.of({"hugepages-2Mi": 4}), id="huge pages"
        ),
    ],
)
def test_requests_of_the_pod_itself_replace_the_sum(expected: Resources, pod_level: Resources) -> None:
    assert pod_requests([resources(1, 1)], pod_level=pod_level) == expected


def test_overhead_is_added_to_requests_of_the_pod_itself() -> None:
    assert pod_requests([resources(1)], overhead=resources(0.5), pod_level=resources(3)) == resources(3.5)


amounts = st.builds(lambda cpu, memory: Resources.of({"cpu": cpu, "memory": memory}), *[st.integers(0, 9999)] * 2)
initial_containers = st.lists(st.builds(InitContainer, amounts, st.booleans()), max_size=5)


@given(st.lists(amounts, max_size=4), initial_containers)
def test_every_container_fits_into_what_its_pod_books(
    containers: list[Resources], initial: list[InitContainer]
) -> None:
    booked = pod_requests(containers, initial)

    assert all(each.fits(booked) for each in containers)
    assert all(each.requests.fits(booked) for each in initial)


@given(st.lists(amounts, max_size=4), initial_containers)
def test_a_sidecar_never_books_less_than_an_init_container(
    containers: list[Resources], initial: list[InitContainer]
) -> None:
    sidecars = [InitContainer(each.requests, sidecar=True) for each in initial]

    assert pod_requests(containers, initial).fits(pod_requests(containers, sidecars))
