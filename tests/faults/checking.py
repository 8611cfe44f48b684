"""Runs many histories and tells the first few that broke the promise, each so that it can be run again.

Every ninth history is run (an odd stride, so that kills before and after a call both have their turn);
`FAULT_STRIDE=1` runs all of them, as `make faults` does, and `make soak` runs on with new seeds. How many have run is
summed up and told by `conftest`.
"""

import os
from collections.abc import Callable, Iterable
from itertools import islice

import pytest

from tests.faults.history import History, run
from tests.faults.oracle import breaches

STRIDE = int(os.environ.get("FAULT_STRIDE", "9"))
SEED = int(os.environ.get("FAULT_SEED", "0"))
"""The first seed of the mixtures; those of the other histories are always the same."""
TOLD = 3
COUNT = "histories"
"""The property by which a test tells how many histories it has run."""

Tell = Callable[[str, object], None]
"""pytest's `record_property`."""


def story(history: History) -> str:
    """Run a history and return what broke and what Ebb told, empty if it kept the promise."""
    end = run(history)
    broke = breaches(end)
    if not broke:
        return ""
    struck = [str(call) for call in end.door.calls if call.number in history.faults]
    again = f"Run it again: python -m tests.faults.again '{history.name}'"
    return "\n".join([again, str(history), *struck, *(f"  BROKE {each}" for each in broke), *end.diary.lines])


def kept(histories: Iterable[History], tell: Tell, part: int = 0, parts: int = 1) -> None:
    """Run one of so many equal parts of the histories; fail with the stories of those that broke the promise."""
    count, told = 0, list[str]()
    for history in islice(histories, part * STRIDE, None, parts * STRIDE):
        count += 1
        found = story(history)
        told += [found] if found else []
        if len(told) == TOLD:
            break
    tell(COUNT, count)
    if told:
        pytest.fail("\n\n".join(told), pytrace=False)
