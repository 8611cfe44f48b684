"""Nothing real outlives the run that started it, not even one that was killed."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from infra.local.bound_process import ROOT
from tests.real.control_plane import ControlPlane
from tests.real.control_plane.cluster import processes
from tests.real.control_plane.layout import Layout
from tests.real.held_ports import HeldPorts
from tests.real.waiting import until

_LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}
_LISTENS = "0A"


@pytest.mark.control_plane
@pytest.mark.usefixtures("new_control_plane")
def test_a_control_plane_ends_with_a_starter_that_was_killed() -> None:
    starter = _start(
        "from tests.real.control_plane import ControlPlane\n"
        "with ControlPlane() as plane: print(plane.kubeconfig.parent, flush=True); input()"
    )
    folder = Path(_first_line(starter))
    assert processes(Layout(folder))

    _kill(starter)

    until("the end of every component", lambda: not processes(Layout(folder)) and not folder.exists())


@pytest.mark.emulator
@pytest.mark.xdist_group("emulator")
@pytest.mark.usefixtures("new_firestore_emulator", "process_list")
def test_an_emulator_ends_with_a_starter_that_was_killed() -> None:
    starter = _start(
        "from tests.real.emulators import FirestoreEmulator\n"
        "with FirestoreEmulator() as emulator: print(emulator.host, flush=True); input()"
    )
    port = _first_line(starter).rpartition(":")[2]
    assert _running(f"--port={port}")

    _kill(starter)

    until("the end of the emulator", lambda: not _running(f"--port={port}"))


def test_a_process_that_was_killed_holds_no_port() -> None:
    holder = _start(
        "from tests.real.held_ports import HeldPorts\nports = HeldPorts(2); print(*ports.numbers, flush=True); input()"
    )
    held = [int(word) for word in _first_line(holder).split()]

    _kill(holder)

    with closing(HeldPorts(2, held)) as ports:
        assert sorted(ports.numbers) == sorted(held)


@pytest.mark.control_plane
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc: run it on Linux")
def test_every_component_listens_on_loopback_only(control_plane: ControlPlane) -> None:
    layout = Layout(control_plane.kubeconfig.parent)
    addresses = [address for pid in processes(layout) for address in _listening(pid)]
    assert len(addresses) >= 6
    assert set(addresses) <= _LOOPBACK


def _start(program: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def _kill(process: "subprocess.Popen[str]") -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=120)


def _running(argument: str) -> bool:
    listing = subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True, check=True)
    return argument in listing.stdout.split()


def _listening(pid: int) -> list[str]:
    """The hexadecimal addresses on which the process itself listens (proc(5), /proc/PID/net/tcp)."""
    links = [_target(link) for link in Path(f"/proc/{pid}/fd").iterdir()]
    sockets = {link.removeprefix("socket:[").removesuffix("]") for link in links if link.startswith("socket:")}
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
    ]
    return [row[1].split(":")[0] for row in rows if row[3] == _LISTENS and row[9] in sockets]


def _target(link: Path) -> str:
    """Nothing of a file that was closed meanwhile: components open and close connections all the time."""
    try:
        return str(link.readlink())
    except FileNotFoundError:
        return ""
