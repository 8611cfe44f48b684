"""Where the scheduler puts what is evicted, and the cluster after drains."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from shared.core.placement.assignments import in_queue_order
from shared.core.placement.bounds import Amounts
from shared.core.placement.cluster_arrays import ArraysOf, ClusterArrays
from shared.core.placement.cluster_packings import SchedulerPacking
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.strategies import LEAST_ALLOCATED, MOST_ALLOCATED, Strategy
from shared.core.planning.autoscaler import is_expendable, without_announcements

SCORING: Final[Mapping[str, Strategy]] = {"BALANCED": LEAST_ALLOCATED, "OPTIMIZE_UTILIZATION": MOST_ALLOCATED}
"""By the cluster's autoscaling profile, which on GKE sets the scheduler's scoring, too."""


@dataclass(frozen=True)
class Drained:
    """What came of drains: the snapshot afterwards, the nodes that are gone in order, and the number of evictions."""

    snapshot: Snapshot
    gone: tuple[str, ...] = ()
    evictions: int = 0


def scheduler_arrays(snapshot: Snapshot) -> ClusterArrays:
    """Return the arrays by which scheduler and autoscaler place pods: what is there counts, announced or going."""
    return ClusterArrays(without_announcements(snapshot), foresees=False)


def drain_nodes(
    snapshot: Snapshot,
    leaving: Iterable[str],
    avoided: Collection[str],
    arrays_of: ArraysOf = ClusterArrays,
    *,
    by_autoscaler: Collection[str] = (),
) -> Drained:
    """Drain nodes one after another; one of which a pod finds no place stays as it is."""
    # Expendable pods of nodes that go `by_autoscaler` end with them, and come back where there is room.
    names = tuple(leaving)
    if not names:
        return Drained(snapshot)
    expendable = (pod for name in by_autoscaler for pod in snapshot.pods_by_node[name] if is_expendable(pod.spec))
    if ending := {pod.key for pod in expendable}:
        snapshot = replace(snapshot, pods=tuple(pod for pod in snapshot.pods if pod.key not in ending))
    simulation = beginning(arrays_of(snapshot), SCORING.get(snapshot.profile, LEAST_ALLOCATED), avoided)
    before = simulation.placement_count
    for name in names:
        simulation.try_remove(name)
    if not simulation.taken:
        return Drained(snapshot)
    places = {move.pod: move.node for move in simulation.assignments.steps()}
    later = snapshot.without(frozenset(simulation.taken), places)
    return Drained(later, simulation.taken, simulation.placement_count - before)


def beginning(arrays: ClusterArrays, strategy: Strategy, avoided: Collection[str] = ()) -> Simulation:
    """Return a simulation of that one strategy; what is pending has a place; `avoided` nodes have a soft taint."""
    packing = SchedulerPacking(arrays, strategy, count_taints(arrays, avoided))
    packing.reserve([arrays.kind_of[pod.spec] for pod in in_queue_order(arrays.pending)], OUTSIDE)
    return Simulation(arrays, [packing])


def count_taints(arrays: ClusterArrays, *tainted_by: Collection[str]) -> Amounts:
    """Return how many of these collections of names each node is in: a soft taint for each."""
    counted = (sum(node.name in names_of for names_of in tainted_by) for node in arrays.nodes)
    return np.fromiter(counted, np.int64, len(arrays.nodes))
