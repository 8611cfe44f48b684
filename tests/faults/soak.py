"""Goes on with new seeds until it is stopped: `python -m tests.faults.soak [first seed [how many]]`.

One seed alone is run with its story, as a failure printed it. Without a first seed, the time chooses one.
"""

import sys
import time
from itertools import count

from tests.faults.catalog import mixture
from tests.faults.running import describe_failure

TELL_EVERY = 500


def main(arguments: list[str]) -> int:
    """Run and tell; return 1 if any history broke the promise."""
    first = int(arguments[0]) if arguments else int(time.time()) * 1000
    seeds = range(first, first + int(arguments[1])) if len(arguments) > 1 else count(first)
    broken, begun = 0, time.monotonic()
    try:
        for number, seed in enumerate(seeds, 1):
            told = describe_failure(mixture(seed, people=seed % 2 == 0))
            if told:
                broken += 1
                print(f"seed {seed}: {told}\n", flush=True)  # noqa: T201 - a command's output
            if number % TELL_EVERY == 0:
                rate = number / (time.monotonic() - begun)
                print(f"{number} histories, {broken} broken, {rate:.0f} a second", flush=True)  # noqa: T201 - as above
    except KeyboardInterrupt:
        pass  # that is how it ends
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
