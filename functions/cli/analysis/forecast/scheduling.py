"""Where the scheduler puts what is evicted, and the cluster after drains.

The default profile spreads pods, optimize-utilization packs them. The scheduler follows no plan. It takes nodes that
the autoscaler has announced to empty only where no other has room, because their taint is PreferNoSchedule. After a
drain its node is gone, its pods are elsewhere, and pods of DaemonSets are gone with the node.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.selectors import Taint
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from shared.core.placement.cluster_arrays import ArraysOf, ClusterArrays
from shared.core.placement.node_filters import NodeMask
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import FIRST_FIT, LEAST_ALLOCATED, MOST_ALLOCATED, Strategy

SCORING: Final[Mapping[str, Strategy]] = {"BALANCED": LEAST_ALLOCATED, "OPTIMIZE_UTILIZATION": MOST_ALLOCATED}
"""By the cluster's autoscaling profile, which on GKE sets the scheduler's scoring, too."""


class SchedulerPacking(Packing):
    """A packing that leaves some nodes aside as long as others have room, and scores the others as the scheduler does.

    The score is the mean share of CPU and memory in use once the pod is there, of each node's own size: a large node
    is not emptier for being large. Of equal nodes the last by name is taken, where the scheduler rolls dice.
    """

    def __init__(self, arrays: ClusterArrays, strategy: Strategy, avoided: NodeMask) -> None:
        super().__init__(arrays, strategy)
        self._welcoming = ~avoided
        self._sizes = [np.maximum(arrays.allocatable[axis], 1).astype(np.float64) for axis in arrays.weighed]

    def taking(self, kind: int) -> NodeMask:
        """Return the nodes that the scheduler would choose among."""
        mask = super().taking(kind)
        liked: NodeMask = mask & self._welcoming
        return liked if liked.any() else mask

    def _best(self, kind: int) -> int:
        taking = self.taking(kind)
        if not self.strategy.direction:
            return self._best_of(kind, taking)
        found = np.flatnonzero(taking)
        if not len(found):
            return OUTSIDE
        cpu, memory = (
            (self._free[axis, found] - self.arrays.requests.item(axis, kind)) / sizes[found]
            for axis, sizes in zip(self.arrays.weighed, self._sizes, strict=True)
        )
        left = (cpu + memory)[::-1]
        last = left.argmin() if self.strategy.direction > 0 else left.argmax()
        return int(found[len(found) - 1 - last])


@dataclass(frozen=True)
class Drained:
    """What came of drains: the snapshot afterwards, the nodes that are gone in order, and the number of evictions."""

    snapshot: Snapshot
    gone: tuple[str, ...] = ()
    evictions: int = 0


def drained(
    snapshot: Snapshot, leaving: Iterable[str], avoided: Collection[str], arrays_of: ArraysOf = ClusterArrays
) -> Drained:
    """Drain nodes one after another; one of which a pod finds no place stays as it is."""
    names = tuple(leaving)
    if not names:
        return Drained(snapshot)
    simulation = beginning(arrays_of(snapshot), SCORING.get(snapshot.profile, LEAST_ALLOCATED), avoided)
    before = simulation.placement_count
    for name in names:
        simulation.try_remove(name)
    if not simulation.taken:
        return Drained(snapshot)
    places = {move.pod: move.node for move in simulation.assignments.steps()}
    later = snapshot.without(frozenset(simulation.taken), places)
    return Drained(later, simulation.taken, simulation.placement_count - before)


def beginning(arrays: ClusterArrays, strategy: Strategy = FIRST_FIT, avoided: Collection[str] = ()) -> Simulation:
    """Return a simulation of that one strategy, in which what is pending has a place, as far as there is any."""
    packing = SchedulerPacking(arrays, strategy, avoiding(arrays, avoided))
    queue = sorted(arrays.pending, key=lambda pod: (-pod.spec.priority, pod.key))
    packing.reserve([arrays.kind_of[pod.spec] for pod in queue], OUTSIDE)
    return Simulation(arrays, [packing])


def avoiding(arrays: ClusterArrays, avoided: Collection[str]) -> NodeMask:
    """Return which nodes are among those names."""
    return np.fromiter((node.name in avoided for node in arrays.nodes), np.bool_, len(arrays.nodes))


_PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"


def announced(snapshot: Snapshot, names_of: Iterable[str]) -> Snapshot:
    """Return the snapshot in which the autoscaler has announced to empty these nodes, and no others."""
    wanted = frozenset(names_of)
    return snapshot.with_nodes(tuple(with_announcement(node, wanted=node.name in wanted) for node in snapshot.nodes))


def with_announcement(node: Node, *, wanted: bool) -> Node:
    """Return the node with the autoscaler's announcement or without; the very same where that changes nothing."""
    if wanted is node.has_taint(names.AUTOSCALER_CANDIDATE_TAINT):
        return node
    others = tuple(taint for taint in node.taints if taint.key != names.AUTOSCALER_CANDIDATE_TAINT)
    mine = (Taint(names.AUTOSCALER_CANDIDATE_TAINT, _PREFER_NO_SCHEDULE),) if wanted else ()
    return replace(node, taints=(*others, *mine))
