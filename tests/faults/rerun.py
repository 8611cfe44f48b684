"""`python -m tests.faults.rerun NAME`: one history again, to the letter; without a name new ones until it is stopped.

The digest of the record is equal on every machine and in every process. `EBB_SEED` is the first seed of those drawn.
"""

import sys
import time
from contextlib import suppress
from hashlib import sha256
from itertools import count

from tests.depth import SEED
from tests.faults.families import history_named, shuffled
from tests.faults.history import History, run
from tests.faults.running import describe_failure

TELL_EVERY = 500


def digest(history: History) -> str:
    end = run(history)
    told = "\n".join([*map(str, end.cloud.world.record.entries), *map(str, end.call_gate.calls), *end.log.lines])
    return sha256(told.encode()).hexdigest()[:16]


def again(name: str) -> int:
    """Tell the history's story if it broke the promise; return 1 then."""
    history = history_named(name)
    told = describe_failure(history)
    print(f"{told or 'The promise was kept.'}\nrecord {digest(history)}")  # noqa: T201 - a command's output
    return 1 if told else 0


def soak() -> None:
    """Run drawn histories, with ever new seeds, and tell of those that break the promise."""
    broken, begun = 0, time.monotonic()
    drawn = ((seed, history) for seed in count(SEED) for history in shuffled(seed))
    for number, (seed, history) in enumerate(drawn, 1):
        if told := describe_failure(history):
            broken += 1
            print(f"EBB_SEED={seed}: {told}\n", flush=True)  # noqa: T201 - a command's output
        if number % TELL_EVERY == 0:
            rate = number / (time.monotonic() - begun)
            print(f"{number} histories, {broken} broken, {rate:.0f} a second", flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(again(sys.argv[1]))
    with suppress(KeyboardInterrupt):  # that is how it ends
        soak()
