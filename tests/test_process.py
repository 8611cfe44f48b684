"""What runs around a process's work: no search for cycles while a plan is made, and calls to elsewhere are timed."""

import gc
from collections.abc import Iterator
from dataclasses import fields

import pytest

from shared.adapters.process import TIMED, no_search_for_cycles, timed_calls
from shared.errors import Gone, Retryable
from shared.ports import Ports
from tests.builders import node
from tests.functions.fake_ebb import FakeEbb


@pytest.fixture(autouse=True)
def searching() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.parametrize("before", [True, False], ids=["it is on", "it is off"])
def test_cycles_are_not_looked_for_inside_and_as_before_afterwards(before: bool) -> None:
    (gc.enable if before else gc.disable)()

    with no_search_for_cycles():
        assert not gc.isenabled()

    assert gc.isenabled() is before


def test_a_plan_that_fails_leaves_it_as_it_was_too() -> None:
    with pytest.raises(ValueError, match="no plan"), no_search_for_cycles():
        raise ValueError("no plan")

    assert gc.isenabled()


def timed(seconds: float = 2) -> tuple[FakeEbb, Ports]:
    """Ports whose read of one node takes so long."""
    ebb = FakeEbb(node("n1"))
    own = ebb.cluster.node

    def slow(name: str) -> object:
        ebb.clock.advance(seconds)
        return own(name)

    ebb.cluster.node = slow  # type: ignore[method-assign,assignment]  # a call that takes time
    return ebb, timed_calls(ebb.ports)


def test_every_port_that_leads_elsewhere_is_timed() -> None:
    assert {*TIMED} == {field.name for field in fields(Ports)} - {"clock", "log", "prices", "together", "shared"}


def test_a_call_writes_how_long_it_took_and_answers_as_before() -> None:
    ebb, ports = timed(seconds=2.5)

    assert ports.cluster.node("n1").name == "n1"

    (line,) = ebb.log.of("outside_call")
    assert (line["severity"], line["call"], line["seconds"]) == ("DEBUG", "cluster.node", 2.5)


@pytest.mark.parametrize("fault", [Retryable("kubernetes", "timeout"), Gone("no such node")])
def test_a_call_that_fails_is_timed_too_and_fails_as_before(fault: Exception) -> None:
    ebb, ports = timed()
    ebb.cluster.failures["node"] = [fault]  # type: ignore[list-item]  # both are faults of Ebb's

    with pytest.raises(type(fault)):
        ports.cluster.node("n1")

    assert [line["seconds"] for line in ebb.log.of("outside_call")] == [2]
