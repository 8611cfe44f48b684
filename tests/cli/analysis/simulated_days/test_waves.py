"""Waves in simulated days: their nodes are held softly, the scheduler prefers others, and their end frees them."""

from datetime import timedelta
from typing import Final

import pytest

from functions.cli.analysis.simulated_days.measures import PlayedTotals
from functions.cli.analysis.simulated_days.patterns import Demand
from functions.cli.analysis.simulated_days.run import Days, simulate
from functions.cli.analysis.simulated_days.world import DELAYS, Onlooker, World
from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from tests.builders import NOW, cluster, node, pod

NODES: Final = 16


def rules(wave: str = "") -> Policy:
    """One drain at a time."""
    return parse(
        f"""
dryRun: false
cluster:
  minimumNodes: 1
  minimumNonTaintedNodes: 1
  timeSinceLastAddition: 0s
  disruption: {{budgets: [{{nodes: 1}}]}}
  {wave}
defaults:
  minimumNodeAge: 0s
  excessNodesThreshold: 0
  scaleDownRequiredUnderutilizedNodeCount: 1
  scaleDownCPURequestRatioLimit: 1
  scaleDownMemoryRequestRatioLimit: 1
nodePools: {{a: {{enabled: true}}}}
""".encode()
    )


def half_empty() -> Snapshot:
    """Each node is a little too full for the autoscaler, each pod the only one of its workload."""
    rows = [(f"n{number:02}", f"w{number}-{place}") for number in range(NODES) for place in range(6)]
    pods = [pod(f"p-{each}", on=on, cpu=0.37, owner=f"ReplicaSet/{each}") for on, each in rows]
    return cluster([node(f"n{number:02}") for number in range(NODES)], pods)


class Held(Onlooker):
    """Which nodes carry the soft taint, after each change."""

    def __init__(self) -> None:
        self.at: list[tuple[timedelta, frozenset[str]]] = []
        self._now: frozenset[str] = frozenset()

    def node(self, world: World, before: Node | None, after: Node | None) -> None:
        changed = after or before
        assert changed is not None
        self._now = self._now | {after.name} if after is not None and after.held else self._now - {changed.name}
        self.at.append((world.now - NOW, self._now))


def played(wave: str = "", held: Held | None = None) -> PlayedTotals:
    days = Days(half_empty(), load(), Demand(), timedelta(hours=4))
    return simulate(days, rules(wave), held or Held())


@pytest.mark.parametrize("wave", ["", "wave: {nodes: 50%, deadline: 4h}"])
def test_no_pod_that_a_wave_moves_is_moved_again(wave: str) -> None:
    found = played(wave)

    assert found.end_nodes < NODES
    assert (found.twice, found.returned) == (0, 0)


def test_the_nodes_of_a_wave_are_held_until_its_deadline() -> None:
    held = Held()
    played("wave: {nodes: 30%, deadline: 20m}", held)

    by = dict(held.at)
    assert by[DELAYS.interval] == {"n01", "n02", "n03", "n04"}
    assert by[timedelta(minutes=25)] == {"n01"}, "the one that is being drained"


def test_a_cluster_in_its_steady_state_holds_no_node() -> None:
    held = Held()
    told = played("wave: {nodes: 50%, deadline: 4h}", held)

    assert told.drains > 1
    assert held.at[-1][1] == frozenset()
