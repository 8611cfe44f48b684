"""Runs many histories and tells the first few that broke the promise, each so that it can be run again."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from tests.depth import DEEP, SEED
from tests.faults.equal_plans import equal_plans_made_once
from tests.faults.families import Part, share
from tests.faults.history import History, run
from tests.faults.oracle import Judgement, judgement

T = TypeVar("T")
LEAST = 20_000 if DEEP else 1_800
"""A run of the whole folder that has tried fewer histories has failed."""
MOST_FAILURES = 3
SUMS = "histories"
"""The property by which a test tells how many histories it has run, and what they came to."""

Record = Callable[[str, object], None]
"""pytest's `record_property`."""


@dataclass
class Sums:
    """What many histories came to; the excuses by the number of histories that used them."""

    histories: int = 0
    excused: Counter[str] = field(default_factory=Counter)
    waits: dict[str, float] = field(default_factory=dict)
    """The longest wait of a moved pod while Ebb held its node and nothing hindered it, by kind of history."""

    def add(self, found: Judgement, kind: str) -> None:
        self.histories += 1
        self.excused.update(excuse.name for excuse, times in found.excuses.used.items() if times)
        self._waited({kind: found.longest_wait})

    def read(self, text: str) -> None:
        histories, excused, waits = json.loads(text)
        self.histories += histories
        self.excused.update(excused)
        self._waited(waits)

    def _waited(self, waits: Mapping[str, float]) -> None:
        for kind, seconds in waits.items():
            self.waits[kind] = max(self.waits.get(kind, 0.0), seconds)

    def text(self) -> str:
        return json.dumps([self.histories, self.excused, self.waits])


def some(rows: Sequence[T], name: str, of: int) -> Sequence[T]:
    """Return one of so many, others with each seed; all in a deep run."""
    return rows if DEEP else rows[share(name, of, SEED) :: of]


def is_whole(paths: Iterable[Path], chosen: str) -> bool:
    """Whether a run of these paths, of which some tests may be chosen, is to run all tests of this folder."""
    return not chosen and any(Path(__file__).is_relative_to(path) for path in paths)


def describe_failure(history: History, sums: Sums | None = None, kind: str = "") -> str:
    """Run a history and return what broke and what Ebb told, empty if it kept the promise."""
    end = run(history)
    found = judgement(end)
    if sums is not None:
        sums.add(found, kind)
    if not (broke := found.breaches):
        return ""
    struck = [str(call) for call in end.call_gate.calls if call.number in history.faults]
    again = f"Run it again: python -m tests.faults.rerun '{history.name}'"
    return "\n".join([again, str(history), *struck, *(f"  BROKE {breach}" for breach in broke), *end.log.lines])


def assert_kept(part: Part, tell: Record) -> None:
    sums, told = Sums(), list[str]()
    with equal_plans_made_once():
        for history in part.histories():
            found = describe_failure(history, sums, part.kind)
            told += [found] if found else []
            if len(told) == MOST_FAILURES:
                break
    tell(SUMS, sums.text())
    if told:
        pytest.fail("\n\n".join(told), pytrace=False)
