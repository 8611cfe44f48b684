"""Which open nodes have room for one more pod of a class: remembered rows, repaired node by node.

Most placements change one node, so a row is not computed anew but catches up with the nodes touched since.
Must not ask the constraints about other pods: those may change for many nodes at once.
"""

from typing import Final

from shared.core.placement.bounds import Amounts
from shared.core.placement.cluster_arrays import Terrain
from shared.core.placement.node_filters import Row

REMEMBERED: Final = 512
"""Rows kept at once: 8 MB with 15,000 nodes."""
CATCH_UP: Final = 32
"""Above so many touched nodes a row is cheaper made anew."""


class Rows:
    """Rows over the arrays of one arrangement; `touch` must be told of every node whose entries changed."""

    def __init__(self, terrain: Terrain, free: Amounts, is_open: Row) -> None:
        self._terrain = terrain
        self._free = free
        self._open = is_open
        self._rows: dict[int, Row] = {}
        self._seen: dict[int, int] = {}
        self._touched: list[int] = []

    def touch(self, node: int) -> None:
        self._touched.append(node)

    def forget(self) -> None:
        """Begin anew, after a change of many nodes."""
        self._rows.clear()
        self._seen.clear()
        self._touched.clear()

    def of(self, kind: int) -> Row:
        """Return the row of a class; do not write to it."""
        late = len(self._touched) - self._seen.get(kind, 0)
        if kind not in self._rows or late > CATCH_UP:
            self._remember(kind)
        elif late:
            self._catch_up(kind)
        self._seen[kind] = len(self._touched)
        return self._rows[kind]

    def _remember(self, kind: int) -> None:
        if len(self._rows) >= REMEMBERED:
            self.forget()
        row = self._terrain.admitting(kind) & self._open
        for axis, amount in self._terrain.needs[kind]:
            row &= self._free[axis] >= amount
        self._rows[kind] = row

    def _catch_up(self, kind: int) -> None:
        row, admitting, needs = self._rows[kind], self._terrain.admitting(kind), self._terrain.needs[kind]
        for node in set(self._touched[self._seen[kind] :]):
            fits = admitting[node] and self._open[node]
            row[node] = fits and all(self._free[axis, node] >= amount for axis, amount in needs)
