"""Ends workers of Ebb's functions with SIGKILL, at moments that a seed decides: gunicorn starts them anew at once."""

import os
import signal
import subprocess
from random import Random

from tests.real.installation import Installation
from tests.real.waiting import until

DRAINERS_SHARE = 0.85
_PS_SECONDS = 60
_STACKS, _ALL = "Fatal Python error", 100_000


class Killer:
    def __init__(self, installation: Installation, random: Random) -> None:
        self._installation, self._random = installation, random
        self.killed = {"plan": 0, "drain": 0}

    def strike(self) -> None:
        """Kill a worker of the drainer, now and then one of the planner; none if it has just been killed."""
        target = "drain" if self._random.random() < DRAINERS_SHARE else "plan"
        found = workers(self._installation.pid(target))
        if found:
            self._kill(target, self._random.choice(found))

    def _kill(self, target: str, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.killed[target] += 1


def stacks(installation: Installation, target: str) -> str:
    """End a function's workers and return their threads' stacks: Python's fault handler takes SIGFPE for a fault."""
    for worker in workers(installation.pid(target)):
        os.kill(worker, signal.SIGFPE)
    until("the stacks", lambda: _STACKS in installation.said(target, _ALL))
    return installation.said(target, _ALL)


def workers(bound: int) -> list[int]:
    """Return the server's workers: the grandchildren of the process that it is bound to."""
    children = _children()
    return [worker for server in children.get(bound, []) for worker in children.get(server, [])]


def _children() -> dict[int, list[int]]:
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True, timeout=_PS_SECONDS
    )
    found: dict[int, list[int]] = {}
    for pid, parent in (map(int, line.split()) for line in listing.stdout.splitlines()):
        found.setdefault(parent, []).append(pid)
    return found
