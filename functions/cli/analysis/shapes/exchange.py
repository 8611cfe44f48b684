"""Nodes that are there go, new ones come, and the pods are placed again: every change is a count that can be undone.

All new nodes stand in the arrays from the start, held like taken ones. What lies on nodes that stay never moves.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from functions.cli.analysis.shapes.offers import NewGroup, PoolOffer
from shared.core.cluster.node import Node
from shared.core.placement.packing import Packing
from shared.core.placement.rearrangement import Rearrangement
from shared.core.planning.bill import Bill

Floats = NDArray[np.float64]
MOST_TYPES: Final = 2  # How many machine types besides its own a pool may get: each is a node pool more.


class Worth:
    """What the nodes that are in use cost together, and what else counts. All in micro-dollars an hour."""

    def __init__(self, bill: Bill, nodes: Sequence[Node], moving: int, offered: Iterable[PoolOffer]) -> None:
        """`moving`: what a pod counts for that has to move. `offered`: each pool is to stay in as many zones."""
        self._bill, self._moving, self._moved = bill, moving, 0
        self._zones = {offer.pool: len(offer.zones) for offer in offered}
        self._prices = [bill.prices.of(node).per_hour for node in nodes]
        self._amounts = [bill.amounts(node) for node in nodes]
        self._places = [(node.pool, node.zone) for node in nodes]
        self._missing = 2 * max(self._prices, default=0)
        self._total, self._listed = list(bill.total(nodes)), sum(self._prices)
        self.counts = Counter(self._places)  # By pool and zone how many nodes are in use.

    def count(self, node: int, nodes: int, pods: int) -> None:
        """Count a node in, or out again, and the pods that move as it goes."""
        self._listed += nodes * self._prices[node]
        for axis, amount in enumerate(self._amounts[node]):
            self._total[axis] += nodes * amount
        self._moved -= nodes * pods
        self.counts[self._places[node]] += nodes

    @property
    def value(self) -> int:
        """What is paid, with all else that counts: less is better."""
        cost = self._listed - self._bill.covered(self._total) + self._bill.fees
        return cost + self._moving * self._moved + self._missing * self._missing_zones()

    def price_of_one_more(self, node: int) -> int:
        """Return by how much the bill grows with the node, at least 1."""
        price = self._prices[node]
        if not self._bill.is_list:
            more = [have + amount for have, amount in zip(self._total, self._amounts[node], strict=True)]
            price += self._bill.covered(self._total) - self._bill.covered(more)
        return max(price, 1)

    def _missing_zones(self) -> int:
        found, nodes = Counter[str](), Counter[str]()
        for (pool, _), count in self.counts.items():
            found[pool] += count > 0
            nodes[pool] += count
        return sum(max(min(most, nodes[pool]) - found[pool], 0) for pool, most in self._zones.items())


class Exchange(Rearrangement):
    """Which nodes are in use, old and new, and where the pods lie that have moved."""

    def __init__(self, start: Packing, worth: Worth, new: Mapping[NewGroup, Sequence[int]]) -> None:
        super().__init__(start)
        self.worth, self.new = worth, new
        self._new = {node for nodes in new.values() for node in nodes}
        self._bought = Counter(self.kind_of(node) for node in self._new)
        for node in sorted(self._new):
            self._hold(0, node, 1)

    def nodes_in_use(self) -> list[int]:
        return self.in_use(node for nodes in self.new.values() for node in nodes)

    def in_use(self, nodes: Iterable[int]) -> list[int]:
        return [node for node in nodes if node not in self]

    def kind_of(self, node: int) -> tuple[str, str]:
        own = self.arrays.nodes[node]
        return own.pool, own.machine

    def may_come(self, group: NewGroup, own_type: str) -> bool:
        """Whether the pool may get nodes of that machine type: its own, and `MOST_TYPES` others."""
        types = {machine for (pool, machine), count in self._bought.items() if pool == group.pool and count}
        return group.machine in {own_type, *types} or len(types - {own_type}) < MOST_TYPES

    def nodes_to_buy(self, group: NewGroup) -> Iterator[int]:
        return (node for node in self.new[group] if node in self)

    def buy(self, node: int) -> None:
        self._do(self._hold, 0, node, -1)

    def vacate(self, node: int) -> list[int]:
        """Take a node away, old or new; return the classes of the pods that have no place for now."""
        own, guests = self._clear(node)
        for kind, pods in own.items():
            self._do(self._constraints.evict, kind, node, pods)
        return [*own.elements(), *guests]

    def settle_all(self, kinds: Iterable[int]) -> list[int]:
        """Place what can be placed on nodes in use, where the strategy wants it; return the classes of the others."""
        left: list[int] = []
        hopeless: set[int] = set()
        for kind in kinds:
            if kind in hopeless or not self._settle(kind, 0):
                hopeless.add(kind)
                left.append(kind)
        return left

    def settle_on(self, kind: int, node: int) -> bool:
        self.steps += 1
        if not self.takes(kind, node):
            return False
        self._do(self._lie, kind, node, 1)
        return True

    def free_of(self, nodes: Sequence[int]) -> Floats:
        return self._free[:, nodes].T.astype(np.float64)

    def guests(self, node: int) -> list[int]:
        """Return the classes of the pods that were put there, one for each pod."""
        return list(Counter(self._relocated.get(node, {})).elements())

    def _hold(self, kind: int, node: int, pods: int) -> None:
        super()._hold(kind, node, pods)
        self.worth.count(node, -pods, len(self.own_of(node)))
        if node in self._new:
            self._bought[self.kind_of(node)] -= pods
