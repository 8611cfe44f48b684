"""How long a drain takes lies where the plan says: between its pods ending at once and taking all of their grace."""

from datetime import timedelta
from typing import Any

import pytest

from shared.core.rules.drain_time import DrainEstimate, Turns
from tests.faults.history import History, run
from tests.faults.worlds import Limits, Setting, setting, workload

LIMITS = Limits(minimum_nodes=2, pool_minimum=0, timeout=150.0, watchdog=300.0)
GRACE = timedelta(seconds=LIMITS.max_grace)
PODS = 3
A_LOOK = timedelta(seconds=10)
"""What the drainer may take until it sees that the last pod is gone, and its replacement there."""


def world(kind: str, **times: Any) -> Setting:
    """Three pods on a node under a budget that lets one go at a time; the other nodes are used too much to go."""
    shared = workload("a", [0] * PODS + [1], kind=kind, cpu=50, pdb={"maxUnavailable": 1}, **times)
    return setting("turns", [shared, *(workload(f"full{n}", [n], cpu=1600) for n in (1, 2, 3, 4))], limits=LIMITS,
                   enabled=False)  # fmt: skip


def measured(lines: list[str]) -> timedelta:
    """Return the time from the proof, right before the first eviction, until the node was drained."""
    began = next(line for line in lines if "proof of placement rests" in line)
    ended = next(line for line in lines if "left to the cluster autoscaler" in line)
    return timedelta(seconds=float(ended.split()[0]) - float(began.split()[0]))


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
@pytest.mark.parametrize(
    ("ready", "shutdown"),
    [
        pytest.param(2, 2, id="quick to start and to end"),
        pytest.param(9, 2, id="slow to start"),
        pytest.param(2, 9, id="slow to end"),
        pytest.param(9, 9, id="slow in both"),
    ],
)
def test_a_node_with_three_pods_of_a_budget_that_allows_one_takes_three_rounds(
    kind: str, ready: int, shutdown: int
) -> None:
    start = timedelta(seconds=ready)
    told = DrainEstimate((Turns("default/a", PODS, 1, start, start + GRACE),)).alone

    took = measured([str(line) for line in run(History(world(kind, readyAfter=ready, shutdown=shutdown))).log.lines])

    assert told.rounds == PODS
    assert told.least <= took <= told.most + A_LOOK
