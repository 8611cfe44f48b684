"""Which nodes should stay, and which new ones should come: greedy starts, then exchanges that improve the best.

A step takes a few nodes away and places their pods again, in what is free, then on new nodes that carry most for their
price. Fixed dice and a number of steps limit it, so that equal input gives equal advice. Every change is a count that
can be undone. All new nodes stand in the arrays from the start, held like taken ones; what lies on nodes that stay
never moves.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from functions.cli.analysis.forecast.what_if import DoneOf, no_progress
from functions.cli.analysis.shapes.offers import NewGroup, PoolOffer
from shared.core.cluster.node import Node
from shared.core.cluster.pod import PodClass
from shared.core.placement.cluster_arrays import ClusterArrays
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


TRIALS: Final = 2_400
STEPS: Final = 180_000  # Pods and nodes tried before no further exchange is.
_SIZES: Final = (1, 2, 3, 2, 4, 2, 1, 3, 8, 2)  # How many nodes are taken away, trial by trial.
_OF_ONE_KIND: Final = 10  # Of so many trials one takes nodes of one kind away, up to `_MOST_OF_ONE_KIND`.
_MOST_OF_ONE_KIND: Final = 12
_NOISE: Final = 0.15  # By how much the worth of a choice is blurred in a trial.
_WORSE: Final = 0.015  # By which share a trial may be worse than the best so far, at first.
_PATIENCE: Final = 250  # Trials after which the search returns to the best.
_LARGE: Final = 1.1  # The power of what a pod is worth, by which large pods go first.
_NO_ROOM: Final = 1e-9


class ShapeSearch:
    def __init__(
        self, exchange: Exchange, candidates: Sequence[int], worth: Floats, offered: Sequence[PoolOffer]
    ) -> None:
        """`candidates`: the nodes that may go. `worth`: what a pod is worth, by class."""
        self.exchange, self._candidates, self._worth, self._offered = exchange, candidates, worth, offered
        self._dice, self._trials = np.random.default_rng(0), 0

    def seat(self, kinds: Sequence[int]) -> None:
        """Give pods that wait a place, on new nodes if need be, as far as there is any."""
        self._place(self._order_kinds(kinds))
        self.exchange.keep()

    def remove_alone(self) -> None:
        """Take away nodes one by one whose pods find a place on the others, if that pays."""
        exchange = self.exchange
        for node in sorted(exchange.in_use(self._candidates), key=self._waste, reverse=True):
            before, mark = exchange.worth.value, exchange.mark()
            if not exchange.take(node) or exchange.worth.value >= before:
                exchange.roll_back(mark)
        exchange.keep()

    def rebuild(self, pool: str) -> None:
        """Take all nodes of a pool that may go away at once and place their pods again, if that is better."""
        exchange, before = self.exchange, self.exchange.worth.value
        nodes = [node for node in exchange.in_use(self._candidates) if exchange.kind_of(node)[0] == pool]
        if self._exchange_nodes(nodes) or exchange.worth.value >= before:
            exchange.roll_back(0)
        exchange.keep()

    def improve(self, trials: int, progress: DoneOf = no_progress) -> None:
        """Try exchanges, also some that are a little worse than the best so far; return to the best in the end."""
        exchange = self.exchange
        begun, best, since = exchange.steps, exchange.worth.value, 0
        for trial in range(trials):
            if exchange.steps - begun > STEPS:
                break
            progress(trial, trials)
            self._trials, mark = self._trials + 1, exchange.mark()
            homeless = self._restore_nodes() if self._trials % 4 == 0 else self._exchange_nodes(self._choose_nodes())
            most = best + round(best * _WORSE * (1 - trial / trials))
            since += 1
            if homeless or exchange.worth.value > most:
                exchange.roll_back(mark)
            elif exchange.worth.value < best:
                best, since = exchange.worth.value, 0
                exchange.keep()
            if since > _PATIENCE:
                exchange.roll_back(0)
                since = 0
        exchange.roll_back(0)

    def _exchange_nodes(self, nodes: Sequence[int]) -> list[int]:
        """Take nodes away and place their pods again; return those that have no place."""
        return self._place(self._order_kinds([kind for node in nodes for kind in self.exchange.vacate(node)]))

    def _choose_nodes(self) -> list[int]:
        """Return some nodes to take away: of three that the dice name, the one that carries least for its price."""
        rows = [*self.exchange.in_use(self._candidates), *self.exchange.nodes_in_use()]
        if not rows:
            return []
        if self._trials % _OF_ONE_KIND == 1:
            kind = self.exchange.kind_of(rows[int(self._dice.integers(len(rows)))])
            return [node for node in rows if self.exchange.kind_of(node) == kind][:_MOST_OF_ONE_KIND]
        count = _SIZES[self._trials % len(_SIZES)]
        named = self._dice.integers(len(rows), size=(count, 3)).tolist()
        return list(dict.fromkeys(max((rows[place] for place in three), key=self._waste) for three in named))

    def _restore_nodes(self) -> list[int]:
        """Put one or two nodes back that went, with all that was on them, and take new ones away for them."""
        exchange = self.exchange
        gone = [node for node in self._candidates if node in exchange and exchange.own_of(node)]
        new = exchange.nodes_in_use()
        if not gone or not new:
            return []
        for place in sorted(set(self._dice.integers(len(gone), size=1 + self._trials % 2).tolist())):
            exchange.put_back(gone[place])
        return self._exchange_nodes(sorted(new, key=lambda node: (-self._waste(node), node))[: 1 + self._trials % 3])

    def _waste(self, node: int) -> float:
        """Return what a node costs for all that its pods are worth."""
        kinds = [*self.exchange.own_of(node), *self.exchange.guests(node)]
        return self.exchange.worth.price_of_one_more(node) / max(float(self._worth[kinds].sum()), 1.0)

    def _order_kinds(self, kinds: Sequence[int]) -> list[int]:
        """Return classes, the most worth first, blurred in trials."""
        distinct = list(dict.fromkeys(kinds))
        blurred = dict(zip(distinct, self._worth[distinct] * self._blurs(len(distinct)), strict=True))
        return sorted(kinds, key=lambda kind: (-blurred[kind], kind))

    def _blurs(self, number: int) -> Floats:
        """Return so many factors around 1; in the beginnings nothing is blurred."""
        return self._dice.uniform(1 - _NOISE, 1 + _NOISE, number) if self._trials else np.ones(number)

    def _place(self, kinds: Sequence[int]) -> list[int]:
        """Place pods in what is free and then on new nodes; return the classes of those that have no place."""
        left, useless = self.exchange.settle_all(kinds), set[NewGroup]()
        while left:
            rest = self._bought_for(left, useless)
            if rest is None:
                return left
            left = rest
        return []

    def _bought_for(self, kinds: Sequence[int], useless: set[NewGroup]) -> list[int] | None:
        """Buy one node for some of these pods; return the classes of the others, or None if no node takes a pod."""
        while offers := list(self._offers(useless)):
            pods = Pods(self.exchange.arrays, Counter(kinds), self._worth)
            nodes = [node for _, node in offers]
            carried, values = pods.carry_pods(nodes, self.exchange.free_of(nodes))
            prices = np.array([self.exchange.worth.price_of_one_more(node) for node in nodes])
            ratios = self._blurs(len(nodes)) * values / prices
            for at in np.argsort(-ratios, kind="stable").tolist():
                group, node = offers[at]
                if ratios[at] > 0:
                    mark = self.exchange.mark()
                    self.exchange.buy(node)
                    rest = self._fill_node(node, kinds, pods.by_class(carried[at]))
                    if len(rest) < len(kinds):
                        return rest
                    self.exchange.roll_back(mark)
                useless.add(group)
        return None

    def _fill_node(self, node: int, kinds: Sequence[int], first: Mapping[int, int]) -> list[int]:
        """Put pods on a node, those first that it is meant for; return the classes of those that are not there."""
        left = Counter(kinds)
        refused: set[int] = set()
        for kind in (*Counter(first).elements(), *kinds):
            if kind not in refused and left[kind]:
                if self.exchange.settle_on(kind, node):
                    left[kind] -= 1
                else:
                    refused.add(kind)
        return [kind for kind in dict.fromkeys(kinds) for _ in range(left[kind])]

    def _offers(self, useless: Collection[NewGroup]) -> Iterator[tuple[NewGroup, int]]:
        """Yield a new node of each pool and machine type, in the zone with fewest for its share not `useless` yet."""
        exchange = self.exchange
        for offer in self._offered:
            fullness = {zone: exchange.worth.counts[offer.pool, zone] / share for zone, share in offer.zones.items()}
            zones = sorted(fullness, key=lambda zone: (fullness[zone], zone))
            for kind in offer.types:
                groups = (NewGroup(offer.pool, kind.name, zone) for zone in zones)
                ready = (group for group in groups if group in exchange.new and group not in useless)
                rows = ((group, node) for group in ready for node in exchange.nodes_to_buy(group))
                found = next(rows, None)
                if found is not None and exchange.may_come(found[0], offer.machine):
                    yield found


class Pods:
    """Pods without a place, by class, as arrays: which of them empty nodes should carry."""

    def __init__(self, arrays: ClusterArrays, counts: Mapping[int, int], worth: Floats) -> None:
        self._kinds = list(counts)
        needs = arrays.requests[:, self._kinds]
        self._axes = np.flatnonzero(needs.any(axis=1))
        self._needs = needs[self._axes].astype(np.float64)
        self._values = worth[self._kinds].clip(1.0)
        most = [1 if _is_choosy(arrays.classes[kind]) else counts[kind] for kind in self._kinds]
        self._counts = np.array(most, np.float64)
        self._admitting = [arrays.admitting(kind) for kind in self._kinds]

    def carry_pods(self, nodes: Sequence[int], free: Floats) -> tuple[Floats, Floats]:
        """Return how many pods of each class each node should carry (node x class), and what they are worth.

        One after another those that are worth most for their share of what is still free: so pods go where their
        proportion of CPU and memory suits. Large pods count a little more than small ones, which fit in later.
        """
        admitted = np.array([mask[nodes] for mask in self._admitting], np.bool_).reshape(len(self._kinds), len(nodes))
        left, free = np.where(admitted.T, self._counts, 0.0), free.T[self._axes]
        carried, rows, liked = np.zeros_like(left), np.arange(len(nodes)), self._values**_LARGE
        with np.errstate(divide="ignore", invalid="ignore"):
            while left.size and rows.size:
                room = free[:, rows]
                most = np.fmin.reduce(room[:, :, np.newaxis] / self._needs[:, np.newaxis, :])  # 0 / 0 limits nothing
                fits = np.floor(np.minimum(most, left[rows]))
                score = (fits >= 1) * liked / ((1 / np.maximum(room, _NO_ROOM)).T @ self._needs)
                best, at = score.argmax(axis=1), np.arange(len(rows))
                more = score[at, best] > 0
                number = np.maximum(fits[at, best][more] // 2, 1)
                rows, best = rows[more], best[more]  # a node that takes no pod now takes none later
                carried[rows, best] += number
                left[rows, best] -= number
                free[:, rows] -= number * self._needs[:, best]
        return carried, carried @ self._values

    def by_class(self, row: Floats) -> dict[int, int]:
        return {self._kinds[kind]: int(row[kind]) for kind in np.flatnonzero(row)}


def _is_choosy(spec: PodClass) -> bool:
    """Whether where a pod lies may keep others like it from there."""
    return bool(spec.anti_affinity or spec.host_ports or spec.hard_spread)
