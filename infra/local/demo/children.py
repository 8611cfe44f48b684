"""Processes that the demo starts, each saying what it says into a file, and none living longer than the demo.

Each runs in a session of its own, so that a Ctrl-C does not end it before the story's end is told, and holds the
other end of a pipe: when the demo ends, however it ends, the kernel closes the pipe and the child goes.
Must not know what the processes do.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import infra
from shared.errors import Terminal

ROOT: Final = Path(infra.__file__ or "").parent.parent
"""Where `main.py` and the packages stand."""
START_SECONDS: Final = 30.0
END_SECONDS: Final = 12.0
"""Longer than a bound process has between SIGTERM and SIGKILL."""
_POLL_SECONDS: Final = 0.05
_LAST_LINES: Final = 6


class Child:
    """One process under way; what it writes goes to `folder/name.out` and `folder/name.err`."""

    def __init__(self, name: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        """`arguments` follow the Python interpreter; `environment` is laid over this process's own."""
        self.name = name
        self.out, self.err = folder / f"{name}.out", folder / f"{name}.err"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self._process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env={**os.environ, **environment},
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def wait_until(self, ready: Callable[[], bool], what: str) -> None:
        """Wait for `ready`.

        Raises:
            Terminal: the process ended, or was not ready in time; with the last lines that it wrote.
        """
        until = time.monotonic() + START_SECONDS
        while not ready():
            if self._process.poll() is not None:
                raise Terminal(
                    self.name, f"it ended at its start (exit code {self._process.returncode}).{self.last_words()}"
                )
            if time.monotonic() > until:
                raise Terminal(self.name, f"{what} within {START_SECONDS:.0f} s.{self.last_words()}")
            time.sleep(_POLL_SECONDS)

    def ended(self) -> bool:
        return self._process.poll() is not None

    def let_go(self) -> None:
        """Close the pipe that the process holds on to; it then ends by itself."""
        if self._process.stdin:
            with suppress(BrokenPipeError):
                self._process.stdin.close()

    def close(self, seconds: float = END_SECONDS) -> None:
        """Let the process end; one that has not after `seconds` is killed with all that it started."""
        self.let_go()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(END_SECONDS)

    def last_words(self) -> str:
        """Return the last lines that the process wrote, each on a line of its own."""
        lines = [line for path in (self.out, self.err) for line in path.read_text(errors="replace").splitlines()]
        return "".join(f"\n  | {line}" for line in lines[-_LAST_LINES:]) or " It said nothing."


def free_ports(count: int) -> list[int]:
    """Return so many different ports on loopback that nobody listens on now."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
