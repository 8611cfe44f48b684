"""Which open nodes have room for one more pod of a class: remembered masks, repaired node by node.

Most placements change one node, so a mask is not computed anew but catches up with the nodes touched since.
Must not ask the constraints about other pods: those may change for many nodes at once.
"""

from typing import Final

from shared.core.placement.bounds import Amounts
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.node_filters import NodeMask

REMEMBERED: Final = 512
"""Masks kept at once: 8 MB with 15,000 nodes."""
CATCH_UP: Final = 32
"""Above so many touched nodes a mask is cheaper made anew."""


class FitCache:
    """Masks over the arrays of one packing; `touch` must be told of every node whose entries changed."""

    def __init__(self, arrays: ClusterArrays, free: Amounts, is_open: NodeMask) -> None:
        self._arrays = arrays
        self._free = free
        self._open = is_open
        self._masks: dict[int, NodeMask] = {}
        self._seen: dict[int, int] = {}
        self._touched: list[int] = []

    def touch(self, node: int) -> None:
        self._touched.append(node)

    def forget(self) -> None:
        """Begin anew, after a change of many nodes."""
        self._masks.clear()
        self._seen.clear()
        self._touched.clear()

    def of(self, kind: int) -> NodeMask:
        """Return the mask of a class; do not write to it."""
        late = len(self._touched) - self._seen.get(kind, 0)
        if kind not in self._masks or late > CATCH_UP:
            self._remember(kind)
        elif late:
            self._catch_up(kind)
        self._seen[kind] = len(self._touched)
        return self._masks[kind]

    def _remember(self, kind: int) -> None:
        if len(self._masks) >= REMEMBERED:
            self.forget()
        mask = self._arrays.admitting(kind) & self._open
        for axis, amount in self._arrays.needs[kind]:
            mask &= self._free[axis] >= amount
        self._masks[kind] = mask

    def _catch_up(self, kind: int) -> None:
        mask, admitting, needs = self._masks[kind], self._arrays.admitting(kind), self._arrays.needs[kind]
        for node in set(self._touched[self._seen[kind] :]):
            fits = admitting[node] and self._open[node]
            mask[node] = fits and all(self._free[axis, node] >= amount for axis, amount in needs)
