"""Drains that move pods of one workload under one PodDisruptionBudget: how long one takes, and how two take turns."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from shared.core.rules.drain_time import DrainEstimate, Turns
from tests.depth import cases
from tests.faults.history import History, run
from tests.faults.oracle import judgement
from tests.faults.worlds import Limits, Setting, setting, workload

LIMITS = Limits(minimum_nodes=2, pool_minimum=0, timeout=150.0, watchdog=300.0)
GRACE = timedelta(seconds=LIMITS.max_grace)
PODS = 3
A_LOOK = timedelta(seconds=10)
"""What the drainer may take until it sees that the last pod is gone, and its replacement there."""


def world(name: str, on: list[int], full: Sequence[int], kind: str, cpu: int, **times: Any) -> Setting:
    """One pod of a workload on each of these nodes, and one may be away; the full nodes are used too much to go."""
    shared = workload("a", on, kind=kind, cpu=cpu, pdb={"maxUnavailable": 1}, **times)
    others = (workload(f"full{number}", [number], cpu=1600) for number in full)
    return setting(name, [shared, *others], limits=LIMITS, enabled=False)


def measured(lines: list[str]) -> timedelta:
    """Return the time from the proof, right before the first eviction, until the node was drained."""
    began = next(line for line in lines if "proof of placement rests" in line)
    ended = next(line for line in lines if "left to the cluster autoscaler" in line)
    return timedelta(seconds=float(ended.split()[0]) - float(began.split()[0]))


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
@cases(
    "ready, shutdown",
    ("quick to start and to end", 2, 2),
    ("slow to start", 9, 2),
    ("slow to end", 2, 9),
    ("slow in both", 9, 9),
)
def test_a_node_with_three_pods_of_a_budget_that_allows_one_takes_three_rounds(
    kind: str, ready: int, shutdown: int
) -> None:
    """It takes between its pods ending at once and taking all of their grace, as the plan shows."""
    start = timedelta(seconds=ready)
    told = DrainEstimate((Turns("default/a", PODS, 1, start, start + GRACE),)).alone
    turns = world("turns", [0] * PODS + [1], (1, 2, 3, 4), kind, 50, readyAfter=ready, shutdown=shutdown)

    took = measured([str(line) for line in run(History(turns)).log.lines])

    assert told.rounds == PODS
    assert told.least <= took <= told.most + A_LOOK


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
@cases(
    "times",
    ("as usual", {}),
    ("that start slowly", {"readyAfter": 9}),
    ("that end slowly", {"shutdown": 9}),
    ("that hardly pause", {"readyAfter": 1, "shutdown": 0}),
)
def test_two_drains_under_one_budget_take_turns_and_both_end(kind: str, times: dict[str, Any]) -> None:
    """One waits until what it moved has a node again, the other's evictions are refused until it is Ready.

    What is missing starts without either, so each goes on as soon as it has; a StatefulSet shows it best, for it starts
    one at a time.
    """
    end = run(History(world("two drains", [0, 0, 1, 1], (2, 3, 4), kind, 150, **times)))

    told = [str(line) for line in end.log.lines]
    drained = [line for line in told if "left to the cluster autoscaler" in line]
    assert any(": budget" in line for line in told), "they were never in each other's way"
    assert (judgement(end).breaches, len(drained) >= 2) == ([], True)
    assert {backoff.why for backoff in end.remembered().backoffs.values()} == {"watchdog"}
