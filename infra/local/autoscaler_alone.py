"""What the autoscaler reaches by itself: a world left to it in virtual time, until it rests.

Nobody else acts meanwhile; in particular, nothing here knows of Ebb.
"""

from dataclasses import dataclass

from infra.local.autoscaler import Autoscaler
from infra.local.clocks import ManualClock
from infra.local.scenario.reading import Scenario
from infra.local.simulated_gke import SimulatedGke
from infra.local.whole_world import World

DAY = 86_400.0
_STEP = 1.0
_STILL = ("nodes", "pods")


@dataclass(frozen=True)
class RestingCluster:
    """What is left when nothing more goes; `is_rest` is False if that took too long.

    `gate` is the share of CPU and memory asked for above which no node was looked at.
    """

    nodes: tuple[str, ...]
    removed: tuple[str, ...]
    evictions: int
    seconds: float
    is_rest: bool
    gate: float


def alone(scenario: Scenario, most: float = DAY) -> RestingCluster:
    """Build the scenario and leave it to its autoscaler."""
    clock = ManualClock()
    cloud = SimulatedGke(scenario, clock)
    cloud.world.settle()
    return until_rest(cloud.world, cloud.autoscaler(), clock, most)


def until_rest(world: World, autoscaler: Autoscaler, clock: ManualClock, most: float = DAY) -> RestingCluster:
    """Let time pass until the autoscaler wants nothing and nothing has changed while it looked at every node again."""
    begun, before = clock.now(), _names(world)
    seen, since = -1, begun
    while not (is_rest := autoscaler.is_idle() and clock.now() - since > autoscaler.looks_again_after):
        if clock.now() - begun >= most:
            break
        world.step()
        autoscaler.step()
        if world.store.version(*_STILL) != seen:
            seen, since = world.store.version(*_STILL), clock.now()
        clock.advance(_STEP)
    left = _names(world)
    removed = tuple(name for name in before if name not in left)
    return RestingCluster(
        left, removed, len(world.record.of("eviction")), clock.now() - begun, is_rest, autoscaler.gate
    )


def _names(world: World) -> tuple[str, ...]:
    return tuple(node["metadata"]["name"] for node in world.store.all("nodes"))
