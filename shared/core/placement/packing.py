"""One way the pods might come to lie: free room, what the constraints count, and what has been placed so far.

Changes in place for speed; an attempt that fails leaves nothing behind, one that succeeded can be undone.
Works on class and node indices of one `Terrain`; must not know pods by name, nor judge nodes.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from shared.core.placement.bounds import Amounts
from shared.core.placement.cluster_arrays import Terrain
from shared.core.placement.fit_cache import Rows
from shared.core.placement.node_filters import Row
from shared.core.placement.strategies import Strategy

OUTSIDE: Final = -1
"""The node index of pods that are not bound yet."""
_NEVER: Final = np.int64(np.iinfo(np.int64).max)


class Step(NamedTuple):
    """One pod of a class goes from a node to a node."""

    kind: int
    source: int
    target: int


@dataclass
class Attempt:
    """The removal of one node: who had to leave, where they went, and which class found no place."""

    node: int
    leaving: list[int]
    guests: Counter[int]
    was_open: bool
    steps: list[Step] = field(default_factory=list)
    stuck: int | None = None


class Arrangement:
    """A terrain with one strategy's placements on it. `log` lists every step that stands, in order."""

    def __init__(self, terrain: Terrain, strategy: Strategy) -> None:
        self.terrain = terrain
        self.strategy = strategy
        self.log: list[Step] = []
        self._free = terrain.free.copy()
        self._open = terrain.destinations.copy()
        self._ties = strategy.ties(len(terrain.nodes))
        self._key = strategy.direction * terrain.room(self._free) + self._ties
        self._constraints = terrain.constraint_states.copy()
        self._guests: dict[int, Counter[int]] = {}
        self._rows = Rows(terrain, self._free, self._open)

    def copy(self) -> "Arrangement":
        """Return an independent twin."""
        twin = Arrangement(self.terrain, self.strategy)
        twin.log = list(self.log)
        for mine, own in ((self._free, twin._free), (self._open, twin._open), (self._key, twin._key)):
            own[...] = mine
        twin._constraints = self._constraints.copy()
        twin._guests = {node: Counter(kinds) for node, kinds in self._guests.items()}
        return twin

    def close(self, nodes: Sequence[int]) -> None:
        """Take nodes out of the destinations."""
        for node in nodes:
            self._open[node] = False
            self._constraints.close(node)
            self._rows.touch(node)

    def open(self, nodes: Sequence[int]) -> None:
        """Let nodes receive pods, whatever kept them from it in the picture."""
        for node in nodes:
            self._open[node] = True
            self._rows.touch(node)

    def hold_back(self, amounts: Amounts) -> None:
        """Keep headroom free: amounts by axis and node."""
        self._free -= amounts
        self._key = self.strategy.direction * self.terrain.room(self._free) + self._ties
        self._rows.forget()

    def reserve(self, kinds: Sequence[int], source: int) -> list[int]:
        """Place what can be placed, in the given order; return the classes of the pods that fit nowhere."""
        self._leave(kinds, source)
        steps = [Step(kind, source, self._rehome(kind, source)) for kind in kinds]
        self.log.extend(step for step in steps if step.target != OUTSIDE)
        return [step.kind for step in steps if step.target == OUTSIDE]

    def reserve_all(self, kinds: Sequence[int], source: int) -> bool:
        """Place all pods of a node on its way out, or nothing has changed."""
        begun = len(self.log)
        self._constraints.close(source)
        if not self.reserve(kinds, source):
            return True
        for kind, _, target in reversed(self.log[begun:]):
            self._put(kind, target, -1)
        del self.log[begun:]
        self._stay(kinds, len(kinds), source)
        self._constraints.reopen(source)
        return False

    def remove(self, node: int, residents: Sequence[int]) -> Attempt:
        """Close the node and place its residents and guests elsewhere: all of them, or nothing has changed."""
        guests = self._guests.pop(node, Counter())
        moving_on = (kind for kind in guests.elements() if not self.terrain.goes_with_its_node(kind))
        leaving = self.strategy.order(self.terrain, [*residents, *moving_on])
        attempt = Attempt(node, leaving, guests, was_open=bool(self._open[node]))
        self.close([node])
        self._leave(leaving, node)
        for kind in leaving:
            target = self._rehome(kind, node, movable=not self.terrain.fixed(kind))
            if target == OUTSIDE:
                attempt.stuck = kind
                self.undo(attempt)
                return attempt
            attempt.steps.append(Step(kind, node, target))
        self.log.extend(attempt.steps)
        return attempt

    def undo(self, attempt: Attempt) -> None:
        """Take back the last removal."""
        if attempt.stuck is None:
            del self.log[len(self.log) - len(attempt.steps) :]
        for kind, _, target in reversed(attempt.steps):
            self._put(kind, target, -1)
        self._stay(attempt.leaving, len(attempt.steps) + (attempt.stuck is not None), attempt.node)
        self._open[attempt.node] = attempt.was_open
        self._constraints.reopen(attempt.node)
        if attempt.guests:
            self._guests[attempt.node] = attempt.guests
        self._rows.touch(attempt.node)

    def options(self, kind: int) -> tuple[int, int]:
        """Return how many open nodes admit a class, and how many of them have room and may take it."""
        admitting = self.terrain.admitting(kind) & self._open
        return int(admitting.sum()), int(self.taking(kind).sum())

    def taking(self, kind: int) -> Row:
        """Return the nodes that are open, admit the class, have room for one pod of it and are allowed to take it.

        The row may be shared, do not write to it.
        """
        row = self._rows.of(kind)
        allowed = self._constraints.allowed(kind)
        return row if allowed is None else row & allowed

    def put(self, kind: int, node: int) -> None:
        """Give a pod that has no node a place that `taking` showed."""
        self._put(kind, node, 1)
        self.log.append(Step(kind, OUTSIDE, node))

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
        row = self.taking(kind)
        target = int(np.where(row, self._key, _NEVER).argmin()) if len(row) else OUTSIDE
        if target == OUTSIDE or not row[target]:
            return OUTSIDE
        self._put(kind, target, 1)
        return target

    def _put(self, kind: int, node: int, pods: int) -> None:
        for axis, amount in self.terrain.needs[kind]:
            self._free[axis, node] -= pods * amount
        guests = self._guests.setdefault(node, Counter())
        guests[kind] += pods
        if not guests[kind]:
            del guests[kind]
        if self.strategy.direction:
            room = self.terrain.room_on(self._free, node)
            self._key[node] = self.strategy.direction * room + self._ties[node]
        self._constraints.add(kind, node, pods)
        self._rows.touch(node)
