"""`python -m infra.local.demo`: the demo as a process of its own, which `ebb demo` becomes."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from infra.local.demo.run import run
from shared.errors import EbbError

_COULD_NOT = 1


def main(words: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit code; a process that does not start is one sentence on stderr."""
    parser = argparse.ArgumentParser(prog="ebb demo", description="Watch the whole loop on a simulated GKE.")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep what the processes wrote in this folder")
    parser.add_argument("--keep", action="store_true", help="leave everything up until Ctrl-C, to try the commands on")
    asked = parser.parse_args(words)
    try:
        return run(asked.logs, keep=asked.keep)
    except EbbError as failure:
        sys.stderr.write("".join(f"ebb: {sentence}\n" for sentence in str(failure).splitlines()))
        return _COULD_NOT


if __name__ == "__main__":
    sys.exit(main())
