"""A simulated GKE that is left to its autoscaler alone, until nothing more goes."""

from dataclasses import dataclass
from typing import Final

from infra.local.clocks import ManualClock
from infra.local.scaling.autoscaler import Autoscaler
from infra.local.scenario import Scenario
from infra.local.simulated_gke import SimulatedGke
from infra.local.whole_world import World

DAY: Final = 86_400.0
_STEP: Final = 1.0
_WATCHED: Final = ("nodes", "pods")


@dataclass(frozen=True)
class RestingCluster:
    """What is left in the steady state; `is_rest` is False if that took too long.

    `gate` is the share of CPU and memory requested above which no node was a candidate.
    """

    nodes: tuple[str, ...]
    removed: tuple[str, ...]
    evictions: int
    seconds: float
    is_rest: bool
    gate: float


def leave_alone(scenario: Scenario, most: float = DAY) -> RestingCluster:
    """Build the scenario and leave it to its autoscaler."""
    clock = ManualClock()
    cloud = SimulatedGke(scenario, clock)
    cloud.world.settle()
    return run_until_rest(cloud.world, cloud.autoscaler(), clock, most)


def run_until_rest(world: World, autoscaler: Autoscaler, clock: ManualClock, most: float = DAY) -> RestingCluster:
    """Let time pass until the autoscaler wants nothing and nothing has changed while it checked every node again."""
    begun, before = clock.now(), _names(world)
    seen, since = -1, begun
    while not (is_rest := autoscaler.is_idle() and clock.now() - since > autoscaler.rechecks_within):
        if clock.now() - begun >= most:
            break
        world.step()
        autoscaler.step()
        if world.store.version(*_WATCHED) != seen:
            seen, since = world.store.version(*_WATCHED), clock.now()
        clock.advance(_STEP)
    left, evictions = _names(world), len(world.record.of("eviction"))
    removed = tuple(name for name in before if name not in left)
    return RestingCluster(left, removed, evictions, clock.now() - begun, is_rest, autoscaler.gate)


def _names(world: World) -> tuple[str, ...]:
    return tuple(node["metadata"]["name"] for node in world.store.all("nodes"))
