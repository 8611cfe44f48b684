"""What the passes of a simulated Ebb do beside planning: they give nodes back, and write deletion costs."""

from datetime import timedelta
from typing import Any

from functions.cli.analysis.simulated_days.ebb import Ebb
from functions.cli.analysis.simulated_days.pod_lives import bind
from functions.cli.analysis.simulated_days.world import DELAYS, World
from shared.adapters.prices import load
from shared.core.policy import DrainSettings
from shared.core.reasons import ReturnReason
from tests.builders import NOW, cluster, node, our_taint, pod, policy
from tests.cli.analysis.simulated_days.recorded import Recorded
from tests.cli.analysis.simulated_days.time_passing import let_pass

FULL = pod("full", on="n2", cpu=3, owner="ReplicaSet/full")


def played(*pods: Any, lasts: timedelta, **pool: Any) -> World:
    """n1 with these pods beside a full node, without an autoscaler."""
    world = World(cluster([node("n1"), node("n2")], [FULL, *pods]), load(), DELAYS, NOW)
    Ebb(world, policy(**pool), load()).begin()
    let_pass(world, NOW + lasts)
    return world


def test_a_node_that_nobody_deletes_is_returned_by_the_watchdog() -> None:
    world = played(lasts=DrainSettings().watchdog + 2 * DELAYS.interval)

    assert (world.measures.returned[ReturnReason.WATCHDOG.value], world.nodes["n1"].unschedulable) == (1, False)


def test_a_node_that_an_earlier_drain_left_cordoned_is_returned() -> None:
    orphan = node("n1", unschedulable=True, taints=(our_taint(),))
    world = World(cluster([orphan], []), load(), DELAYS, NOW)
    Ebb(world, policy(), load()).begin()
    let_pass(world, NOW)

    assert (world.nodes["n1"].unschedulable, world.nodes["n1"].taints) == (False, ())


def test_a_breaker_opens_where_a_node_was_bought_for_a_moved_pod() -> None:
    recorded, moving = Recorded(), pod("p", on="n1", grace_seconds=0)
    world = World(cluster([node("n1"), node("n2")], [FULL, moving]), load(), DELAYS, NOW, onlooker=recorded)
    Ebb(world, policy(), load()).begin()

    def buy_for_what_waits() -> None:
        for key in tuple(world.pending):
            world.bought_for[key] = world.now
            bind(world, key, "n2")

    let_pass(world, NOW + DELAYS.interval, buy_for_what_waits)

    assert recorded.entries[-1]["after"].breakers.keys() == {"a"}


def test_the_pods_of_the_node_that_goes_next_carry_a_deletion_cost() -> None:
    replicas = pod("p", on="n1"), pod("q", on="n2")
    world = played(*replicas, lasts=timedelta(0), steer_scale_in=True, consolidate_after=timedelta(hours=1))

    assert {each.name for each in world.pods.values() if each.steered} == {"p"}
