"""Runs one history again by the name that a failure printed: `python -m tests.faults.rerun NAME`.

The digest of the record is equal on every machine and in every process: equal seeds make equal histories.
"""

import sys
from hashlib import sha256

from tests.faults.families import history_named
from tests.faults.history import History, run
from tests.faults.running import describe_failure


def digest(history: History) -> str:
    """Return a short word for everything that happened in the history."""
    end = run(history)
    told = "\n".join([*map(str, end.cloud.world.record.entries), *map(str, end.call_gate.calls), *end.log.lines])
    return sha256(told.encode()).hexdigest()[:16]


def main(name: str) -> int:
    """Tell the history's story if it broke the promise; return 1 then."""
    history = history_named(name)
    told = describe_failure(history)
    print(f"{told or 'The promise was kept.'}\nrecord {digest(history)}")  # noqa: T201 - a command's output
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
