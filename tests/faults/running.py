"""Runs many histories and tells the first few that broke the promise, each so that it can be run again.

Every ninth history is run (an odd stride, so that kills before and after a call both have their turn);
`FAULT_STRIDE=1` runs all of them, as `make faults` does, and `make soak` runs on with new seeds. How many have run is
summed up and told by `conftest`.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice

import pytest

from tests.faults.history import History, run
from tests.faults.oracle import Judgement, judgement

STRIDE = int(os.environ.get("FAULT_STRIDE", "9"))
SEED = int(os.environ.get("FAULT_SEED", "0"))
"""The first seed of the mixtures; those of the other histories are always the same."""
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
    longest_wait: float = 0.0

    def add(self, found: Judgement) -> None:
        """Count one history."""
        self.histories += 1
        self.excused.update(excuse.name for excuse, times in found.excuses.used.items() if times)
        self.longest_wait = max(self.longest_wait, found.longest_wait)

    def read(self, text: str) -> None:
        """Add what a test has told."""
        histories, excused, longest = json.loads(text)
        self.histories += histories
        self.excused.update(excused)
        self.longest_wait = max(self.longest_wait, longest)

    def text(self) -> str:
        return json.dumps([self.histories, self.excused, self.longest_wait])


def describe_failure(history: History, sums: Sums | None = None) -> str:
    """Run a history and return what broke and what Ebb told, empty if it kept the promise."""
    end = run(history)
    found = judgement(end)
    if sums is not None:
        sums.add(found)
    if not (broke := found.breaches):
        return ""
    struck = [str(call) for call in end.call_gate.calls if call.number in history.faults]
    again = f"Run it again: python -m tests.faults.rerun '{history.name}'"
    return "\n".join([again, str(history), *struck, *(f"  BROKE {each}" for each in broke), *end.log.lines])


def assert_kept(histories: Iterable[History], tell: Record, part: int = 0, parts: int = 1) -> None:
    """Run one of so many equal parts of the histories; fail with the stories of those that broke the promise."""
    sums, told = Sums(), list[str]()
    for history in islice(histories, part * STRIDE, None, parts * STRIDE):
        found = describe_failure(history, sums)
        told += [found] if found else []
        if len(told) == MOST_FAILURES:
            break
    tell(SUMS, sums.text())
    if told:
        pytest.fail("\n\n".join(told), pytrace=False)
