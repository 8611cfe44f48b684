from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.requests import Container, pod_requests
from shared.core.cluster.resources import NOTHING, Resources
from tests.builders import resources


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
        pytest.param(
            resources(1, 1) + Resources.of({"hugepages-2Mi": 4}), Resources.of({"hugepages-2Mi": 4}), id="huge pages"
        ),
    ],
)
def test_requests_of_the_pod_itself_replace_the_sum(expected: Resources, pod_level: Resources) -> None:
    assert pod_requests([app(resources(1, 1))], pod_level=pod_level) == expected


def test_overhead_is_added_to_requests_of_the_pod_itself() -> None:
    assert pod_requests([app(resources(1))], overhead=resources(0.5), pod_level=resources(3)) == resources(3.5)


amounts = st.builds(lambda cpu, memory: Resources.of({"cpu": cpu, "memory": memory}), *[st.integers(0, 9999)] * 2)
initial = st.builds(Container, st.just("init"), amounts, st.just(value=True), st.booleans())
containers = st.lists(st.builds(app, amounts) | initial, max_size=9)


@given(containers)
def test_every_container_fits_into_what_its_pod_books(rows: list[Container]) -> None:
    assert all(row.requests.fits(pod_requests(rows)) for row in rows)


@given(containers)
def test_a_sidecar_never_books_less_than_an_init_container(rows: list[Container]) -> None:
    sidecars = [replace(row, sidecar=row.init) for row in rows]

    assert pod_requests(rows).fits(pod_requests(sidecars))
