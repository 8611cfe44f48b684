"""Would the tests notice? Makes small mistakes in the rules, one at a time, and says which of them no test saw.

`python -m tests.mutation [--share 0.1] [--seed 0] [--jobs 1] [--out FILE] [--again FILE] [WORD …]`: a share of all
mutants drawn by the seed; WORDs choose modules; `--out` keeps the survivors and `--again` tries those of such a file.
"""

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.reach import Reach, measure
from tests.mutation.sites import Mutant, mutants, rules
from tests.mutation.trying import Fate, fate, start, warm_up


def main(arguments: list[str]) -> None:
    """Try and tell: a figure for people, never a gate."""
    given = _options(arguments)
    chosen = drawn(_candidates(given.words, given.again), given.share, given.seed)
    reach = measure()
    warm_up(reach.libraries)
    _check_itself(reach)
    _say(f"{len(chosen)} mutants, {len(reach.seconds)} tests")
    fates: Counter[Fate] = Counter()
    survivors = []
    begun = time.monotonic()
    for number, (mutant, end) in enumerate(tried(chosen, reach, given.jobs), 1):
        fates[end] += 1
        if end is not Fate.KILLED:
            survivors.append(mutant.key)
            _keep(survivors, given.out)
            _say(f"{end.value}: {mutant}")
        if number % 50 == 0:
            _say(f"{number} of {len(chosen)}: {_share(fates)}; {(time.monotonic() - begun) / number:.1f} s each")
    _say(_share(fates))


def _keep(survivors: Sequence[tuple[str, ...]], path: Path | None) -> None:
    if path:
        path.write_bytes(msgspec.json.encode(survivors))


def _check_itself(reach: Reach) -> None:
    """Without a mistake the tests must pass here too, or every mutant would count as killed."""
    tests = sorted(reach.seconds)
    start(None, tests, sum(reach.seconds.values()))
    if fate(os.wait()[1]) is not Fate.SURVIVED:
        raise RuntimeError("the suites pass by themselves and fail in a forked process")


def drawn(candidates: Sequence[Mutant], share: float, seed: int) -> list[Mutant]:
    """Return that share of the mutants in an order that the seed alone decides: a run that is stopped was fair too."""
    count = round(len(candidates) * share)
    return random.Random(seed).sample(candidates, count)  # noqa: S311 - a sample, no secret


def tried(chosen: Sequence[Mutant], reach: Reach, jobs: int) -> Iterator[tuple[Mutant, Fate]]:
    """Try them, so many at once, and say how each ended."""
    under_way: dict[int, Mutant] = {}
    for mutant in chosen:
        tests = reach.tests_of(mutant)
        if not tests:
            yield mutant, Fate.UNTESTED
            continue
        under_way[start(mutant, tests, sum(reach.seconds[test] for test in tests))] = mutant
        if len(under_way) >= jobs:
            yield _next(under_way)
    while under_way:
        yield _next(under_way)


def _next(under_way: dict[int, Mutant]) -> tuple[Mutant, Fate]:
    child, status = os.wait()
    return under_way.pop(child), fate(status)


def _candidates(words: Sequence[str], again: Path | None) -> list[Mutant]:
    paths = [path for path in rules() if not words or any(word in str(path) for word in words)]
    found = [mutant for mutant in mutants(paths) if mutant.key not in EQUIVALENT]
    if again is None:
        return found
    asked = {tuple(key) for key in msgspec.json.decode(again.read_bytes())}
    return [mutant for mutant in found if mutant.key in asked]


def _share(fates: Counter[Fate]) -> str:
    alive = fates.total() - fates[Fate.KILLED]
    return f"{alive} of {fates.total()} survive ({alive / max(fates.total(), 1):.1%})"


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command's output


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("words", nargs="*", help="parts of the paths of modules; none = all")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--again", type=Path)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
