"""Would the tests notice? Makes small mistakes in the code, one at a time, and shows which of them no test saw.

`python -m tests.mutation [--share 0.02] [--seed 0] [--jobs 2] [--out FILE] [--again FILE] [--tests PART] [WORD …]`: a
share of all mutants drawn by the seed; WORDs choose modules; `--out` keeps the survivors and `--again` tries those of
such a file. `--tests`, which may be repeated, chooses files of tests: only those are measured and asked.
"""

import argparse
import gc
import os
import random
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.measuring import measure
from tests.mutation.reach import Reach, folder_of
from tests.mutation.sites import ROOT, Mutant, mutants, product
from tests.mutation.suite import Suite, collect, file_of, test_files
from tests.mutation.swapping import Live
from tests.mutation.trying import Fate, Processes, Score, Trial


def main(arguments: list[str]) -> None:
    """Try and show: a figure for people, never a gate."""
    given = _options(arguments)
    os.chdir(ROOT)
    os.environ |= {"EBB_DEEP": "1" if given.deep else "", "EBB_SEED": "0"}
    candidates = drawn(_candidates(given), given.share, given.seed)
    chosen = [mutant for mutant in candidates if mutant.key not in EQUIVALENT]
    reach = Reach(folder_of(deep=given.deep), test_files(given.tests))
    trials = [] if reach.unknown else planned(chosen, reach, given.seconds)
    files = {file_of(test) for trial in trials for test in trial.tests} or reach.files
    collect(sorted(files), partial(_judge, given, chosen, reach))


def _judge(given: argparse.Namespace, chosen: Sequence[Mutant], reach: Reach, suite: Suite) -> None:
    live = Live()
    gc.collect()
    gc.freeze()
    if reach.unknown:
        _say(f"measuring which lines the tests run, once for this version of the code: {len(reach.unknown)} files")
        measure(suite, live, reach.unknown, reach.folder, given.jobs)
        reach = Reach(reach.folder, reach.files)
    processes = Processes(suite, live, reach.limits, given.jobs)
    trials = planned(chosen, reach, given.seconds)
    _check_itself(processes, trials)
    _say(f"{len(trials)} mutants, {len(reach.seconds)} tests; {len(reach.failed)} more fail by themselves")
    _show(processes, trials, given.out)


def planned(chosen: Sequence[Mutant], reach: Reach, seconds: float) -> list[Trial]:
    """Choose the tests of each mutant. What no test is seen to run may still run when modules are imported."""
    running = [(mutant, reach.running(mutant)) for mutant in chosen]
    return [
        Trial(mutant, reach.within(tests or reach.entering(mutant), seconds), afresh=not tests)
        for mutant, tests in running
    ]


def _check_itself(processes: Processes, trials: Sequence[Trial]) -> None:
    """Without a mistake the tests must pass here too, or every mutant would count as killed."""
    for afresh in (False, True):
        first = {trial.tests[0] for trial in trials if trial.afresh is afresh and trial.tests}
        list(processes.tried([Trial(None, sorted(first), afresh)]))


def _show(processes: Processes, trials: Sequence[Trial], out: Path | None) -> None:
    """Print each survivor as soon as it is known, and at the end a row for each package."""
    begun, score, survivors = _seconds(), Score(), []
    for number, (trial, end) in enumerate(processes.tried(trials), 1):
        score.add(trial, end)
        if trial.mutant and end is not Fate.KILLED and end is not Fate.HUNG:
            _say(f"{end} after {len(trial.tests)} tests: {trial.mutant}")
            survivors.append(trial.mutant.key)
            if out:
                out.write_bytes(msgspec.json.encode(survivors))
        if number % 100 == 0:
            _say(f"{number} of {len(trials)} tried")
    _say(score.table())
    _say(f"{(_seconds() - begun) / max(len(trials), 1):.2f} seconds of the processor for each")


def _seconds() -> float:
    """Return the processor seconds of this process and all that it has started."""
    return sum(os.times()[:4])


def drawn(candidates: Sequence[Mutant], share: float, seed: int) -> list[Mutant]:
    """Return that share of the mutants in an order that the seed alone decides: a run that is stopped was fair too."""
    count = round(len(candidates) * share)
    return random.Random(seed).sample(candidates, count)  # noqa: S311 - a sample, no secret


def _candidates(given: argparse.Namespace) -> list[Mutant]:
    paths = [path for path in product() if not given.words or any(word in path.as_posix() for word in given.words)]
    if given.again is None:
        return mutants(paths)
    asked = {tuple(key) for key in msgspec.json.decode(given.again.read_bytes())}
    files = {ROOT / key[0] for key in asked}
    return [mutant for mutant in mutants(path for path in paths if path in files) if mutant.key in asked]


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command's output


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("words", nargs="*", help="parts of the paths of modules; none = all")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5.0, help="of the processor, for the tests of one mutant")
    parser.add_argument("--deep", action="store_true", help="ask the tests that bear the mark deep, too")
    parser.add_argument("--tests", action="append", default=[], help="a part of the paths of tests; none = all")
    parser.add_argument("--out", type=Path, help="keep what survives")
    parser.add_argument("--again", type=Path, help="try those of such a file")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
