"""The table of events holds in trouble too: histories of faults, lost messages and people who interfere."""

from dataclasses import replace

import pytest

from tests.fakes import FakeLog
from tests.faults.history import History
from tests.faults.installation import Installation
from tests.faults.mixtures import mixture
from tests.monitoring.entries import Entry, written
from tests.monitoring.log_checks import faults

AFTERWARDS = 3600.0
"""Seconds in which what was begun comes to its end."""


def logged(history: History) -> list[Entry]:
    """Return what is written while the history happens, but for what a pass tells; the planner's main names the run."""
    ebb = Installation(history.setting, history.seed, history.faults, history.message_faults, history.clock_skew)
    log = FakeLog()
    ebb.ports = replace(ebb.ports, log=log)
    for at, act in sorted(history.acts, key=lambda row: row[0]):
        ebb.live(max(0.0, at - ebb.passed))
        act(ebb)
    ebb.live(AFTERWARDS)
    return written(log.lines)


@pytest.mark.parametrize("first", [0, 10])
def test_no_fault_makes_a_line_that_the_table_does_not_know(first: int) -> None:
    lines = [entry for seed in range(first, first + 10) for entry in logged(mixture(seed, people=True))]

    events = {entry["labels"]["event"] for entry in lines}
    assert {"order_published", "drain_step", "eviction", "drain_result"} <= events
    assert [fault for fault in faults(lines) if "label run_id is missing" not in fault] == []
