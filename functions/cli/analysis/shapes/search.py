"""Which nodes should stay, and which new ones should come: greedy starts, then exchanges that improve the best.

A step takes a few nodes away and places their pods again: first in what is free, then on new nodes, each time the kind
of node that carries most worth for its price. What is worse is undone. The dice have a fixed seed and a number of steps
limits the search, so that equal input gives equal advice.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Final

import numpy as np

from functions.cli.analysis.forecast.what_if import DoneOf, no_progress
from functions.cli.analysis.shapes.exchange import MOST_TYPES, Exchange
from functions.cli.analysis.shapes.lower_bound import Floats
from functions.cli.analysis.shapes.offers import NewGroup
from shared.core.cluster.pod import PodClass
from shared.core.placement.cluster_arrays import ClusterArrays

Carried = Callable[[], Mapping[int, int]]
"""Returns by class how many pods a node should carry."""
TRIALS: Final = 2_400
"""Exchanges tried."""
STEPS: Final = 180_000
"""Pods and nodes tried before no further exchange is."""
_SIZES: Final = (1, 2, 3, 2, 4, 2, 1, 3, 8, 2)
"""How many nodes are taken away, trial by trial."""
_OF_ONE_KIND: Final = 10
"""Of so many trials one takes nodes of one kind away, up to `_MOST_OF_ONE_KIND`."""
_MOST_OF_ONE_KIND: Final = 12
_NOISE: Final = 0.15
"""By how much the worth of a choice is blurred in a trial."""
_WORSE: Final = 0.015
"""By which share a trial may be worse than the best so far, at first."""
_PATIENCE: Final = 250
"""Trials after which the search returns to the best."""
_LARGE: Final = 1.1
"""The power of what a pod is worth, by which large pods go first."""
_NO_ROOM: Final = 1e-9
_NEXT_ZONE: Final = 0.9
"""How much less a node counts for each zone that has fewer nodes."""


@dataclass
class ShapeSearch:
    """One search on one exchange."""

    exchange: Exchange
    candidates: Sequence[int]
    """The nodes that may go."""
    worth: Floats
    """What a pod is worth, by class."""
    own_types: Mapping[str, str]
    """By pool its machine type."""
    zones: Mapping[str, Mapping[str, int]]
    """By pool and zone how many nodes there are now."""
    may_buy: bool = True
    _trials: int = 0
    _bound: dict[tuple[int, str], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Group what may be bought by pool, machine type and zone."""
        self._dice = np.random.default_rng(0)
        self._kinds: dict[str, dict[str, dict[str, NewGroup]]] = {}
        for group in self.exchange.new:
            self._kinds.setdefault(group.pool, {}).setdefault(group.machine, {})[group.zone] = group

    def seat(self, kinds: Sequence[int]) -> list[int]:
        """Give pods that wait a place, on new nodes if need be; return those that have none anywhere."""
        return self._place(self._ordered(kinds))

    def remove_alone(self) -> None:
        """Take away nodes one by one whose pods find a place on the others, if that pays."""
        exchange = self.exchange
        load = {
            node: exchange.arrays.load(node) / max(exchange.worth.price_of_one_more(node), 1)
            for node in self.candidates
        }
        for node in sorted(exchange.in_use(self.candidates), key=load.__getitem__):
            before, mark = exchange.worth.value, exchange.mark()
            if not exchange.take(node) or exchange.worth.value >= before:
                exchange.roll_back(mark)
        exchange.keep()

    def rebuild(self, nodes: Sequence[int]) -> None:
        """Take all of these away at once and place their pods again; undone where it is not better."""
        exchange = self.exchange
        exchange.keep()
        before = exchange.worth.value
        if self._exchanged(self.exchange.in_use(nodes)) or exchange.worth.value >= before:
            exchange.roll_back(0)
        exchange.keep()

    def improve(self, trials: int, steps: int, progress: DoneOf = no_progress) -> None:
        """Try exchanges, also some that are a little worse than the best so far; return to the best in the end."""
        exchange = self.exchange
        exchange.keep()
        begun, best, since = exchange.steps, exchange.worth.value, 0
        for trial in range(trials):
            if exchange.steps - begun > steps:
                break
            progress(trial, trials)
            self._trials, mark = self._trials + 1, exchange.mark()
            homeless = self._restored() if self._trials % 4 == 0 else self._exchanged(self._chosen())
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

    def _exchanged(self, nodes: Sequence[int]) -> list[int]:
        """Take nodes away and place their pods again; return those that have no place."""
        return self._place(self._ordered([kind for node in nodes for kind in self.exchange.vacate(node)]))

    def _chosen(self) -> list[int]:
        """Return some nodes to take away: of three that the dice name, the one that carries least for its price."""
        rows = [*self.exchange.in_use(self.candidates), *self.exchange.bought()]
        if not rows:
            return []
        if self._trials % _OF_ONE_KIND == 1:
            return self._of_one_kind(rows)
        count = _SIZES[self._trials % len(_SIZES)]
        named = self._dice.integers(len(rows), size=(count, 3)).tolist()
        return list(dict.fromkeys(max((rows[place] for place in three), key=self._waste) for three in named))

    def _of_one_kind(self, rows: Sequence[int]) -> list[int]:
        """Return nodes of one pool and machine type."""
        kind = self.exchange.kind_of(rows[int(self._dice.integers(len(rows)))])
        return [node for node in rows if self.exchange.kind_of(node) == kind][:_MOST_OF_ONE_KIND]

    def _waste(self, node: int) -> float:
        """Return what a node costs for all that its pods are worth."""
        kinds = (*self.exchange.own_of(node), *self.exchange.guests(node))
        return self.exchange.worth.price_of_one_more(node) / max(sum(map(self.value_of, kinds)), 1.0)

    def _restored(self) -> list[int]:
        """Put one or two nodes back that went, with all that was on them, and take new ones away for them."""
        exchange = self.exchange
        gone = [node for node in self.candidates if node in exchange and exchange.own_of(node)]
        new = exchange.bought()
        if not gone or not new:
            return []
        for place in sorted(set(self._dice.integers(len(gone), size=1 + self._trials % 2).tolist())):
            exchange.put_back(gone[place])
        return self._exchanged(sorted(new, key=lambda node: (-self._waste(node), node))[: 1 + self._trials % 3])

    def _ordered(self, kinds: Sequence[int]) -> list[int]:
        """Return classes, the most worth first, blurred in trials."""
        distinct = list(dict.fromkeys(kinds))
        blur = dict(zip(distinct, self._blurs(len(distinct)), strict=True))
        return sorted(kinds, key=lambda kind: (-self.value_of(kind) * blur[kind], kind))

    def _blurs(self, number: int) -> list[float]:
        """Return so many factors around 1; in the beginnings nothing is blurred."""
        found: list[float] = self._dice.uniform(1 - _NOISE, 1 + _NOISE, number).tolist()
        return found if self._trials else [1.0] * number

    def value_of(self, kind: int) -> float:
        """Return what a pod of the class is worth."""
        return float(self.worth[kind])

    def _place(self, kinds: Sequence[int]) -> list[int]:
        """Place pods in what is free and then on new nodes; return the classes of those that have no place."""
        left: list[int] | None = self.exchange.settle_all(kinds)
        useless: set[NewGroup] = set()
        while rest := left:
            left = self._bought_for(rest, useless) if self.may_buy else None
            if left is None:
                return rest
        return []

    def _bought_for(self, kinds: Sequence[int], useless: set[NewGroup]) -> list[int] | None:
        """Buy one node for some of these pods; return the classes of the others, or None if no node takes a pod."""
        while offers := self._by_worth(kinds, useless):
            for group, node, carried in offers:
                mark = self.exchange.mark()
                self.exchange.buy(node)
                rest = self._filled(node, kinds, carried())
                if len(rest) < len(kinds):
                    return rest
                self.exchange.roll_back(mark)
                useless.add(group)
        return None

    def _filled(self, node: int, kinds: Sequence[int], first: Mapping[int, int]) -> list[int]:
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

    def _by_worth(self, kinds: Sequence[int], useless: set[NewGroup]) -> list[tuple[NewGroup, int, Carried]]:
        """Return new nodes, those that carry most worth for their price first, with the pods that each carries."""
        offers = list(self._offers(kinds, useless))
        if not offers:
            return []
        nodes = [node for _, node, _ in offers]
        pods = Pods(self.exchange.arrays, Counter(kinds), self.worth)
        carried, values = pods.carried(nodes, self.exchange.free_of(nodes))
        prices = [max(self.exchange.worth.price_of_one_more(node), 1) for node in nodes]
        ratios = np.array([weight for _, _, weight in offers]) * values / np.array(prices, np.float64)
        order = [at for at in np.argsort(-ratios, kind="stable").tolist() if ratios[at] > 0]
        return [(*offers[at][:2], partial(pods.by_class, carried[at])) for at in order]

    def _offers(self, kinds: Sequence[int], useless: set[NewGroup]) -> Iterator[tuple[NewGroup, int, float]]:
        """Yield new nodes that may be bought, each with the weight that the dice and its zone give it.

        The zone of a pool comes first that has fewest nodes for its share. The other zones follow only if some of the
        pods may not lie in all of them.
        """
        distinct = set(kinds)
        for pool in self._kinds:
            zones = None if any(self._is_bound(kind, pool) for kind in distinct) else 1
            order, coming = self._emptiest_first(pool), self._that_may_come(pool)
            for machine, weight in zip(coming, self._blurs(len(coming)), strict=True):
                groups = self._kinds[pool][machine]
                ready = ((groups[zone], self._next(groups[zone])) for zone in order if zone in groups)
                on_offer = ((group, node) for group, node in ready if node is not None and group not in useless)
                for rank, (group, node) in enumerate(islice(on_offer, zones)):
                    yield group, node, weight * _NEXT_ZONE**rank

    def _that_may_come(self, pool: str) -> list[str]:
        """Return the machine types of which a pool may get new nodes: its own, and `MOST_TYPES` others."""
        own, bought = self.own_types[pool], self.exchange.types_bought(pool)
        is_open = len(bought - {own}) < MOST_TYPES
        return [machine for machine in self._kinds[pool] if is_open or machine == own or machine in bought]

    def _next(self, group: NewGroup) -> int | None:
        """Return a new node of the group that is not in use."""
        return next((node for node in self.exchange.new[group] if node in self.exchange), None)

    def _is_bound(self, kind: int, pool: str) -> bool:
        """Whether pods of the class may lie in some zones of the pool, and not in others."""
        if (kind, pool) not in self._bound:
            mask = self.exchange.arrays.admitting(kind)
            own = {bool(mask[nodes[0]]) for group, nodes in self.exchange.new.items() if group.pool == pool and nodes}
            self._bound[kind, pool] = len(own) > 1
        return self._bound[kind, pool]

    def _emptiest_first(self, pool: str) -> list[str]:
        """Return the pool's zones, by the number of its nodes against their share now."""
        fullness = {zone: self.exchange.worth.counts[pool, zone] / share for zone, share in self.zones[pool].items()}
        return sorted(fullness, key=lambda zone: (fullness[zone], zone))


class Pods:
    """Pods without a place, by class, as arrays: which of them empty nodes should carry."""

    def __init__(self, arrays: ClusterArrays, counts: Mapping[int, int], worth: Floats) -> None:
        """`worth` is what a pod is worth, by class."""
        self._kinds = list(counts)
        needs = arrays.requests[:, self._kinds]
        self._axes = np.flatnonzero(needs.any(axis=1))
        self._needs = needs[self._axes].astype(np.float64)
        self._values = worth[self._kinds].clip(1.0)
        most = [1 if _is_choosy(arrays.classes[kind]) else counts[kind] for kind in self._kinds]
        self._counts = np.array(most, np.float64)
        self._admitting = [arrays.admitting(kind) for kind in self._kinds]

    def carried(self, nodes: Sequence[int], free: Floats) -> tuple[Floats, Floats]:
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
        """Return by class how many pods one node should carry."""
        return {self._kinds[kind]: int(row[kind]) for kind in np.flatnonzero(row)}


def _is_choosy(spec: PodClass) -> bool:
    """Whether where a pod lies may keep others like it from there."""
    return bool(spec.anti_affinity or spec.host_ports or spec.hard_spread)
