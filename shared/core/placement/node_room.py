"""Where one pod may be placed: what is free on each open node, and what the constraints count.

Pods are put and taken back one by one, in place; both cost a few steps whatever the size of the cluster. Which nodes
have room for a class is remembered as a mask, repaired for the nodes that changed since.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Final, TypeVar

import numpy as np

from shared.core.cluster.pod import Pod
from shared.core.placement.cluster_arrays import Amounts, ClusterArrays
from shared.core.placement.constraints import CONSTRAINTS
from shared.core.placement.constraints.constraint import NewConstraint
from shared.core.placement.constraints.domain_counts import Counts, add_count
from shared.core.placement.node_filters import NodeMask
from shared.core.placement.strategies import Strategy

OUTSIDE: Final = -1  # The node index of pods that are not bound yet.
Answer = TypeVar("Answer")
_BELOW: Final = 2**45
"""Keys are below zero by this: times a mask the smallest of them then is the smallest of those in the mask."""


class NodeRoom:
    """The nodes as one strategy sees them, with all that was put there."""

    def __init__(self, arrays: ClusterArrays, strategy: Strategy) -> None:
        self.arrays = arrays
        self.strategy = strategy
        self._free = arrays.free.copy()
        self._free_data = self._free.data  # The same, for one node.
        self._open = arrays.destinations.copy()
        self._ties = strategy.ties(len(arrays.nodes)) - _BELOW
        self._key = strategy.direction * arrays.room(self._free) + self._ties
        """Of each node what the strategy chooses by: the smallest goes first."""
        self._constraints = arrays.constraint_states.copy()
        self._relocated: dict[int, Counts] = {}  # By node, what was put there.
        self._fit_cache = FitCache(arrays, self._free, self._open)
        self._headroom: Amounts | None = None
        """What is kept free next to pods that are moved; chunks of buffers may lie there."""
        self._careful = False
        """Whether a pod goes where it costs no other its place, as far as the constraints prefer it."""

    def _stand_at(self, start: "NodeRoom") -> None:
        """Take over, new as this one is, how the pods lie in another of the same arrays and strategy."""
        self._free[...], self._open[...], self._key[...] = start._free, start._open, start._key  # noqa: SLF001 - its like
        self._headroom = start._headroom  # noqa: SLF001
        self._constraints = start._constraints.copy()  # noqa: SLF001
        self._relocated = {node: kinds.copy() for node, kinds in start._relocated.items()}  # noqa: SLF001

    def close(self, nodes: Sequence[int]) -> None:
        for node in nodes:
            self._open[node] = False
            self._constraints.close(node)
            self._fit_cache.touch(node)

    def stop_filling(self, nodes: Sequence[int]) -> None:
        """Put nothing more on nodes of which nobody knows whether they go."""
        for node in nodes:
            self._open[node] = False
            self._constraints.stop_filling(node)
            self._fit_cache.touch(node)

    def open(self, nodes: Sequence[int]) -> None:
        for node in nodes:
            self._open[node] = True
            self._fit_cache.touch(node)

    def hold_back(self, amounts: Amounts) -> None:
        self._headroom = amounts
        self._free -= amounts
        self._key = self.strategy.direction * self.arrays.room(self._free) + self._ties
        self._fit_cache.forget()

    def left_for_chunks(self, also_open: Sequence[int]) -> tuple[Amounts, NodeMask]:
        """Return a copy of what is free, headroom included, and of the nodes that receive pods, with these besides."""
        open_ = self._open.copy()
        open_[list(also_open)] = True
        return self._free.copy() if self._headroom is None else self._free + self._headroom, open_

    def free_up(self, node: int, way: int) -> None:
        """Count what its own movable pods take of a node as free, or, the other way round, as taken again."""
        for pod in self.arrays.movable(node):
            for axis, amount in self.arrays.needs[self.arrays.kind_of[pod.spec]]:
                self._free[axis, node] += way * amount
        self._fit_cache.touch(node)

    def fitting_one_by_one(self, rows: Sequence[tuple[int, int]], also_open: Sequence[int]) -> tuple[int, ...]:
        """Return how many pods of each class (class, number) have room next to the others; none stays there."""
        shut = [node for node in also_open if not self._open[node]]
        self._widen(shut, 1)
        placed = [self._place_until_full(kind, number) for kind, number in rows]
        for (kind, _), nodes in zip(rows, placed, strict=True):
            for node in nodes:
                self._put_pods(kind, node, -1)
        self._widen(shut, -1)
        return tuple(map(len, placed))

    def _place_until_full(self, kind: int, number: int) -> list[int]:
        """Put so many pods of the class, or as many as there is room for; return where they lie."""
        places = (self._place(kind) for _ in range(number))
        return list(takewhile(lambda node: node != OUTSIDE, places))

    def _widen(self, nodes: Sequence[int], way: int) -> None:
        """Let nodes receive pods and drop the headroom, or, the other way round, take both back."""
        self._open[list(nodes)] = way > 0
        if self._headroom is not None:
            self._free += way * self._headroom
        self._fit_cache.forget()

    def options(self, kind: int, source: int) -> tuple[int, int]:
        """Return how many open nodes but this one admit a class, and how many of them have room and may take it."""
        admitting, taking = self.arrays.admitting(kind) & self._open, self.taking(kind)
        return int(admitting.sum() - admitting[source]), int(taking.sum() - taking[source])

    def taking(self, kind: int) -> NodeMask:
        """Return the nodes that are open, admit the class, have room for a pod and may take it."""
        # Do not write to the mask.
        mask = self._fit_cache.of(kind)
        allowed = self._constraints.allowed_nodes(kind)
        return mask if allowed is None else mask & allowed

    def takes(self, kind: int, node: int) -> bool:
        """Whether a node is one of those that `taking` returns: for one node that is known much sooner."""
        fits = bool(self.arrays.admitting(kind)[node]) and self._fit_cache.has_room(self.arrays.needs[kind], node)
        return fits and self._constraints.allows(kind, node)

    def takes_later(self, kind: int, node: int, ending: Sequence[Pod]) -> bool:
        """Whether an open node admits the class and has room for it once those of its pods are gone."""
        free = self._free[:, node] + self.arrays.taken_by(ending)
        has_room = all(free[axis] >= amount for axis, amount in self.arrays.needs[kind])
        return bool(self._open[node] and self.arrays.admitting(kind)[node]) and has_room

    def without(self, kind: int, node: int, ask: Callable[[], Answer]) -> Answer:
        """Return an answer as it is while a pod of the class that was given this place is not there."""
        self._put_pods(kind, node, -1)
        found = ask()
        self._put_pods(kind, node, 1)
        return found

    def best_other_than(self, kind: int, node: int) -> int:
        """Return the feasible node that the strategy would choose for the class if this one were not there; OUTSIDE."""
        others = self.taking(kind).copy()
        others[node] = False
        return self._smallest(others)

    def closed_nodes(self) -> NodeMask:
        mask: NodeMask = ~self._open
        return mask

    def lacking(self, kind: int) -> Iterator[tuple[str, NodeMask]]:
        for axis, amount in self.arrays.needs[kind]:
            yield self.arrays.axes[axis], self._free[axis] < amount

    def refusing(self, kind: int) -> Iterator[tuple[NewConstraint, NodeMask]]:
        """Yield each constraint that concerns the class, with the nodes that it forbids it as the pods lie now."""
        for constraint, answer in self._constraints.answers(kind):
            ever = self.arrays.constraints.admitted_by(constraint, kind)
            allowed = [mask for mask in (ever, answer) if mask is not None]
            yield CONSTRAINTS[constraint], ~np.logical_and.reduce([np.ones(len(self.arrays.nodes), np.bool_), *allowed])

    def _place(self, kind: int) -> int:
        target = self._best(kind)
        if target != OUTSIDE:
            self._put_pods(kind, target, 1)
        return target

    def _best(self, kind: int) -> int:
        """Return the feasible node that the strategy would choose for one pod of the class, or OUTSIDE."""
        # The constraints mostly allow the first choice, and know that of one node much sooner than of all.
        if not self._careful:
            first = self._smallest(self._fit_cache.of(kind))
            if first == OUTSIDE or self._constraints.allows(kind, first):
                return first
        nodes = self.taking(kind)
        return self._smallest(self._constraints.preferred_nodes(kind, nodes) if self._careful else nodes)

    def _smallest(self, among: NodeMask) -> int:
        if not len(among):
            return OUTSIDE
        target = int((self._key * among).argmin())
        return target if among[target] else OUTSIDE

    def _put_pods(self, kind: int, node: int, pods: int) -> None:
        for axis, amount in self.arrays.needs[kind]:
            self._free_data[axis, node] -= pods * amount
        here = self._relocated.get(node)
        if here is None:
            here = self._relocated[node] = {}
        add_count(here, kind, pods)
        if self.strategy.direction:
            room = self.arrays.room_on(self._free, node)
            self._key[node] = self.strategy.direction * room + self._ties.item(node)
        self._constraints.place(kind, node, pods)
        self._fit_cache.touch(node)


REMEMBERED: Final = 512  # Masks kept at once: 8 MB with 15,000 nodes.
CATCH_UP: Final = 32  # Above so many touched nodes a mask is cheaper to make again.


class FitCache:
    """Masks over the arrays of one packing, one for all classes that fit alike; the one asked for longest ago goes."""

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
        self._masks.clear()
        self._seen.clear()
        self._touched.clear()

    def of(self, kind: int) -> NodeMask:
        """Return the mask of a class; do not write to it."""
        alike = self._arrays.fitting_alike(kind)
        mask = self._masks.pop(alike, None)
        late = len(self._touched) - self._seen.get(alike, 0)
        if mask is None or late > CATCH_UP:
            mask = self._make_mask(kind)
        elif late:
            admitting, needs = self._arrays.admitting(kind), self._arrays.needs[kind]
            for node in set(self._touched[-late:]):
                mask[node] = admitting[node] and self.has_room(needs, node)
        if len(self._masks) >= REMEMBERED:
            del self._masks[next(iter(self._masks))]
        self._masks[alike] = mask
        self._seen[alike] = len(self._touched)
        return mask

    def _make_mask(self, kind: int) -> NodeMask:
        mask = self._arrays.admitting(kind) & self._open
        for axis, amount in self._arrays.needs[kind]:
            mask &= self._free[axis] >= amount
        return mask

    def has_room(self, needs: Sequence[tuple[int, int]], node: int) -> bool:
        if not self._open[node]:
            return False
        for axis, amount in needs:  # noqa: SIM110 - asked millions of times, for which a generator is slow
            if self._free.item(axis, node) < amount:
                return False
        return True
