"""Packings that choose nodes as the cluster itself does: the scheduler, and the autoscaler's search for room.

The default profile spreads pods, optimize-utilization packs them. The scheduler follows no plan, and obeys no soft
taint: it weighs them against what else it prefers.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Final

import numpy as np

from shared.core.cluster.pod import PodClass
from shared.core.placement.cluster_arrays import Amounts, ClusterArrays
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import FIRST_FIT, Strategy

SOFT_TAINT_WEIGHT: Final = 3
SPREAD_WEIGHT: Final = 2
"""Of scores of 0 to 100 each; that of free shares weighs 1 (apis/config/v1/default_plugins.go)."""
HOST_SKEW: Final = 3
ZONE_SKEW: Final = 5
"""Up to which pods of a workload may lie unevenly by default (podtopologyspread, systemDefaultConstraints)."""


class SchedulerPacking(Packing):
    """A packing that chooses nodes as kube-scheduler scores them, in its integers; of equal nodes the last by name."""

    # A real one chose the best of these scores for 30 of 30 pods. Source: kubernetes 1.36,
    # scheduler/framework/plugins (noderesources/least_allocated.go, balanced_allocation.go, tainttoleration,
    # podtopologyspread/scoring.go).

    def __init__(self, arrays: ClusterArrays, strategy: Strategy, soft_taints: Amounts) -> None:
        super().__init__(arrays, strategy)
        self._soft_taints = soft_taints  # how many PreferNoSchedule taints each node has
        self._sizes = [np.maximum(arrays.allocatable[axis], 1) for axis in arrays.weighed]
        self._pods_of: dict[str, Amounts] = {}  # By workload that was placed, how many of its pods are on each node.

    def _best(self, kind: int) -> int:
        found = np.flatnonzero(self.taking(kind))
        if not len(found):
            return OUTSIDE
        score = self._by_room(kind, found) + SOFT_TAINT_WEIGHT * self._by_taints(found)
        if self.strategy.direction < 0:
            score += SPREAD_WEIGHT * self._by_spread(kind, found)
        return int(found[len(found) - 1 - score[::-1].argmax()])

    def _by_room(self, kind: int, found: Amounts) -> Amounts:
        # What is free of CPU and memory with the pod there (or in use, if it packs), and if these come closer together.
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
        pods, zones = self._count_pods(spec.workload), self.arrays.zones
        in_zone = np.bincount(zones, weights=pods)[zones[found]]
        on_host = pods[found] * log(len(found) + 2) + HOST_SKEW - 1
        crowded = np.round(on_host + in_zone * log(len(np.unique(zones[found])) + 2) + ZONE_SKEW - 1).astype(np.int64)
        most = int(crowded.max())
        return 100 * (most + int(crowded.min()) - crowded) // most

    def _count_pods(self, workload: str) -> Amounts:
        if workload not in self._pods_of:
            counts = self.arrays.pods_of(workload)
            for node, kinds in self._relocated.items():
                counts[node] += sum(n for kind, n in kinds.items() if self.arrays.classes[kind].workload == workload)
            self._pods_of[workload] = counts
        return self._pods_of[workload]

    def _put_pods(self, kind: int, node: int, pods: int) -> None:
        super()._put_pods(kind, node, pods)
        counts = self._pods_of.get(self.arrays.classes[kind].workload)
        if counts is not None:
            counts[node] += pods


def _balance(free: Sequence[Amounts], sizes: Sequence[Amounts]) -> Amounts:
    """Return how close the shares of CPU and memory in use are, 0 to 100."""
    cpu, memory = (1 - room / size for room, size in zip(free, sizes, strict=True))
    close: Amounts = ((1 - np.abs(np.minimum(cpu, 1) - np.minimum(memory, 1)) / 2) * 100).astype(np.int64)
    return close


class NextFit(Packing):
    """Puts each pod on the first node with room behind the one that was found last, round and round."""

    # simulator/clustersnapshot/predicate/plugin_runner.go, RunFiltersUntilPassingNode.
    def __init__(self, arrays: ClusterArrays, place: int) -> None:
        super().__init__(arrays, FIRST_FIT)
        self.place = place % max(len(arrays.nodes), 1)  # there may be fewer nodes than in the look before
        self.hints: Mapping[int, list[int]] = {}
        """By class, the nodes that are tried first (simulator/scheduling/hinting_simulator.go)."""

    def _best(self, kind: int) -> int:
        hinted = self.hints.get(kind, [])
        known = next((node for node in hinted if self.takes(kind, node)), None)
        if known is None:
            return self._next_fit(kind)
        hinted.remove(known)
        return known

    def _next_fit(self, kind: int) -> int:
        mask = self.taking(kind)
        target = self.place + int(mask[self.place :].argmax())
        if not mask[target]:
            target = int(mask.argmax())
        if not mask[target]:
            return OUTSIDE
        self.place = (target + 1) % len(mask)
        return target

    def find_put_on(self, node: int) -> Iterator[PodClass]:
        for kind, pods in self._relocated.get(node, {}).items():
            yield from [self.arrays.classes[kind]] * pods
