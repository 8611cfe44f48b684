"""Nodes that are there go, new ones come, and the pods are placed again: every change is a count that can be undone.

All new nodes stand in the arrays from the start, held like nodes that were taken; buying one opens it. What lies on
nodes that stay never moves. `Worth` knows at each moment what the nodes cost and how many pods have moved.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from functions.cli.analysis.shapes.offers import NewGroup
from shared.core.cluster.node import Node
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import Packing
from shared.core.placement.rearrangement import Rearrangement
from shared.core.planning.bill import Bill

MOST_TYPES: Final = 2
"""How many machine types besides its own a pool may get: each is a node pool more."""
PoolZone = tuple[str, str]
"""A pool and a zone."""


@dataclass
class Worth:
    """What the nodes that are in use cost together, and what else counts. All in micro-dollars an hour."""

    bill: Bill
    nodes: Sequence[Node]
    moving: int
    """What a pod counts for that has to move."""
    zones: Mapping[str, int]
    """By pool in how many zones it has nodes now; it is to stay in as many, as far as it has nodes."""
    listed: int = 0
    moved: int = 0
    amounts: list[int] = field(default_factory=list)
    counts: Counter[PoolZone] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Count all nodes in."""
        self._prices = [self.bill.prices.of(node).per_hour for node in self.nodes]
        self._amounts = [self.bill.amounts(node) for node in self.nodes]
        self._places = [(node.pool, node.zone) for node in self.nodes]
        self._missing = 2 * max(self._prices, default=0)
        self.amounts = list(self.bill.total(self.nodes))
        self.listed = sum(self._prices)
        self.counts.update(self._places)

    def count(self, node: int, nodes: int, pods: int) -> None:
        """Count a node in, or out again, and the pods that move as it goes."""
        self.listed += nodes * self._prices[node]
        for axis, amount in enumerate(self._amounts[node]):
            self.amounts[axis] += nodes * amount
        self.moved -= nodes * pods
        self.counts[self._places[node]] += nodes

    @property
    def cost(self) -> int:
        """What is paid."""
        return self.listed - self.bill.covered(self.amounts) + self.bill.fees

    @property
    def value(self) -> int:
        """What is paid, with all else that counts: less is better."""
        return self.cost + self.moving * self.moved + self._missing * self._missing_zones()

    def price_of_one_more(self, node: int) -> int:
        """Return by how much the bill grows with the node."""
        if self.bill.is_list:
            return self._prices[node]
        more = [have + amount for have, amount in zip(self.amounts, self._amounts[node], strict=True)]
        return self._prices[node] + self.bill.covered(self.amounts) - self.bill.covered(more)

    def _missing_zones(self) -> int:
        found, nodes = Counter[str](), Counter[str]()
        for (pool, _), count in self.counts.items():
            found[pool] += count > 0
            nodes[pool] += count
        return sum(max(min(most, nodes[pool]) - found[pool], 0) for pool, most in self.zones.items())


class Exchange(Rearrangement):
    """Which nodes are in use, old and new, and where the pods lie that have moved."""

    def __init__(self, start: Packing, worth: Worth, new: Mapping[NewGroup, Sequence[int]]) -> None:
        super().__init__(start)
        self.worth = worth
        self.new = new
        self._group_of = {node: group for group, nodes in new.items() for node in nodes}
        self._bought: Counter[tuple[str, str]] = Counter()
        for node in self._group_of:
            self._bought[self._kind_of_group(node)] += 1
            self._hold(0, node, 1)

    def is_new(self, node: int) -> bool:
        return node in self._group_of

    def bought(self) -> list[int]:
        """Return the new nodes that are in use."""
        return [node for node in self._group_of if node not in self]

    def in_use(self, nodes: Iterable[int]) -> list[int]:
        """Return those of some nodes that are in use."""
        return [node for node in nodes if node not in self]

    def kind_of(self, node: int) -> tuple[str, str]:
        """Return pool and machine type of a node."""
        each = self.arrays.nodes[node]
        return each.pool, each.machine

    def types_bought(self, pool: str) -> set[str]:
        """Return the machine types of which new nodes of the pool are in use."""
        return {machine for (own, machine), count in self._bought.items() if own == pool and count}

    def buy(self, node: int) -> None:
        """Open a new node."""
        self._do(self._hold, 0, node, -1)

    def vacate(self, node: int) -> list[int]:
        """Take a node away, old or new; return the classes of the pods that have no place for now."""
        own = Counter(self._own_of(node))
        guests = [kind for kind in self.guests(node) if not self.arrays.goes_with_its_node(kind)]
        for kind in guests:
            self._do(self._lie if node in self._lying[kind] else self._put, kind, node, -1)
        for kind, pods in own.items():
            self._do(self._constraints.leave, kind, node, pods)
        self._do(self._hold, 0, node, 1)
        for kind, pods in own.items():
            self._do(self._constraints.evict, kind, node, pods)
        self.steps += 1
        return [*own.elements(), *guests]

    def settle_all(self, kinds: Iterable[int]) -> list[int]:
        """Place what can be placed on nodes in use; return the classes of the others."""
        left: list[int] = []
        hopeless: set[int] = set()
        for kind in kinds:
            if kind in hopeless or not self.settle(kind):
                hopeless.add(kind)
                left.append(kind)
        return left

    def settle(self, kind: int) -> bool:
        """Place one pod of a class where the strategy wants it."""
        self.steps += 1
        target = self._best(kind)
        if target == OUTSIDE:
            return False
        self._do(self._lie, kind, target, 1)
        return True

    def settle_on(self, kind: int, node: int) -> bool:
        """Place one pod of a class there, if it may lie there."""
        self.steps += 1
        if not self.takes(kind, node):
            return False
        self._do(self._lie, kind, node, 1)
        return True

    def free_of(self, nodes: Sequence[int]) -> NDArray[np.float64]:
        """Return by node and axis what is free."""
        return self._free[:, nodes].T.astype(np.float64)

    def guests(self, node: int) -> list[int]:
        """Return the classes of the pods that were put there, one for each pod."""
        return list(Counter(self._relocated.get(node, {})).elements())

    def own_of(self, node: int) -> tuple[int, ...]:
        """Return the classes of the pods that would have to leave the node."""
        return self._own_of(node)

    def _kind_of_group(self, node: int) -> tuple[str, str]:
        group = self._group_of[node]
        return group.pool, group.machine

    def _hold(self, kind: int, node: int, pods: int) -> None:
        super()._hold(kind, node, pods)
        self.worth.count(node, -pods, len(self._own_of(node)))
        if node in self._group_of:
            self._bought[self._kind_of_group(node)] -= pods
