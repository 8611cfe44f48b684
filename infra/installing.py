"""`pip install` that shows how far it is: `python -m infra.installing ARGUMENTS OF PIP`, for the Makefile.

A line for every few packages, and one after each silence. Runs before anything is installed,
so it imports the standard library alone.
"""

import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import IO

PIP = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-color", "--progress-bar", "off")
EVERY_SECONDS = 4.0
_COLLECTING = re.compile(r"Collecting ([A-Za-z0-9._-]+)")
_INSTALLING = "Installing collected packages: "
_LAST_WORDS = 20


def main(arguments: list[str]) -> int:
    """Run pip and return its exit code; if it fails, its last lines go to stderr."""
    with subprocess.Popen(  # noqa: S603 - the Makefile's own words
        [*PIP, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        assert pip.stdout  # noqa: S101 - a pipe was asked for
        said: list[str] = []
        for line in progress(_with_silence(pip.stdout, said), time.monotonic):
            sys.stdout.write(f"  {line}\n")
            sys.stdout.flush()
    if pip.returncode:
        sys.stderr.writelines(said[-_LAST_WORDS:])
    return pip.returncode


def progress(lines: Iterable[str | None], seconds: Callable[[], float]) -> Iterator[str]:
    """Return what to show of pip's lines, at most one in a while; None among them stands for silence."""
    begun = shown = seconds()
    doing = "starting"
    count = 0
    for line in lines:
        if line and (found := _COLLECTING.match(line)):
            count += 1
            doing = f"{count} packages so far, now {found[1]}"
        elif line and line.startswith(_INSTALLING):
            doing = f"unpacking {line.count(',') + 1} packages"
            shown = begun - EVERY_SECONDS
        if (now := seconds()) - shown >= EVERY_SECONDS:
            shown = now
            yield f"{shown - begun:3.0f} s  {doing}"


def _with_silence(stream: IO[str], said: list[str]) -> Iterator[str | None]:
    """Return the lines as they come, kept in `said`, and None for each while in which none came."""
    waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in stream:
            waiting.put(line)
        waiting.put("")

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = waiting.get(timeout=EVERY_SECONDS)
        except queue.Empty:
            yield None
            continue
        if not line:
            return
        said.append(line)
        yield line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
