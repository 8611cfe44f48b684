"""`python -m tests.faults.soak [how many [family ...]]`: draws with ever new seeds, from `EBB_SEED` on."""

import sys
import time
from collections.abc import Collection, Iterator
from itertools import count, islice

from tests.depth import SEED
from tests.faults.families import shuffled
from tests.faults.history import History
from tests.faults.running import describe_failure

TELL_EVERY = 500


def drawn(first: int, families: Collection[str]) -> Iterator[tuple[int, History]]:
    return ((seed, history) for seed in count(first) for history in shuffled(seed, families))


def main(arguments: list[str]) -> int:
    broken, begun = 0, time.monotonic()
    most, families = (int(argument) for argument in arguments[:1]), arguments[1:]
    try:
        for number, (seed, history) in enumerate(islice(drawn(SEED, families), next(most, None)), 1):
            told = describe_failure(history)
            if told:
                broken += 1
                print(f"EBB_SEED={seed}: {told}\n", flush=True)  # noqa: T201 - a command's output
            if number % TELL_EVERY == 0:
                rate = number / (time.monotonic() - begun)
                print(f"{number} histories, {broken} broken, {rate:.0f} a second", flush=True)  # noqa: T201 - as above
    except KeyboardInterrupt:
        pass  # that is how it ends
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
