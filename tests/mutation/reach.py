"""Which tests run which lines, how long each takes, and what of other people's code they load: one run with coverage.

Only those tests are asked about a mutant that run its line, the quickest first. Must not judge.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
import pytest
from coverage import CoverageData

from tests.mutation.sites import ROOT, Mutant

SUITES: Final = ("tests/core", "tests/test_scenarios.py", "tests/properties", "tests/functions")
"""The quick suites of the rules."""
_NOTES: Final = "MUTATION_NOTES"
_OURS: Final = ("shared", "tests", "functions", "infra", "main")


@dataclass
class Reach:
    """By test its seconds of processor time; by file and line the tests that ran it."""

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    libraries: list[str] = field(default_factory=list)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests to ask, the quickest first: those that run the line, and all of the module's own files.

        Of code that runs at import, all that come into the file. The module's own test files are those that name it:
        what they ask while their tables are made, no test is seen to run.
        """
        rows = self.lines.get(mutant.file, {})
        tests = {test for line in mutant.lines or rows for test in rows.get(line, ())}
        tests |= {test for test in self.seconds if f"from {mutant.module} import" in _text(test.split("::")[0])}
        return sorted(tests & self.seconds.keys(), key=lambda test: (self.seconds[test], test))


@cache
def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def measure() -> Reach:
    """Run the suites once.

    Raises:
        RuntimeError: the suites fail without any mutant.
    """
    with TemporaryDirectory() as folder:
        data, notes = Path(folder, "coverage"), Path(folder, "notes")
        options = ["--cov=shared/core", "--cov-context=test", "--cov-report=", "-p", "tests.mutation.reach"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *options, *SUITES],
            cwd=ROOT,
            env={**os.environ, "COVERAGE_FILE": str(data), _NOTES: str(notes), "HYPOTHESIS_STORAGE_DIRECTORY": folder},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"the suites fail without any mutant:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        reach = Reach(**msgspec.json.decode(notes.read_bytes()))
        reach.lines = _lines(data)
        return reach


def _lines(path: Path) -> dict[str, dict[int, set[str]]]:
    data = CoverageData(str(path))
    data.read()
    files = {str(Path(name).relative_to(ROOT)): name for name in data.measured_files()}
    return {
        short: {line: {each.split("|")[0] for each in tests if each} for line, tests in _contexts(data, name)}
        for short, name in files.items()
    }


def _contexts(data: CoverageData, name: str) -> Iterable[tuple[int, list[str]]]:
    return data.contexts_by_lineno(name).items()


class _Notes:
    """Loaded as a plugin into the measuring run."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Processor time: what a test takes on a busy machine says nothing of it."""
        begun = time.process_time()
        answer = yield
        self._seconds[item.nodeid] = time.process_time() - begun
        return answer

    def pytest_sessionfinish(self) -> None:
        libraries = sorted(name for name in sys.modules if name.split(".")[0] not in _OURS)
        Path(self._path).write_bytes(msgspec.json.encode({"seconds": self._seconds, "libraries": libraries}))


def pytest_configure(config: pytest.Config) -> None:
    path = os.environ.get(_NOTES)
    if path:
        config.pluginmanager.register(_Notes(path))
