"""One mutant in a process of its own, forked from one that has already loaded everybody else's libraries.

The child loads Ebb afresh with the mistake in it and runs the tests it is given; how it ends is the answer.
"""

import importlib
import os
import resource
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from types import CodeType
from typing import Any, Final

import hypothesis
import pytest

from tests.mutation.reach import SUITES
from tests.mutation.sites import ROOT, Mutant

LEAST_SECONDS: Final = 10
PATIENCE: Final = 3
"""A mutant may take so many times the processor time that its tests took under coverage."""


class Fate(StrEnum):
    KILLED = "killed"
    SURVIVED = "survived"
    UNTESTED = "untested"
    """No test runs the line."""


class _Mistaken(SourceFileLoader):
    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant.module, str(mutant.path))
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        code: CodeType = self._mutant.code()
        return code


class _Finder:
    """Python asks it before all others for each module; it has an answer for one."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        del path, target
        if name != self._mutant.module:
            return None
        return spec_from_file_location(name, self._mutant.path, loader=_Mistaken(self._mutant))


class _Chosen:
    """Runs the given tests and no others, in the order given."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._turn = {test: turn for turn, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted(
            (each for each in items if each.nodeid in self._turn), key=lambda each: self._turn[each.nodeid]
        )


def warm_up(libraries: Sequence[str]) -> None:
    """Load what all children will need; a module that wants to be the only one loaded is left to them."""
    hypothesis.settings.register_profile(
        "mutation", database=None, derandomize=True, deadline=None,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    )  # fmt: skip
    hypothesis.settings.load_profile("mutation")
    with warnings.catch_warnings(action="ignore"):
        for name in libraries:
            with suppress(Exception):
                importlib.import_module(name)


def start(mutant: Mutant | None, tests: Sequence[str], seconds: float) -> int:
    """Begin to try a mutant, or (None) the code as it is; return the child's process id."""
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        code = _try(mutant, tests, seconds)
    finally:
        os._exit(code)


def fate(status: int) -> Fate:
    """Return what the child's end says: all tests passed, or anything else."""
    return Fate.SURVIVED if os.waitstatus_to_exitcode(status) == pytest.ExitCode.OK else Fate.KILLED


def _try(mutant: Mutant | None, tests: Sequence[str], seconds: float) -> int:
    limit = int(LEAST_SECONDS + PATIENCE * seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    if mutant is not None:
        sys.meta_path.insert(0, _Finder(mutant))
    os.chdir(ROOT)
    return next((code for part in rounds(tests) if (code := _run(part))), 0)


def rounds(tests: Sequence[str]) -> list[list[str]]:
    """Return the tests of the two files that know most of the line, and then all others: most mutants die at once."""
    counted = Counter(_file(test) for test in tests)
    near = {name for name, _ in counted.most_common(2)}
    parts = [[test for test in tests if (_file(test) in near) is first] for first in (True, False)]
    return [part for part in parts if part]


def _run(tests: Sequence[str]) -> int:
    files = sorted({_file(test) for test in tests}, key=lambda name: (SUITES.index(_suite(name)), name))
    # plain asserts: nobody reads what they say, and hypothesis has been loaded already
    options = ["-q", "-x", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:cov"]
    return pytest.main([*options, *files], plugins=[_Chosen(tests)])


def _file(test: str) -> str:
    return test.split("::", maxsplit=1)[0]


def _suite(name: str) -> str:
    return next(suite for suite in SUITES if name.startswith(suite))
