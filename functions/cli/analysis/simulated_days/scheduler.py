"""The scheduler of a simulated cluster: pods by priority and age onto the nodes that the profile's scoring prefers.

Nodes that the autoscaler has announced are taken last (their taint is PreferNoSchedule). It never preempts. Must not
make or end pods.
"""

from functions.cli.analysis.forecast.scheduling import SCORING, SchedulerPacking, avoiding
from functions.cli.analysis.simulated_days.pod_lives import bind, found_no_place
from functions.cli.analysis.simulated_days.world import World
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.strategies import LEAST_ALLOCATED


class Scheduler:
    """Tries every waiting pod each time something has changed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._seen = -1

    def step(self) -> None:
        world = self._world
        if self._seen == world.revision:
            return
        if world.pending:
            self._schedule()
        self._seen = world.revision

    def _schedule(self) -> None:
        world, snapshot = self._world, self._world.snapshot()
        arrays = ClusterArrays(snapshot)
        announced = {node.name for node in snapshot.nodes if node.has_taint(names.AUTOSCALER_CANDIDATE_TAINT)}
        scoring = SCORING.get(snapshot.profile, LEAST_ALLOCATED)
        packing = SchedulerPacking(arrays, scoring, avoiding(arrays, announced))
        for pod in sorted((world.pods[key] for key in world.pending), key=queue_order):
            if packing.reserve([arrays.kind_of[pod.spec]], OUTSIDE):
                found_no_place(world, pod.key)
            else:
                bind(world, pod.key, arrays.nodes[packing.log[-1].target].name)


def queue_order(pod: Pod) -> tuple[int, float, str]:
    """As the scheduler takes pods from its queue: by priority, the oldest first."""
    return -pod.spec.priority, pod.created.timestamp() if pod.created else 0.0, pod.key
