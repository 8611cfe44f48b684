"""Which tests run which lines, and how long each takes, as it was measured for this version of the code.

Only those tests are asked about a mutant that run its line: those of its own module first, then the quickest.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from tests.mutation.sites import ROOT, Mutant, product
from tests.mutation.suite import file_of

_KEPT: Final = ROOT / "build" / "mutation"
_TESTS_OF: Final = """
    SELECT context, numbits FROM line_bits JOIN file ON file.id = file_id JOIN context ON context.id = context_id
    WHERE path = ?"""
_LEAST_SECONDS: Final = 5
_PATIENCE: Final = 4
"""A test may take so many times the processor seconds that the slowest of its file took without a mutant."""


class Measured(msgspec.Struct, frozen=True):
    """One file of tests: its version, by test its processor seconds, and the tests that fail without any mutant."""

    file: str
    version: str
    seconds: dict[str, float]
    failed: list[str]


class Reach:
    """What is known. A file of tests that changes is measured again, alone; any other change begins from nothing."""

    def __init__(self, folder: Path, files: Sequence[str]) -> None:
        """Read of these files of tests what the folder has: rows, and data of coverage with the tests as contexts."""
        self.folder, self.files = folder, files
        rows = (row for path in folder.glob("*.jsonl") for row in path.read_bytes().splitlines())
        measured = (msgspec.json.decode(row, type=Measured) for row in rows)
        known = {row.file: row for row in measured if row.file in files and row.version == version_of(row.file)}
        self.unknown = [file for file in files if file not in known]
        self.seconds = {test: spent for row in known.values() for test, spent in row.seconds.items()}
        self.failed = [test for row in known.values() for test in row.failed]
        self.limits = {
            file: _LEAST_SECONDS + _PATIENCE * max(row.seconds.values(), default=0) for file, row in known.items()
        }
        self._data = [sqlite3.connect(path) for path in folder.glob("*.coverage")]
        self._rows: dict[Path, list[tuple[str, bytes]]] = {}

    def running(self, mutant: Mutant) -> list[str]:
        """Return the tests that run the mutant's lines."""
        wanted = [(line // 8, 1 << line % 8) for line in mutant.lines]
        tests = {
            test
            for test, bits in self._rows_of(mutant.path)
            if any(place < len(bits) and bits[place] & bit for place, bit in wanted)
        }
        return self._in_order(tests, mutant)

    def entering(self, mutant: Mutant) -> list[str]:
        """Return the tests that come into its module or one that imports it, and all of its own files.

        What those ask while their tables are made, no test is seen to run.
        """
        own, names = self._own(mutant), _names(mutant)
        paths = (path for path in product() if path == mutant.path or names & _imports(path))
        tests = {test for path in paths for test, _ in self._rows_of(path)}
        return self._in_order(tests.union(test for test in self.seconds if file_of(test) in own), mutant)

    def within(self, tests: Iterable[str], seconds: float) -> list[str]:
        """Return the tests that fit into so many seconds, the first ones first."""
        found = []
        for test in tests:
            if self.seconds[test] <= seconds:
                seconds -= self.seconds[test]
                found.append(test)
        return found

    def _rows_of(self, path: Path) -> list[tuple[str, bytes]]:
        """Return the tests that come into the file, each with the lines it runs as coverage writes them: bits."""
        if path not in self._rows:
            self._rows[path] = [row for data in self._data for row in data.execute(_TESTS_OF, (str(path),))]
        return self._rows[path]

    def _in_order(self, tests: set[str], mutant: Mutant) -> list[str]:
        own, passing = self._own(mutant), tests & self.seconds.keys()
        return sorted(passing, key=lambda test: (file_of(test) not in own, self.seconds[test], test))

    def _own(self, mutant: Mutant) -> set[str]:
        """Return the files of tests that are about the module."""
        name, names = f"/test_{mutant.path.stem}.py", _names(mutant)
        return {file for file in self.limits if file.endswith(name) or names & _imports(Path(file))}


def _names(mutant: Mutant) -> frozenset[str]:
    """Return what others import the mutant's code from: its module, or the package that hands it on."""
    return frozenset({mutant.module, mutant.module.rpartition(".")[0]})


@cache
def _imports(path: Path) -> frozenset[str]:
    return frozenset(re.findall(r"from (\S+) import", path.read_text(encoding="utf-8")))


def version_of(file: str) -> str:
    path = Path(file)
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def folder_of(*, deep: bool) -> Path:
    """Return where this version of the code is kept: all that is shipped, and what the tests share."""
    text = sha256(b"deep" if deep else b"")
    for path in _sources():
        text.update(path.read_bytes())
    return _KEPT / text.hexdigest()[:16]


def _sources() -> Iterator[Path]:
    for top in ("shared", "functions", "infra", "tests"):
        files = sorted(path for path in (ROOT / top).rglob("*") if path.suffix in {".py", ".yaml"})
        yield from (path for path in files if not path.name.startswith("test_") and path.parent.name != "mutation")
