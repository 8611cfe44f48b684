"""A process that lives no longer than the one that started it, however that one ended.

Emulators and their Java children outlive a killed test run, and hold ports and memory until someone notices.
`python -m infra.local.bound_process FOLDER COMMAND…` runs the command in a process group of its own; when its standard
input closes, which the kernel sees to even after a SIGKILL of the starter, it ends the group and removes the folder.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[2]
_GRACE_SECONDS = 5.0


class BoundProcess:
    """A command under way, as its starter holds it; what it says goes to a file in `folder`."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._log = folder / "log"
        with self._log.open("wb") as out:
            self._process = start_bound(["-m", "infra.local.bound_process", str(folder), *command], out.fileno())

    @property
    def pid(self) -> int:
        """The process that watches the starter; the command is its one child."""
        return self._process.pid

    def ended(self) -> bool:
        return self._process.poll() is not None

    def last_words(self, most: int = 2_000) -> str:
        """Return at most so many characters of what it said last."""
        return self._log.read_text(errors="replace")[-most:].strip()

    def close(self) -> None:
        """End the command and everything it started; returns when they and the folder are gone."""
        end_bound(self._process)
        shutil.rmtree(self._log.parent, ignore_errors=True)


def start_bound(arguments: Sequence[str], out: int) -> "subprocess.Popen[bytes]":
    """Start Python with the arguments; it sees the end of its standard input when this process ends.

    In a session of its own, so that a Ctrl-C meant for the starter does not end it before it has cleaned up.
    """
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=out,
        stderr=out,
        start_new_session=True,
    )


def end_bound(process: "subprocess.Popen[bytes]", seconds: float = 60) -> None:
    """Close the held process's standard input and wait until it has cleaned up.

    Raises:
        subprocess.TimeoutExpired: it did not end within `seconds`.
    """
    if process.stdin:
        process.stdin.close()
    process.wait(seconds)


def starter_has_gone(seconds: float = 0.5) -> bool:
    """Wait for at most so long and say whether standard input has closed."""
    readable, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(readable) and not os.read(sys.stdin.fileno(), 4096)


def exit_on_sigterm() -> None:
    """Let a SIGTERM end this process as `sys.exit` does, so that what it holds is cleaned up."""

    def leave(_signal: int, _frame: FrameType | None) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, leave)


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """Ask the process's group to end, and make it end five seconds later."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            return
        # The leader's end is not the group's: the second signal finds whoever is left.
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)


def main(folder: Path, command: Sequence[str]) -> int:
    exit_on_sigterm()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        while not starter_has_gone():
            if child.poll() is not None:
                # The folder stays: the starter will want to know what the command said at its end.
                return child.returncode
    finally:
        end_group(child)
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
