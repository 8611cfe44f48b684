"""Two drains that move pods of one workload under one PodDisruptionBudget: neither holds the other open.

One waits until what it moved has a node again, the other's evictions are refused until it is Ready. What is missing
starts without either, so each goes on as soon as it has; a StatefulSet shows it best, for it starts one at a time.
"""

from typing import Any

import pytest

from tests.faults.history import History, run
from tests.faults.oracle import judgement
from tests.faults.worlds import Limits, Setting, setting, workload

LIMITS = Limits(minimum_nodes=2, pool_minimum=0, timeout=150.0, watchdog=300.0)


def world(kind: str, **times: Any) -> Setting:
    """Two nodes with two pods each of one workload, of which one may be away; the others are used too much to go."""
    shared = workload("a", [0, 0, 1, 1], kind=kind, cpu=150, pdb={"maxUnavailable": 1}, **times)
    return setting("two drains", [shared, *(workload(f"full{n}", [n], cpu=1600) for n in (2, 3, 4))], limits=LIMITS,
                   enabled=False)  # fmt: skip


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
@pytest.mark.parametrize(
    "times",
    [
        pytest.param({}, id="as usual"),
        pytest.param({"readyAfter": 9}, id="that start slowly"),
        pytest.param({"shutdown": 9}, id="that end slowly"),
        pytest.param({"readyAfter": 1, "shutdown": 0}, id="that hardly pause"),
    ],
)
def test_two_drains_under_one_budget_take_turns_and_both_end(kind: str, times: dict[str, Any]) -> None:
    end = run(History(world(kind, **times)))

    told = [str(line) for line in end.log.lines]
    drained = [line for line in told if "left to the cluster autoscaler" in line]
    assert any(": budget" in line for line in told), "they were never in each other's way"
    assert (judgement(end).breaches, len(drained) >= 2) == ([], True)
    assert {backoff.why for backoff in end.remembered().backoffs.values()} == {"watchdog"}
