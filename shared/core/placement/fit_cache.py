"""Which open nodes have room for one more pod of a class: remembered masks, repaired node by node.

Most placements change one node, so a mask is not computed anew but catches up with the nodes touched since.
Must not ask the constraints about other pods: those may change for many nodes at once.
"""

from collections.abc import Sequence
from typing import Final

from shared.core.placement.bounds import Amounts
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.node_filters import NodeMask

REMEMBERED: Final = 512
"""Masks kept at once: 8 MB with 15,000 nodes."""
CATCH_UP: Final = 32
"""Above so many touched nodes a mask is cheaper made anew."""


class FitCache:
    """Masks over the arrays of one packing; `touch` must be told of every node whose entries changed.

    Classes that fit alike share a mask. When there is no room for another, the one asked for longest ago goes.
    """

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
        alike = self._arrays.fitting_alike(kind)
        mask = self._masks.pop(alike, None)
        late = len(self._touched) - self._seen.get(alike, 0)
        if mask is None or late > CATCH_UP:
            mask = self._made(kind)
        elif late:
            self._catch_up(kind, mask, self._touched[-late:])
        self._remember(alike, mask)
        return mask

    def _remember(self, alike: int, mask: NodeMask) -> None:
        if len(self._masks) >= REMEMBERED:
            del self._masks[next(iter(self._masks))]
        self._masks[alike] = mask
        self._seen[alike] = len(self._touched)

    def _made(self, kind: int) -> NodeMask:
        mask = self._arrays.admitting(kind) & self._open
        for axis, amount in self._arrays.needs[kind]:
            mask &= self._free[axis] >= amount
        return mask

    def _catch_up(self, kind: int, mask: NodeMask, touched: Sequence[int]) -> None:
        admitting, needs = self._arrays.admitting(kind), self._arrays.needs[kind]
        for node in set(touched):
            fits = admitting[node] and self._open[node]
            mask[node] = fits and all(self._free[axis, node] >= amount for axis, amount in needs)
