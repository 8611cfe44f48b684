"""Appends to build/times.tsv if `EBB_PART` is set: part, outcome, CPU and wall seconds, test (or how many left out)."""

import os
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

TIMES: Final = Path(__file__).parents[1] / "build" / "times.tsv"
LEFT_OUT: Final = "left out"
_RANK: Final = ("passed", "skipped", "failed")


@dataclass(frozen=True)
class Row:
    part: str
    outcome: str
    cpu: float
    wall: float
    test: str


def read(path: Path = TIMES) -> list[Row]:
    if not path.is_file():
        return []
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [Row(part, outcome, float(cpu), float(wall), test) for part, outcome, cpu, wall, test in rows]


def pytest_configure(config: pytest.Config) -> None:
    if part := os.environ.get("EBB_PART"):
        config.pluginmanager.register(_Writer(part, _is_first(config)), "times-writer")


def _is_first(config: pytest.Config) -> bool:
    """All workers leave out the same tests; one of them writes the number."""
    return bool(getattr(config, "workerinput", {}).get("workerid", "gw0") == "gw0")


def cpu_seconds() -> float:
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


class _Writer:
    def __init__(self, part: str, is_first: bool) -> None:
        self._part, self._is_first, self._left_out = part, is_first, 0
        self._outcome = _RANK[0]

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self._left_out += sum(item.get_closest_marker("deep") is not None for item in items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._outcome = max(self._outcome, report.outcome, key=_RANK.index)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        os.environ.pop("EBB_PART", None)  # what a test starts is no part
        self._outcome, cpu, wall = _RANK[0], cpu_seconds(), time.monotonic()
        done = yield
        self._write(self._outcome, cpu_seconds() - cpu, time.monotonic() - wall, item.nodeid)
        return done

    def pytest_sessionfinish(self) -> None:
        if self._is_first and self._left_out:
            self._write(LEFT_OUT, 0, 0, str(self._left_out))

    def _write(self, outcome: str, cpu: float, wall: float, test: str) -> None:
        """Append one line at once: several workers write into the same file."""
        TIMES.parent.mkdir(exist_ok=True)
        name = test.replace("\t", " ").replace("\n", " ")
        with TIMES.open("a", encoding="utf-8") as out:
            out.write(f"{self._part}\t{outcome}\t{cpu:.3f}\t{wall:.3f}\t{name}\n")
