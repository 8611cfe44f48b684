"""Starts a control plane with kwokctl, and ends its processes by their paths: a start cut short leaves no pid files."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.real.control_plane.assets import BINARIES
from tests.real.control_plane.configuration import configuration
from tests.real.control_plane.layout import NAME, Layout

START_SECONDS = 240
END_SECONDS = 120
_POLL_SECONDS = 0.05


class ControlPlaneError(RuntimeError):
    """The control plane did not start or end, or one of its tools failed; the sentence carries what it said."""


def create(layout: Layout, assets: Path, ports: Sequence[int]) -> "subprocess.Popen[bytes]":
    """Start every component and the plain-HTTP proxy; return the proxy when both answer. Raises ControlPlaneError.

    The proxy is the only child of this process; the components are kwokctl's orphans.
    """
    layout.bin.mkdir(parents=True)
    for name in BINARIES:
        (layout.bin / name).symlink_to(assets / name)
    layout.configuration.write_text(configuration(layout, ports))
    command = [str(layout.bin / "kwokctl"), f"--name={NAME}", f"--config={layout.configuration}"]
    command += ["create", "cluster", f"--wait={START_SECONDS}s", f"--kubeconfig={layout.kubeconfig}"]
    try:
        run(command, 2 * START_SECONDS, env=_kwok_env(layout))
    except ControlPlaneError as failure:
        raise ControlPlaneError(f"{failure}\n{last_words(layout)}") from failure
    return _start_proxy(layout)


def destroy(layout: Layout) -> None:
    """End every process of the folder and remove it. Raises ControlPlaneError if some stand after two minutes.

    At once: the API server would wait ten seconds for its watches, for a state that nobody will read.
    """
    until = time.monotonic() + END_SECONDS
    while alive := processes(layout):
        if time.monotonic() > until:
            raise ControlPlaneError(f"these processes of {layout.folder} do not end: {alive}")
        for pid in alive:
            _kill(pid)
        time.sleep(_POLL_SECONDS)
    shutil.rmtree(layout.folder, ignore_errors=True)


def processes(layout: Layout) -> list[int]:
    listing = run(["ps", "-A", "-ww", "-o", "pid=,stat=,args="], END_SECONDS)
    rows = [line.split(None, 2) for line in listing.splitlines()]
    ours = f"{layout.folder}/"
    return [int(pid) for pid, state, *args in rows if args and args[0].startswith(ours) and state[0] != "Z"]


def run(
    command: Sequence[str], seconds: float, *, env: Mapping[str, str] = os.environ, stdin: str | None = None
) -> str:
    """Run a tool to its end; return its output. Raises ControlPlaneError if it fails or takes longer than `seconds`."""
    said = f"{Path(command[0]).name} {' '.join(command[1:])}"
    try:
        done = subprocess.run(
            command, env=dict(env), input=stdin, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as slow:
        raise ControlPlaneError(f"{said}: no end after {seconds:.0f} s") from slow
    if done.returncode:
        raise ControlPlaneError(f"{said}: {done.stderr.strip()[-4000:]}")
    return done.stdout


def last_words(layout: Layout) -> str:
    tails = [(log.stem, log.read_text(errors="replace").splitlines()[-1:]) for log in layout.logs.glob("*.log")]
    return "\n".join(f"{name}: {line}" for name, lines in tails if name != "audit" for line in lines)


def _kwok_env(layout: Layout) -> dict[str, str]:
    """State in the folder, and no settings of a person's own kwok."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("KWOK_")}
    return inherited | {"KWOK_WORKDIR": str(layout.kwok)}


def _start_proxy(layout: Layout) -> "subprocess.Popen[bytes]":
    command = [str(layout.bin / "kubectl"), f"--kubeconfig={layout.kubeconfig}", "proxy", "--port=0"]
    with layout.proxy_log.open("wb") as out:
        proxy = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
    until = time.monotonic() + START_SECONDS
    while layout.proxy_url() is None:
        if proxy.poll() is not None or time.monotonic() > until:
            raise ControlPlaneError(f"kubectl proxy did not start: {layout.proxy_log.read_text().strip()}")
        time.sleep(_POLL_SECONDS)
    return proxy


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
