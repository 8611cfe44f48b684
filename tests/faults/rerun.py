"""`python -m tests.faults.rerun NAME`: one history again; the digest is equal on every machine and in every process."""

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
    history = history_named(name)
    told = describe_failure(history)
    print(f"{told or 'The promise was kept.'}\nrecord {digest(history)}")  # noqa: T201 - a command's output
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
