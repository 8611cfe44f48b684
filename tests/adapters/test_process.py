"""What an instance has of its process: clients that are imported late, a clock, and calls that are timed."""

import subprocess
import sys
from dataclasses import fields

import pytest

from shared.adapters.process import TIMED, SystemClock, timed_calls
from shared.errors import Gone, Retryable
from shared.ports import Clock, Ports
from tests.builders import node
from tests.fakes import FakeClock, failing
from tests.functions.fake_ebb import FakeEbb

LOOK = "import sys, {0}; print(*sorted({{'grpc', 'google.auth', 'google.api_core', 'requests'}} & set(sys.modules)))"


@pytest.mark.parametrize(
    "module", [f"shared.adapters.{name}" for name in ("compute", "firestore", "pubsub", "sqlite", "storage")]
)
def test_importing_an_adapter_imports_no_client(module: str) -> None:
    code = LOOK.format(module)

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)

    assert answer.stdout.strip() == ""


def test_sleeping_passes_time_and_a_negative_sleep_none() -> None:
    clocks: tuple[Clock, ...] = (SystemClock(), FakeClock())
    for clock in clocks:
        began = clock.monotonic()
        clock.sleep(-1)
        clock.sleep(0.01)

        assert clock.monotonic() - began >= 0.01


def timed(seconds: float = 2) -> tuple[FakeEbb, Ports]:
    """Ports whose read of one node takes so long."""
    ebb = FakeEbb(node("n1"))
    ebb.cluster.meanwhile["node",] = lambda: ebb.clock.advance(seconds)
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
    ebb.cluster.meanwhile["node", "n1"] = failing(fault)

    with pytest.raises(type(fault)):
        ports.cluster.node("n1")

    assert [line["seconds"] for line in ebb.log.of("outside_call")] == [2]
