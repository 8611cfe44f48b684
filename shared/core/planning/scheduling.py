"""Where the scheduler puts what is evicted, and the cluster after drains.

The default profile spreads pods, optimize-utilization packs them. The scheduler follows no plan, and obeys no soft
taint: it weighs them against what else it prefers. After a drain its node is gone, its pods are elsewhere, and pods of
DaemonSets are gone with the node.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Final

import numpy as np

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.selectors import Taint
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from shared.core.placement.assignments import in_queue_order
from shared.core.placement.bounds import Amounts
from shared.core.placement.cluster_arrays import ArraysOf, ClusterArrays
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import LEAST_ALLOCATED, MOST_ALLOCATED, Strategy
from shared.core.planning.autoscaler import is_expendable

SCORING: Final[Mapping[str, Strategy]] = {"BALANCED": LEAST_ALLOCATED, "OPTIMIZE_UTILIZATION": MOST_ALLOCATED}
"""By the cluster's autoscaling profile, which on GKE sets the scheduler's scoring, too."""
SOFT_TAINT_WEIGHT: Final = 3
SPREAD_WEIGHT: Final = 2
"""Of scores of 0 to 100 each; that of free shares weighs 1 (apis/config/v1/default_plugins.go)."""
HOST_SKEW: Final = 3
ZONE_SKEW: Final = 5
"""Up to which pods of a workload may lie unevenly by default (podtopologyspread, systemDefaultConstraints)."""


class SchedulerPacking(Packing):
    """A packing that chooses nodes as kube-scheduler scores them, in its integers.

    It sums up: the share of CPU and memory that is free (or in use, if it packs) once the pod is there; whether these
    two come closer to each other; the soft taints, against the most that a node has; and, if it spreads, how many pods
    of the workload lie on the node and in its zone. Of equal nodes the last by name is taken, where the scheduler
    rolls dice. A real one chose the best of these scores for 30 of 30 pods.
    Source: kubernetes 1.36, pkg/scheduler/framework/plugins (noderesources/least_allocated.go and
    balanced_allocation.go, tainttoleration, podtopologyspread/scoring.go).
    """

    def __init__(self, arrays: ClusterArrays, strategy: Strategy, soft_taints: Amounts) -> None:
        """`soft_taints`: how many PreferNoSchedule taints each node has."""
        super().__init__(arrays, strategy)
        self._soft_taints = soft_taints
        self._sizes = [np.maximum(arrays.allocatable[axis], 1) for axis in arrays.weighed]
        self._pods_of: dict[str, Amounts] = {}
        """By workload that was placed, how many of its pods are on each node."""

    def _best(self, kind: int) -> int:
        found = np.flatnonzero(self.taking(kind))
        if not len(found):
            return OUTSIDE
        score = self._by_room(kind, found) + SOFT_TAINT_WEIGHT * self._by_taints(found)
        if self.strategy.direction < 0:
            score += SPREAD_WEIGHT * self._by_spread(kind, found)
        return int(found[len(found) - 1 - score[::-1].argmax()])

    def _by_room(self, kind: int, found: Amounts) -> Amounts:
        sizes = [size[found] for size in self._sizes]
        before = [self._free[axis, found] for axis in self.arrays.weighed]
        after = [
            free - self.arrays.requests.item(axis, kind) for free, axis in zip(before, self.arrays.weighed, strict=True)
        ]
        cpu, memory = (free * 100 // size for free, size in zip(after, sizes, strict=True))
        room = (cpu + memory) // 2
        closer = _balance(after, sizes) - _balance(before, sizes)
        by_room: Amounts = 100 - room if self.strategy.direction > 0 else room
        return by_room + 50 + (50 + closer) // 2

    def _by_taints(self, found: Amounts) -> Amounts:
        taints: Amounts = self._soft_taints[found]
        return 100 - 100 * taints // max(int(taints.max()), 1)

    def _by_spread(self, kind: int, found: Amounts) -> Amounts:
        """Prefer nodes and zones with few pods of the workload; its own soft constraints are taken for the default."""
        spec = self.arrays.classes[kind]
        if not spec.workload or spec.hard_spread:
            return np.zeros(len(found), np.int64)
        pods, zones = self._counts(spec.workload), self.arrays.zones
        in_zone = np.bincount(zones, weights=pods)[zones[found]]
        on_host = pods[found] * log(len(found) + 2) + HOST_SKEW - 1
        crowded = np.round(on_host + in_zone * log(len(np.unique(zones[found])) + 2) + ZONE_SKEW - 1).astype(np.int64)
        most = int(crowded.max())
        return 100 * (most + int(crowded.min()) - crowded) // most

    def _counts(self, workload: str) -> Amounts:
        """Return how many pods of the workload lie on each node, as far as this packing has come."""
        if workload not in self._pods_of:
            counts = self.arrays.pods_of(workload)
            for node, kinds in self._relocated.items():
                counts[node] += sum(n for kind, n in kinds.items() if self.arrays.classes[kind].workload == workload)
            self._pods_of[workload] = counts
        return self._pods_of[workload]

    def _put(self, kind: int, node: int, pods: int) -> None:
        super()._put(kind, node, pods)
        counts = self._pods_of.get(self.arrays.classes[kind].workload)
        if counts is not None:
            counts[node] += pods


def _balance(free: Sequence[Amounts], sizes: Sequence[Amounts]) -> Amounts:
    """Return how close the shares of CPU and memory in use are, 0 to 100."""
    cpu, memory = (1 - room / size for room, size in zip(free, sizes, strict=True))
    close: Amounts = ((1 - np.abs(np.minimum(cpu, 1) - np.minimum(memory, 1)) / 2) * 100).astype(np.int64)
    return close


@dataclass(frozen=True)
class Drained:
    """What came of drains: the snapshot afterwards, the nodes that are gone in order, and the number of evictions."""

    snapshot: Snapshot
    gone: tuple[str, ...] = ()
    evictions: int = 0


def drain_nodes(
    snapshot: Snapshot,
    leaving: Iterable[str],
    avoided: Collection[str],
    arrays_of: ArraysOf = ClusterArrays,
    *,
    by_autoscaler: Collection[str] = (),
) -> Drained:
    """Drain nodes one after another; one of which a pod finds no place stays as it is.

    Expendable pods of nodes that go `by_autoscaler` end with them, and come back where there is room.
    """
    names = tuple(leaving)
    if not names:
        return Drained(snapshot)
    snapshot = _without_expendable(snapshot, by_autoscaler)
    simulation = beginning(arrays_of(snapshot), SCORING.get(snapshot.profile, LEAST_ALLOCATED), avoided)
    before = simulation.placement_count
    for name in names:
        simulation.try_remove(name)
    if not simulation.taken:
        return Drained(snapshot)
    places = {move.pod: move.node for move in simulation.assignments.steps()}
    later = snapshot.without(frozenset(simulation.taken), places)
    return Drained(later, simulation.taken, simulation.placement_count - before)


def _without_expendable(snapshot: Snapshot, nodes: Collection[str]) -> Snapshot:
    ending = {pod.key for name in nodes for pod in snapshot.pods_by_node[name] if is_expendable(pod.spec)}
    if not ending:
        return snapshot
    return replace(snapshot, pods=tuple(pod for pod in snapshot.pods if pod.key not in ending))


def beginning(arrays: ClusterArrays, strategy: Strategy, avoided: Collection[str] = ()) -> Simulation:
    """Return a simulation of that one strategy, in which what is pending has a place, as far as there is any.

    `avoided` are the names of nodes with a soft taint.
    """
    packing = SchedulerPacking(arrays, strategy, count_taints(arrays, avoided))
    packing.reserve([arrays.kind_of[pod.spec] for pod in in_queue_order(arrays.pending)], OUTSIDE)
    return Simulation(arrays, [packing])


def count_taints(arrays: ClusterArrays, *tainted_by: Collection[str]) -> Amounts:
    """Return how many of these collections of names each node is in: a soft taint for each."""
    counted = (sum(node.name in names_of for names_of in tainted_by) for node in arrays.nodes)
    return np.fromiter(counted, np.int64, len(arrays.nodes))


_PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"


def with_announced(snapshot: Snapshot, names_of: Iterable[str]) -> Snapshot:
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
