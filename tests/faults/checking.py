"""Runs many histories and tells the first few that broke the promise, each so that it can be run again.

Every ninth history is run (an odd stride, so that kills before and after a call both have their turn);
`FAULT_STRIDE=1` runs all of them, and `make soak` runs on with new seeds.
"""

import os
from collections.abc import Iterable
from itertools import islice

import pytest

from tests.faults.history import History, run
from tests.faults.oracle import breaches

STRIDE = int(os.environ.get("FAULT_STRIDE", "9"))
TOLD = 3


def story(history: History) -> str:
    """Run a history and return what broke and what Ebb told, empty if it kept the promise."""
    end = run(history)
    broke = breaches(end)
    if not broke:
        return ""
    struck = [str(call) for call in end.door.calls if call.number in history.faults]
    return "\n".join([str(history), *struck, *(f"  BROKE {each}" for each in broke), *end.diary.lines])


def kept(histories: Iterable[History]) -> None:
    """Fail with the stories of histories that broke the promise."""
    told = list(islice(filter(None, map(story, islice(histories, 0, None, STRIDE))), TOLD))
    if told:
        pytest.fail("\n\n".join(told), pytrace=False)
