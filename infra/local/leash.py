"""A process that lives no longer than the one that started it, however that one ended.

Emulators and their Java children outlive a killed test run, and hold ports and memory until someone notices.
`python -m infra.local.leash COMMAND…` runs the command in a process group of its own and ends the whole group
when its standard input closes, which the kernel sees to even after a SIGKILL of the starter.
"""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[2]
_GRACE_SECONDS = 5.0
_LOOK_SECONDS = 0.5


class Leash:
    """A command under way, as its starter holds it; the output of both goes to `log`."""

    def __init__(self, command: Sequence[str], log: Path, env: Mapping[str, str] = os.environ) -> None:
        self._log = log
        with log.open("wb") as out:
            self._process = hold(["-m", "infra.local.leash", *command], out.fileno(), env)

    def ended(self) -> bool:
        return self._process.poll() is not None

    def last_words(self) -> str:
        return self._log.read_text(errors="replace")[-2000:].strip()

    def close(self) -> None:
        """End the command and everything it started; returns when they are gone."""
        let_go(self._process)


def hold(arguments: Sequence[str], out: int, env: Mapping[str, str] = os.environ) -> "subprocess.Popen[bytes]":
    """Start Python with the arguments; it sees the end of its standard input when this process ends.

    In a session of its own, so that a Ctrl-C meant for the starter does not end it before it has cleaned up.
    """
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=dict(env),
        stdin=subprocess.PIPE,
        stdout=out,
        stderr=out,
        start_new_session=True,
    )


def let_go(process: "subprocess.Popen[bytes]", seconds: float = 60) -> None:
    """Close the held process's standard input and wait until it has cleaned up.

    Raises:
        subprocess.TimeoutExpired: it did not end within `seconds`.
    """
    if process.stdin:
        process.stdin.close()
    process.wait(seconds)


def wait_for_starter(stop: Callable[[], bool] = lambda: False) -> None:
    """Return when standard input closes, or when `stop` says so."""
    while not stop():
        readable, _, _ = select.select([sys.stdin], [], [], _LOOK_SECONDS)
        if readable and not os.read(sys.stdin.fileno(), 4096):
            return


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """Ask the process's group to end, and make it end five seconds later."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            return
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue


def _ask_to_end(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def main(command: Sequence[str]) -> int:
    signal.signal(signal.SIGTERM, _ask_to_end)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_for_starter(lambda: child.poll() is not None)
    finally:
        end_group(child)
    return child.returncode or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
