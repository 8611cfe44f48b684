"""How many chunks of capacity buffers have room in a packing, whatever pods lie where.

The scheduler knows nothing of chunks and puts pods into their room: so pods come first, and chunks get what is left.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from shared.core.cluster.pod import Pod
from shared.core.placement.cluster_arrays import MOST, Amounts, ClusterArrays
from shared.core.placement.node_filters import NodeMask
from shared.core.placement.node_room import NodeRoom

Chunks = tuple[int, ...]  # How many chunks of each buffer have room, in the order of `BufferRoom.first`.


class BufferRoom:
    """The buffers of a snapshot, those with the largest chunks first."""

    def __init__(self, arrays: ClusterArrays, chunks: Iterable[tuple[Pod, int]]) -> None:
        wanted: dict[int, int] = {}
        for chunk, number in chunks:
            kind = arrays.kind_of[chunk.spec]
            wanted[kind] = wanted.get(kind, 0) + number
        self._arrays = arrays
        self._rows = sorted(wanted.items(), key=lambda row: (-arrays.size(row[0]), row[0]))
        self._bound = any(arrays.constraints.concerning[kind] for kind in wanted)
        """Whether what lies where decides more than how much is free."""
        self.wanted: Chunks = tuple(number for _, number in self._rows)
        self.first = tuple(arrays.example[arrays.classes[kind]] for kind, _ in self._rows)
        """A chunk of each buffer, to name."""

    def __bool__(self) -> bool:
        return bool(self._rows)

    def fitting(self, room: NodeRoom, also_open: Sequence[int] = ()) -> Chunks:
        """Return how many chunks have room; `also_open` are nodes that count as if they received pods."""
        if self._bound:
            return room.fitting_one_by_one(self._rows, also_open)
        free, open_ = room.left_for_chunks(also_open)
        return tuple(self._take_room(kind, number, free, open_) for kind, number in self._rows)

    def lost_place(self, room: NodeRoom, node: int, chunks: Chunks) -> int | None:
        """Return the place of a buffer for which the node, which is taken, was needed; None where none lacks it."""
        # It has less room than before; or, if it lacks some now, the node would give it more, emptied.
        if not self:
            return None
        left = self.fitting(room)
        short = [place for place, number in enumerate(chunks) if left[place] < number]
        if not short and chunks != self.wanted:
            room.free_up(node, 1)  # as if what moved off the node left its own room behind
            emptied = self.fitting(room, (node,))
            room.free_up(node, -1)
            short = [place for place, number in enumerate(chunks) if emptied[place] > number]
        return short[0] if short else None

    def _take_room(self, kind: int, number: int, free: Amounts, open_: NodeMask) -> int:
        nodes = np.flatnonzero(self._arrays.admitting(kind) & open_)
        needs = self._arrays.needs[kind]
        if not len(nodes):
            return 0
        fits = np.min([free[axis, nodes] // amount for axis, amount in needs], axis=0).clip(0)
        order = np.argsort(fits, kind="stable")
        fits = fits[order]
        placed = np.minimum(fits, (min(number, MOST) - (np.cumsum(fits) - fits)).clip(0))
        for axis, amount in needs:
            free[axis, nodes[order]] -= placed * amount
        return int(placed.sum())
