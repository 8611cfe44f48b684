"""What Ebb asks of the API server and of Firestore, counted: 300 nodes, thirty drains in flight, virtual time.

The worst case on purpose: all thirty orders come at once, and every PodDisruptionBudget lets one pod of forty go, so
that most evictions are refused at first and asked for again.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.faults.history import History
from tests.faults.installation import Installation
from tests.faults.worlds import Limits, setting, workload
from tests.rates import busiest, sustained

NODES, IN_FLIGHT, WORKLOADS, REPLICAS = 300, 30, 60, 40
SECONDS = 420.0
WRITING = frozenset({"POST", "PATCH", "PUT", "DELETE"})


@dataclass(frozen=True)
class Wide(Limits):
    """Production's times, and as many orders in one pass as may be in flight."""

    pool: int = IN_FLIGHT
    ceiling: int = IN_FLIGHT
    starts_per_hour: int = 100
    minimum_nodes: int = 200
    timeout: float = 510.0
    max_grace: float = 480.0
    watchdog: float = 1500.0

    def text(self, **changes: bool) -> str:
        return super().text(**changes).replace("maxNodesPerPass: 2", f"maxNodesPerPass: {self.pool}")


@pytest.fixture(scope="module")
def crowd() -> Installation:
    """The cluster after seven minutes of draining."""
    every = [
        workload(
            f"app{number}",
            [(number + step * WORKLOADS // REPLICAS * 5) % NODES for step in range(REPLICAS)],
            cpu=120,
            pdb={"maxUnavailable": 1},
        )
        for number in range(WORKLOADS)
    ]
    crowded = setting("three hundred nodes", every, NODES, Wide(), unneededTime=600)
    history = History(crowded)
    ebb = Installation(crowded, history.seed, history.faults, history.post, history.skew)
    ebb.door.most_calls = 10**6
    ebb.live(SECONDS)
    return ebb
