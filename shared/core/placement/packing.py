"""One way the pods might come to lie: free room, what the constraints count, and what has been placed so far.

Changes in place for speed; a removal that fails leaves nothing behind, one that succeeded can be undone.
Works on class and node indices of one `ClusterArrays`; must not know pods by name, nor judge nodes.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

import numpy as np

from shared.core.placement.bounds import Amounts
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.constraints import CONSTRAINTS, NewConstraint
from shared.core.placement.fit_cache import FitCache
from shared.core.placement.node_filters import NodeMask
from shared.core.placement.strategies import Strategy

OUTSIDE: Final = -1
"""The node index of pods that are not bound yet."""
Answer = TypeVar("Answer")
_NEVER: Final = np.int64(np.iinfo(np.int64).max)


class Placement(NamedTuple):
    """One pod of a class goes from a node to a node."""

    kind: int
    source: int
    target: int


@dataclass
class Removal:
    """The removal of one node: who had to leave, where they went, and which class found no place.

    `misplaced`: all found a place, but when all lay there, a pod of that class could not have come back to its own.
    """

    node: int
    leaving: list[int]
    relocated: Counter[int]
    was_open: bool
    placements: list[Placement] = field(default_factory=list)
    blocked: int | None = None
    misplaced: int | None = None

    @property
    def succeeded(self) -> bool:
        return self.blocked is None and self.misplaced is None


class Packing:
    """The cluster with one strategy's placements in it. `log` lists every placement that stands, in order."""

    def __init__(self, arrays: ClusterArrays, strategy: Strategy) -> None:
        self.arrays = arrays
        self.strategy = strategy
        self.log: list[Placement] = []
        self._free = arrays.free.copy()
        self._open = arrays.destinations.copy()
        self._ties = strategy.ties(len(arrays.nodes))
        self._key = strategy.direction * arrays.room(self._free) + self._ties
        self._constraints = arrays.constraint_states.copy()
        self._relocated: dict[int, Counter[int]] = {}
        self._fit_cache = FitCache(arrays, self._free, self._open)
        self._careful = False
        """Whether a pod goes where it costs no other its place, as far as the constraints prefer it."""

    def copy(self) -> "Packing":
        """Return an independent twin."""
        twin = Packing(self.arrays, self.strategy)
        twin.begin_at(self)
        return twin

    def begin_at(self, start: "Packing") -> None:
        """Stand, new as this packing is, where another of the same arrays and strategy stands."""
        self.log = list(start.log)
        self._free[...], self._open[...], self._key[...] = start._free, start._open, start._key  # noqa: SLF001 - its like
        self._constraints = start._constraints.copy()  # noqa: SLF001
        self._relocated = {node: Counter(kinds) for node, kinds in start._relocated.items()}  # noqa: SLF001

    def close(self, nodes: Sequence[int]) -> None:
        """Take nodes out of the destinations."""
        for node in nodes:
            self._open[node] = False
            self._constraints.close(node)
            self._fit_cache.touch(node)

    def bar(self, nodes: Sequence[int]) -> None:
        """Put nothing more on nodes of which nobody knows whether they go."""
        for node in nodes:
            self._open[node] = False
            self._constraints.bar(node)
            self._fit_cache.touch(node)

    def open(self, nodes: Sequence[int]) -> None:
        """Let nodes receive pods, whatever kept them from it in the picture."""
        for node in nodes:
            self._open[node] = True
            self._fit_cache.touch(node)

    def hold_back(self, amounts: Amounts) -> None:
        """Keep headroom free: amounts by axis and node."""
        self._free -= amounts
        self._key = self.strategy.direction * self.arrays.room(self._free) + self._ties
        self._fit_cache.forget()

    def reserve(self, kinds: Sequence[int], source: int) -> list[int]:
        """Place what can be placed, in the given order; return the classes of the pods that fit nowhere."""
        unplaced = self._reserve(kinds, source)
        self._constraints.accept()
        return unplaced

    def _reserve(self, kinds: Sequence[int], source: int) -> list[int]:
        self._leave(kinds, source)
        placements = [Placement(kind, source, self._rehome(kind, source)) for kind in kinds]
        self.log.extend(placement for placement in placements if placement.target != OUTSIDE)
        return [placement.kind for placement in placements if placement.target == OUTSIDE]

    def reserve_all(self, kinds: Sequence[int], source: int) -> bool:
        """Place all pods of a node on its way out, or nothing has changed."""
        begun = len(self.log)
        self._constraints.close(source)
        if not self._reserve(kinds, source):
            self._constraints.accept()
            return True
        for kind, _, target in reversed(self.log[begun:]):
            self._put(kind, target, -1)
        del self.log[begun:]
        self._stay(kinds, len(kinds), source)
        self._constraints.reopen(source)
        return False

    def remove(self, node: int, own: Sequence[int]) -> Removal:
        """Close the node and place its own and the relocated pods elsewhere: all of them, or nothing has changed.

        If that costs a pod that was moved its place, it is tried again with pods put where they cost nobody theirs.
        """
        removal = self._remove(node, own)
        if removal.misplaced is None:
            return removal
        self._careful = True
        again = self._remove(node, own)
        self._careful = False
        return again if again.succeeded else removal

    def _remove(self, node: int, own: Sequence[int]) -> Removal:
        relocated = self._relocated.pop(node, Counter())
        moving_on = (kind for kind in relocated.elements() if not self.arrays.goes_with_its_node(kind))
        leaving = self.strategy.order(self.arrays, [*own, *moving_on])
        removal = Removal(node, leaving, relocated, was_open=bool(self._open[node]))
        self.close([node])
        self._leave(leaving, node)
        for kind in leaving:
            target = self._rehome(kind, node, movable=not self.arrays.fixed(kind))
            if target == OUTSIDE:
                removal.blocked = kind
                self.undo(removal)
                return removal
            removal.placements.append(Placement(kind, node, target))
        self.log.extend(removal.placements)
        removal.misplaced = self._constraints.misplaced()
        if removal.misplaced is not None:
            self.undo(removal)
        return removal

    def undo(self, removal: Removal) -> None:
        """Take back the last removal."""
        if removal.blocked is None:
            del self.log[len(self.log) - len(removal.placements) :]
        for kind, _, target in reversed(removal.placements):
            self._put(kind, target, -1)
        self._stay(removal.leaving, len(removal.placements) + (removal.blocked is not None), removal.node)
        self._open[removal.node] = removal.was_open
        self._constraints.reopen(removal.node)
        if removal.relocated:
            self._relocated[removal.node] = removal.relocated
        self._fit_cache.touch(removal.node)

    def options(self, kind: int) -> tuple[int, int]:
        """Return how many open nodes admit a class, and how many of them have room and may take it."""
        admitting = self.arrays.admitting(kind) & self._open
        return int(admitting.sum()), int(self.taking(kind).sum())

    def taking(self, kind: int) -> NodeMask:
        """Return the nodes that are open, admit the class, have room for one pod of it and are allowed to take it.

        The mask may be shared, do not write to it.
        """
        mask = self._fit_cache.of(kind)
        allowed = self._constraints.allowed(kind)
        return mask if allowed is None else mask & allowed

    def without(self, kind: int, node: int, ask: Callable[[], Answer]) -> Answer:
        """Return an answer as it is while a pod of the class that was given this place is not there."""
        self._put(kind, node, -1)
        found = ask()
        self._put(kind, node, 1)
        return found

    def best_beside(self, kind: int, node: int) -> int:
        """Return the feasible node that the strategy would choose for the class if this one were not there; OUTSIDE."""
        others = self.taking(kind).copy()
        others[node] = False
        return int(np.where(others, self._key, _NEVER).argmin()) if others.any() else OUTSIDE

    def shut(self) -> NodeMask:
        """Return the nodes that receive nothing, whatever it is."""
        mask: NodeMask = ~self._open
        return mask

    def lacking(self, kind: int) -> Iterator[tuple[str, NodeMask]]:
        """Yield each resource that the class asks for, with the nodes that have too little of it free."""
        for axis, amount in self.arrays.needs[kind]:
            yield self.arrays.axes[axis], self._free[axis] < amount

    def refusing(self, kind: int) -> Iterator[tuple[NewConstraint, NodeMask]]:
        """Yield each constraint that concerns the class, with the nodes that it forbids it as the pods lie now."""
        for constraint, answer in self._constraints.answers(kind):
            ever = self.arrays.constraints.admitted_by(constraint, kind)
            allowed = [mask for mask in (ever, answer) if mask is not None]
            yield CONSTRAINTS[constraint], ~np.logical_and.reduce([np.ones(len(self.arrays.nodes), np.bool_), *allowed])

    def put(self, kind: int, node: int) -> None:
        """Give a pod that has no node a place that `taking` showed."""
        self._put(kind, node, 1)
        self.log.append(Placement(kind, OUTSIDE, node))

    def _leave(self, kinds: Sequence[int], node: int) -> None:
        """Tell that these pods will be evicted from the node."""
        if node != OUTSIDE:
            for kind in kinds:
                self._constraints.leave(kind, node)

    def _stay(self, kinds: Sequence[int], evicted: int, node: int) -> None:
        """Take back that pods leave the node, and that so many of them were evicted."""
        for kind in kinds[:evicted]:
            self._constraints.evict(kind, node, -1)
        for kind in kinds:
            self._constraints.leave(kind, node, -1)

    def _rehome(self, kind: int, source: int, *, movable: bool = True) -> int:
        """Evict one of the pods that leave and place its replacement; OUTSIDE when there is no place for it."""
        if source != OUTSIDE:
            self._constraints.evict(kind, source)
        return self._place(kind) if movable else OUTSIDE

    def _place(self, kind: int) -> int:
        """Put one pod of the class onto its best feasible node; OUTSIDE when there is none."""
        target = self._best(kind)
        if target != OUTSIDE:
            self._put(kind, target, 1)
        return target

    def _best(self, kind: int) -> int:
        """Return the feasible node that the strategy would choose for one pod of the class, or OUTSIDE."""
        mask = self.taking(kind)
        if self._careful:
            mask = self._constraints.preferred(kind, mask)
        target = int(np.where(mask, self._key, _NEVER).argmin()) if len(mask) else OUTSIDE
        return target if target != OUTSIDE and mask[target] else OUTSIDE

    def _put(self, kind: int, node: int, pods: int) -> None:
        for axis, amount in self.arrays.needs[kind]:
            self._free[axis, node] -= pods * amount
        relocated = self._relocated.setdefault(node, Counter())
        relocated[kind] += pods
        if not relocated[kind]:
            del relocated[kind]
        if self.strategy.direction:
            room = self.arrays.room_on(self._free, node)
            self._key[node] = self.strategy.direction * room + self._ties[node]
        self._constraints.place(kind, node, pods)
        self._fit_cache.touch(node)
