"""How a simulated drain begins and in which order it evicts."""

from datetime import timedelta
from typing import Any

from shared.adapters.prices import load
from shared.core.planning.plan import PlannedOrder
from shared.core.policy import DrainSettings
from shared.core.reasons import DrainReason
from shared.core.simulated_days.drains import Drains
from shared.core.simulated_days.settings import DELAYS
from shared.core.simulated_days.world import World
from tests.builders import NOW, cluster, node, pod, policy

CRITICAL: dict[str, Any] = {"priority_class": "system-cluster-critical", "priority": 2_000_000_000}


def begun(*pods: Any) -> tuple[World, Drains]:
    """A drain of n1, claimed now."""
    world = World(cluster([node("n1"), node("n2")], pods), load(), DELAYS, NOW)
    drains = Drains(world, policy())
    drains.claim(PlannedOrder("n1", "uid-n1", "a", DrainReason.UNDERUTILIZED))
    return world, drains


def test_a_drain_lasts_as_long_as_its_pods_may_take_to_end() -> None:
    _, drains = begun(pod("p", on="n1", grace_seconds=120))

    assert drains.under_way["n1"].deadline == NOW + DrainSettings().timeout + timedelta(seconds=120)


def test_ordinary_pods_go_before_critical_ones() -> None:
    world, _ = begun(pod("plain", on="n1"), pod("critical", on="n1", owner="ReplicaSet/dns", **CRITICAL))
    world.now = at = NOW + DELAYS.settle
    for action in world.agenda.due(at):
        action()

    assert {each.name for each in world.pods.values() if each.deleting is not None} == {"plain"}
