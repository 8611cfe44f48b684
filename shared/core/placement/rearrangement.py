"""A packing in which the displaced pods may be placed again, and nodes be returned in any order: for the search.

What lies on nodes that stay never moves. Every change is a count that its negative takes back. The constraints are
asked about each pod as it is placed, not again when others move: what is found is proved from the start (`packing`).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from shared.core.placement.constraints.domain_counts import Counts, add_count, repeat_counted
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import Packing

EJECTIONS: Final = 4  # Displaced pods asked to go elsewhere before a pod counts as one without a place.
_Change = Callable[[int, int, int], None]
"""Of a class, a node and a number of pods; the negative number takes it back."""


class Rearrangement(Packing):
    """Which nodes are taken, and where what was on them lies. `steps` counts what was tried."""

    def __init__(self, start: Packing) -> None:
        super().__init__(start.arrays, start.strategy)
        self.begin_at(start)
        self._constraints.unfollow()
        self.steps = 0
        self._taken: dict[int, None] = {}
        self._earlier = {node: tuple(repeat_counted(kinds)) for node, kinds in self._relocated.items()}
        self._lying: dict[int, Counts] = defaultdict(dict)
        self._own: dict[int, tuple[int, ...]] = {}
        self._was_open: dict[int, bool] = {}
        self._done: list[tuple[_Change, int, int, int]] = []

    @property
    def taken(self) -> tuple[int, ...]:
        return tuple(self._taken)

    def __contains__(self, node: int) -> bool:
        return node in self._taken

    def lying(self) -> Mapping[int, Sequence[int]]:
        return {kind: sorted(repeat_counted(nodes)) for kind, nodes in self._lying.items() if nodes}

    def mark(self) -> int:
        return len(self._done)

    def keep(self) -> None:
        """Let all that was done stand; marks from before are void."""
        self._done.clear()

    def roll_back(self, mark: int) -> None:
        while len(self._done) > mark:
            change, kind, node, pods = self._done.pop()
            change(kind, node, -pods)

    def take(self, node: int, ejections: int = 0) -> bool:
        """Take the node if all that would have to leave it has a place, or nothing has changed."""
        mark = self.mark()
        own, guests = self._clear(node)
        for kind in self.strategy.order(self.arrays, [*own.elements(), *guests]):
            if own[kind]:
                own[kind] -= 1
                self._do(self._constraints.evict, kind, node, 1)
            if self.arrays.lasting_findings(kind) or not self._settle(kind, ejections):
                self.roll_back(mark)
                return False
        return True

    def _clear(self, node: int) -> tuple[Counter[int], list[int]]:
        """Take the node and all that would have to leave it: its own pods, by class, and those put there before."""
        own, here = Counter(self.own_of(node)), repeat_counted(self._relocated.get(node, {}))
        guests = [kind for kind in here if not self.arrays.goes_with_its_node(kind)]
        for kind in guests:
            self._do(self._lie if node in self._lying[kind] else self._put_pods, kind, node, -1)
        for kind, pods in own.items():
            self._do(self._constraints.leave, kind, node, pods)
        self._do(self._hold, 0, node, 1)  # a node is cheaper to close once its pods are no longer counted there
        self.steps += 1
        return own, guests

    def put_back(self, node: int) -> None:
        for kind in self._earlier.get(node, ()):
            if not self.arrays.goes_with_its_node(kind):
                self._recall(kind)
                self._do(self._put_pods, kind, node, 1)
        own = self.own_of(node)
        for kind in own:
            self._recall(kind)
            self._do(self._constraints.evict, kind, node, -1)
        for kind in own:
            self._do(self._constraints.leave, kind, node, -1)
        self._do(self._hold, 0, node, -1)

    def own_of(self, node: int) -> tuple[int, ...]:
        if node not in self._own:
            self._own[node] = tuple(self.arrays.kind_of[pod.spec] for pod in self.arrays.movable(node))
        return self._own[node]

    def _recall(self, kind: int) -> None:
        """Take a displaced pod of the class from where it lies; all of a class are alike."""
        self.steps += 1
        self._do(self._lie, kind, next(iter(self._lying[kind])), -1)

    def _settle(self, kind: int, ejections: int) -> bool:
        self.steps += 1
        target = self._best(kind)
        if target == OUTSIDE:
            return ejections > 0 and self._settle_by_ejecting(kind, ejections)
        self._do(self._lie, kind, target, 1)
        return True

    def _settle_by_ejecting(self, kind: int, ejections: int) -> bool:
        """Let another displaced pod make room, which then finds a place elsewhere, if need be in the same way."""
        for node, other in self._ejectable(kind):
            self.steps += 1
            mark = self.mark()
            self._do(self._lie, other, node, -1)
            if self.takes(kind, node):
                self._do(self._lie, kind, node, 1)
                if self._settle(other, ejections - 1):
                    return True
            self.roll_back(mark)
        return False

    def _ejectable(self, kind: int) -> list[tuple[int, int]]:
        """Return (node, class) of the smaller displaced pods whose leaving may give the pod room."""
        found: list[tuple[int, int]] = []
        for node in self._nearly_taking(kind):
            here = sorted(self._relocated.get(node, ()), key=self.arrays.size)
            smaller = (other for other in here if self.arrays.size(other) < self.arrays.size(kind))
            found.extend((node, other) for other in smaller if node in self._lying[other])
        return found[:EJECTIONS]

    def _nearly_taking(self, kind: int) -> Iterable[int]:
        short = np.zeros(len(self.arrays.nodes), np.float64)
        for axis, amount in self.arrays.needs[kind]:
            lack = (amount - self._free[axis]) / self.arrays.allocatable[axis].clip(1)
            short = np.maximum(short, lack)
        short[~(self.arrays.admitting(kind) & self._open)] = np.inf
        nearest = np.argsort(short, kind="stable")[: 2 * EJECTIONS]
        return [int(node) for node in nearest if np.isfinite(short[node])]

    def _do(self, change: _Change, kind: int, node: int, pods: int) -> None:
        change(kind, node, pods)
        self._done.append((change, kind, node, pods))

    def _lie(self, kind: int, node: int, pods: int) -> None:
        self._put_pods(kind, node, pods)
        add_count(self._lying[kind], node, pods)

    def _hold(self, _: int, node: int, pods: int) -> None:
        """Take the node out of the destinations and into those taken, or the other way round."""
        if pods > 0:
            self._was_open[node] = bool(self._open[node])
            self._taken[node] = None
            self.close([node])
        else:
            del self._taken[node]
            self._open[node] = self._was_open[node]
            self._constraints.reopen(node)
            self._fit_cache.touch(node)
