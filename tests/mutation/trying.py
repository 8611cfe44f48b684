"""One trial in a process of its own, forked from the one that has collected the tests. How it ends is the answer.

The score counts how many of each package's mutants the tests saw.
"""

import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final

from tests.mutation.sites import Mutant
from tests.mutation.suite import Suite, collect, file_of
from tests.mutation.swapping import ImportTime, Live, fresh

_Ask = Callable[[Suite, Sequence[str]], str]
_TO_COLLECT: Final = 60
_WALL: Final = 20
"""So many seconds on a busy machine may pass for one of the processor's."""
_MEMORY: Final = 4 << 30
_PASSED, _FAILED, _BROKEN = 0, 1, 3


class Fate(StrEnum):
    KILLED = "killed"
    HUNG = "hung"
    """Killed by the limit of time."""
    SURVIVED = "survived"
    UNTESTED = "untested"
    """No test runs the line."""


@dataclass(frozen=True)
class Trial:
    """The tests to ask, in order, about a mutant; or (None) about the code as it is."""

    mutant: Mutant | None
    tests: Sequence[str]
    afresh: bool = False
    """Whether all code is to be loaded again."""


class Processes:
    """So many at once. `limits` are the processor seconds that a test of each file may take."""

    def __init__(self, suite: Suite, live: Live, limits: Mapping[str, float], jobs: int) -> None:
        self.jobs = jobs
        self._work = partial(_try, suite, live, limits)
        self._under_way: dict[int, Trial] = {}

    def tried(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Fate]]:
        """Try them, and yield how each ended."""
        try:
            for trial in trials:
                self._under_way[forked(partial(self._work, trial))] = trial
                if len(self._under_way) >= self.jobs:
                    yield self._next()
            while self._under_way:
                yield self._next()
        finally:
            for child in self._under_way:
                clear(child)

    def _next(self) -> tuple[Trial, Fate]:
        child, status = ended()
        trial, end = self._under_way.pop(child), fate(status)
        is_unseen = trial.afresh and trial.mutant is not None and (trial.mutant.lines or not trial.tests)
        return trial, Fate.UNTESTED if end is Fate.SURVIVED and is_unseen else end


def fate(status: int) -> Fate:
    """Return what the end of a process shows.

    Raises:
        RuntimeError: the trial itself broke down.
    """
    code = os.waitstatus_to_exitcode(status)
    if code == _BROKEN:
        raise RuntimeError("a trial has broken down, as shown above")
    if -code in {signal.SIGXCPU, signal.SIGALRM}:
        return Fate.HUNG
    return Fate.KILLED if code else Fate.SURVIVED


def forked(work: Callable[[], int]) -> int:
    """Do the work in a process of its own, which ends with the number it returns; return the process's id."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code, errors = _BROKEN, os.fdopen(os.dup(2), "w")
    try:
        os.setpgid(0, 0)
        _move_away()
        code = work()
    except BaseException:  # noqa: BLE001 - this is the last that the process does
        traceback.print_exc(file=errors)
        errors.flush()
    finally:
        os._exit(code)


def _move_away() -> None:
    """Read nothing, show nothing, and write into a folder that goes with the process."""
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    tempfile.tempdir = os.environ["TMPDIR"] = _scratch(os.getpid())
    shutil.rmtree(tempfile.tempdir, ignore_errors=True)
    Path(tempfile.tempdir).mkdir()


def _scratch(child: int) -> str:
    return str(Path(tempfile.gettempdir(), f"ebb-mutant-{child}"))


def ended(child: int = 0) -> tuple[int, int]:
    """Wait for that process, or for any, end what it has started, and return how it ended."""
    found = os.waitid(os.P_PID if child else os.P_ALL, child, os.WEXITED | os.WNOWAIT)
    child = found.si_pid if found else child
    clear(child)
    return os.waitpid(child, 0)


def clear(child: int) -> None:
    """End a process and what it has started, and remove what it has written."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    shutil.rmtree(_scratch(child), ignore_errors=True)


def _try(suite: Suite, live: Live, limits: Mapping[str, float], trial: Trial) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    failed = _failed(trial, suite, live, partial(_first_failed, limits))
    if failed and trial.mutant is None:
        raise RuntimeError(f"without a mutant in a process of its own: {failed}")
    return _FAILED if failed else _PASSED


def _failed(trial: Trial, suite: Suite, live: Live, ask: _Ask) -> str:
    """Return what failed first, or nothing."""
    if not trial.afresh:
        with suppress(ImportTime):
            live.swap(trial.mutant)
            return ask(suite, trial.tests)
    fresh(trial.mutant)
    # Most mutants die in the file that is asked first; only then all others are loaded.
    files = list(dict.fromkeys(map(file_of, trial.tests)))
    parts = (part for part in (files[:1], files[1:]) if part)
    return next((failed for part in parts if (failed := _collected(part, trial.tests, ask))), "")


def _collected(files: Sequence[str], tests: Sequence[str], ask: _Ask) -> str:
    """Load those files, and ask what is there of the tests: a mistake may give a test another name."""
    failed: list[str] = []
    _limit(_TO_COLLECT)
    try:
        collect(files, lambda suite: failed.append(ask(suite, [test for test in tests if test in suite.items])))
    except RuntimeError as problem:
        failed.append(str(problem))
    return "".join(failed)


def _first_failed(limits: Mapping[str, float], suite: Suite, tests: Sequence[str]) -> str:
    """Return the first test that fails; whatever breaks a test off is the mutant's doing."""
    try:
        run = suite.run(tests, lambda test: _limit(limits[file_of(test)]))
        return next((f"{test} fails" for test, passes in run if not passes), "")
    except BaseException as problem:  # noqa: BLE001 - an interrupt or an exit too
        return f"broken off: {problem!r}"


def _limit(seconds: float) -> None:
    """Let the process end if what comes next takes longer."""
    end = int(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
    signal.alarm(int(seconds * _WALL))


class Score:
    def __init__(self) -> None:
        self._fates: dict[str, Counter[Fate]] = defaultdict(Counter)

    def add(self, trial: Trial, end: Fate) -> None:
        if trial.mutant:
            self._fates[trial.mutant.package][end] += 1

    def table(self) -> str:
        """Return a row for each package and one for all."""
        head = f"{'':28}{'mutants':>9}{''.join(f'{fate:>10}' for fate in Fate)}{'score':>7}"
        rows = [*sorted(self._fates.items()), ("all", sum(self._fates.values(), Counter()))]
        return "\n".join([head, *(_row(package, fates) for package, fates in rows)])


def _row(package: str, fates: Counter[Fate]) -> str:
    seen = (fates[Fate.KILLED] + fates[Fate.HUNG]) / max(fates.total(), 1)
    return f"{package:28}{fates.total():9}{''.join(f'{fates[fate]:10}' for fate in Fate)}{seen:7.0%}"
