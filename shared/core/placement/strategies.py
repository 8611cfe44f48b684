"""In which order pods are placed, and which of the feasible nodes each of them gets.

The kube-scheduler does not follow our packing: a plan must hold under several of these (docs/decisions/robust-fit.md).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from shared.core.cluster import names
from shared.core.placement.cluster_arrays import Amounts, ClusterArrays

PlacementOrder = Callable[[ClusterArrays, Sequence[int]], list[int]]


@dataclass(frozen=True)
class Strategy:
    """`order` sorts pod classes; of feasible nodes the smallest key wins."""

    # `direction` times the free shares, then the name.
    # Direction 1 packs, -1 spreads, 0 leaves the choice to the seed.

    name: str
    order: PlacementOrder
    direction: int
    seed: int | None = None

    def ties(self, nodes: int) -> Amounts:
        if self.seed is None:
            return np.zeros(nodes, np.int64)
        return np.random.default_rng(self.seed).permutation(nodes).astype(np.int64)


def _largest_first(arrays: ClusterArrays, kinds: Sequence[int]) -> list[int]:
    return sorted(kinds, key=lambda kind: (-arrays.size(kind), kind))


def _as_evicted(arrays: ClusterArrays, kinds: Sequence[int]) -> list[int]:
    """Ordinary pods before critical ones, as the drainer evicts them."""
    return sorted(kinds, key=lambda kind: (arrays.classes[kind].priority_class in names.CRITICAL_CLASSES, kind))


def _shuffled_by(seed: int) -> Strategy:
    def order(_: ClusterArrays, kinds: Sequence[int]) -> list[int]:
        # sorted first, so that the same set of pods is shuffled the same way however it was listed
        mixed = np.random.default_rng(seed).permutation(np.sort(np.array(kinds, np.int64)))
        return [int(kind) for kind in mixed]

    return Strategy(f"shuffled {seed}", order, direction=0, seed=seed)


PACKED: Final = Strategy("packed", _largest_first, direction=1)
SPREAD: Final = Strategy("spread", _as_evicted, direction=-1)
ROBUST: Final = (PACKED, SPREAD, _shuffled_by(1), _shuffled_by(2))
POTENTIAL: Final = (PACKED,)
FIRST_FIT: Final = Strategy("first fit", _as_evicted, direction=0)
"""As the cluster autoscaler's own simulation looks for room."""
LEAST_ALLOCATED: Final = Strategy("least allocated", _as_evicted, direction=-1)
MOST_ALLOCATED: Final = Strategy("most allocated", _as_evicted, direction=1)
"""As the schedulers of GKE's two autoscaling profiles score nodes, in the order of evictions."""
