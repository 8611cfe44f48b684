"""`pip install` that shows how far it is: `python -m infra.installing ARGUMENTS OF PIP`, for the Makefile.

It runs before anything is installed, so it imports the standard library alone.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Sequence

PIP = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-color", "--progress-bar", "off")
EVERY_SECONDS = 4.0
_COLLECTING = "Collecting "
_INSTALLING = "Installing collected packages: "
_LAST_LINES = 20


def main(arguments: list[str]) -> int:
    """Run pip and return its exit code; if it fails, its last lines go to stderr."""
    begun, lines = time.monotonic(), list[str]()
    with subprocess.Popen(  # noqa: S603 - the Makefile's own words
        [*PIP, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        reader = threading.Thread(target=lambda: lines.extend(pip.stdout or ()))
        reader.start()
        while reader.is_alive():
            reader.join(EVERY_SECONDS)
            sys.stdout.write(f"  {time.monotonic() - begun:3.0f} s  {progress(lines)}\n")
            sys.stdout.flush()
    if pip.returncode:
        sys.stderr.writelines(lines[-_LAST_LINES:])
    return pip.returncode


def progress(lines: Sequence[str]) -> str:
    """Return what pip does now, from its lines so far."""
    for line in reversed(lines):
        if line.startswith(_INSTALLING):
            return f"unpacking {line.count(',') + 1} packages"
    names = [line.removeprefix(_COLLECTING).split()[0] for line in lines if line.startswith(_COLLECTING)]
    return f"{len(names)} packages so far, now {names[-1]}" if names else "starting"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
