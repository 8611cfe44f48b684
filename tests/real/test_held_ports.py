"""A port belongs to one holder, from the moment it is chosen until it is let go."""

import socket
import subprocess
import sys
from contextlib import closing

import pytest

from infra.local.bound_process import ROOT
from tests.real.held_ports import HeldPorts

HOLD_TWO = (
    "from tests.real.held_ports import HeldPorts; ports = HeldPorts(2); print(*ports.numbers, flush=True); input()"
)


@pytest.fixture
def two() -> list[int]:
    """Two ports that nobody has now."""
    with closing(HeldPorts(2)) as ports:
        return ports.numbers


def test_what_one_holds_no_other_is_given(two: list[int]) -> None:
    with closing(HeldPorts(1, two)) as one, closing(HeldPorts(1, two)) as other:
        assert sorted(one.numbers + other.numbers) == sorted(two)


def test_a_port_on_which_somebody_listens_is_not_given(two: list[int]) -> None:
    with socket.create_server(("127.0.0.1", two[0])), closing(HeldPorts(1, two)) as ports:
        assert ports.numbers == two[1:]


def test_a_process_that_was_killed_holds_nothing() -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD_TWO], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout
    held = [int(word) for word in holder.stdout.readline().split()]
    holder.kill()
    holder.communicate(timeout=60)

    with closing(HeldPorts(2, held)) as ports:
        assert sorted(ports.numbers) == sorted(held)
