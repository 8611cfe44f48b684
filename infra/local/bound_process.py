"""Processes that live no longer than the one that started them, however that one ended: emulators outlive a killed run.

`python -m infra.local.bound_process FOLDER COMMAND…` runs the command in a process group of its own; when its standard
input closes, which the kernel sees to even after a SIGKILL of the starter, it ends the group and removes the folder.
"""

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from shared.errors import Terminal

ROOT: Final = Path(__file__).parents[2]
"""Where `main.py` and the packages stand."""
START_SECONDS: Final = 30.0
END_SECONDS: Final = 12.0
"""Longer than a bound process has between SIGTERM and SIGKILL."""
_GRACE_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.05
_LAST_LINES: Final = 6


class Child:
    """A Python process that sees this one end by its standard input; it writes `folder/name.out` and `.err`."""

    def __init__(
        self, name: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """`arguments` follow the Python interpreter; `environment` is laid over this process's own."""
        self.name = name
        self.out, self.err = folder / f"{name}.out", folder / f"{name}.err"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self._process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                start_new_session=True,  # a Ctrl-C meant for the starter does not end it before it has cleaned up
            )

    @classmethod
    def bound(
        cls, name: str, command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> "Child":
        """Start any command, bound to this process; its own folder `folder/name.bound` goes once it has been ended."""
        own = folder / f"{name}.bound"
        own.mkdir()
        return cls(name, ["-m", "infra.local.bound_process", str(own), *command], folder, environment)

    @property
    def pid(self) -> int:
        """Of a bound command: the process that watches the starter; the command is its one child."""
        return self._process.pid

    def wait_until(self, ready: Callable[[], bool], failure: str, seconds: float = START_SECONDS) -> None:
        """Wait for `ready`; Terminal, with the last lines written, when the process ended or was not ready in time."""
        until = time.monotonic() + seconds
        while not ready():
            if self.has_ended():
                code = self._process.returncode
                raise Terminal(self.name, f"it ended at its start (exit code {code}).{self.last_lines()}")
            if time.monotonic() > until:
                raise Terminal(self.name, f"{failure} within {seconds:.0f} s.{self.last_lines()}")
            time.sleep(_POLL_SECONDS)

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def close_input(self) -> None:
        """Close the process's standard input; it then ends by itself."""
        if self._process.stdin:
            with suppress(BrokenPipeError):
                self._process.stdin.close()

    def close(self, seconds: float = END_SECONDS) -> None:
        """Let the process end; one that has not after `seconds` is killed with all that it started."""
        self.close_input()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(END_SECONDS)

    def last_lines(self) -> str:
        lines = [line for path in (self.out, self.err) for line in path.read_text(errors="replace").splitlines()]
        return "".join(f"\n  | {line}" for line in lines[-_LAST_LINES:]) or " It wrote nothing."


def free_ports(count: int) -> list[int]:
    """Return `count` different loopback TCP ports on which nobody listens now; the kernel picks them at random."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def starter_has_gone(seconds: float = 0.5) -> bool:
    """Wait for at most so long, and return whether standard input has closed."""
    readable, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(readable) and not os.read(sys.stdin.fileno(), 4096)


def exit_on_sigterm() -> None:
    """Let a SIGTERM end this process as `sys.exit` does, so that what it holds is cleaned up."""
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """Send SIGTERM to the process's group, and SIGKILL five seconds later."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            return
        # The leader's end is not the group's: the second signal ends those that are left.
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)


def main(folder: Path, command: Sequence[str]) -> int:
    exit_on_sigterm()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        while not starter_has_gone():
            if child.poll() is not None:
                # The folder stays: the starter will want to read the command's last output.
                return child.returncode
    finally:
        end_group(child)
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
