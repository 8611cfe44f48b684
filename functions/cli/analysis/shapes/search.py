"""Which nodes should stay, and which new ones should come: greedy starts, then exchanges that improve the best.

A step takes a few nodes away and places their pods again: first in what is free, then on new nodes, each time the kind
of node that carries most worth for its price. What is worse is undone. The dice have a fixed seed and a number of steps
limits the search, so that equal input gives equal advice.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from functions.cli.analysis.shapes.exchange import Exchange
from functions.cli.analysis.shapes.offers import NewGroup
from shared.core.cluster.pod import PodClass
from shared.core.placement.cluster_arrays import ClusterArrays

TRIALS: Final = 3_000
"""Exchanges tried."""
STEPS: Final = 400_000
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
_NEXT_ZONE: Final = 0.9
"""How much less a node counts for each zone that has fewer nodes."""


@dataclass
class ShapeSearch:
    """One search on one exchange."""

    exchange: Exchange
    candidates: Sequence[int]
    """The nodes that may go."""
    worth: NDArray[np.float64]
    """What a pod is worth, by class."""
    own_types: Mapping[str, str]
    """By pool its machine type."""
    zones: Mapping[str, Mapping[str, int]]
    """By pool and zone how many nodes there are now."""
    new_allowed: bool = True
    _trials: int = 0
    _bound: dict[tuple[int, str], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Group what may be bought by pool and machine type."""
        self._dice = np.random.default_rng(0)
        self._kinds: dict[tuple[str, str], dict[str, NewGroup]] = {}
        for group in self.exchange.new:
            self._kinds.setdefault((group.pool, group.machine), {})[group.zone] = group

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

    def improve(self, trials: int, steps: int) -> None:
        """Try exchanges, also some that are a little worse than the best so far; return to the best in the end."""
        exchange = self.exchange
        exchange.keep()
        begun, best, since = exchange.steps, exchange.worth.value, 0
        for trial in range(trials):
            if exchange.steps - begun > steps:
                break
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
        blur = {kind: self._blur() for kind in dict.fromkeys(kinds)}
        return sorted(kinds, key=lambda kind: (-self.value_of(kind) * blur[kind], kind))

    def _blur(self) -> float:
        return float(self._dice.uniform(1 - _NOISE, 1 + _NOISE)) if self._trials else 1.0

    def value_of(self, kind: int) -> float:
        """Return what a pod of the class is worth."""
        return float(self.worth[kind])

    def _place(self, kinds: Sequence[int]) -> list[int]:
        """Place pods in what is free and then on new nodes; return the classes of those that have no place."""
        left = self.exchange.settle_all(kinds)
        useless: set[NewGroup] = set()
        while left and self.new_allowed:
            found = self._most_worth(left, useless)
            if found is None:
                break
            group, node, carried = found
            mark = self.exchange.mark()
            self.exchange.buy(node)
            rest = self._filled(node, left, carried)
            if len(rest) == len(left):
                self.exchange.roll_back(mark)
                useless.add(group)
            left = rest
        return left

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

    def _most_worth(
        self, kinds: Sequence[int], useless: set[NewGroup]
    ) -> tuple[NewGroup, int, Mapping[int, int]] | None:
        """Return the new node that carries most worth for its price, with the pods that it carries."""
        pods = Pods(self.exchange.arrays, Counter(kinds), self.worth)
        best, found = 0.0, None
        for groups in self._kinds.values():
            blur = self._blur()
            for group, node in self._on_offer(groups, useless, kinds):
                carried, value = pods.carried(node, np.array(self.exchange.free_on(node), np.float64))
                ratio = blur * value / max(self.exchange.worth.price_of_one_more(node), 1)
                blur *= _NEXT_ZONE
                if ratio > best:
                    best, found = ratio, (group, node, carried)
        return found

    def _on_offer(
        self, groups: Mapping[str, NewGroup], useless: set[NewGroup], kinds: Sequence[int]
    ) -> Iterator[tuple[NewGroup, int]]:
        """Yield new nodes of one pool and machine type: in the zone that has fewest nodes for its share.

        The other zones follow only if some of the pods may not lie in all of them.
        """
        for zone in sorted(groups, key=lambda zone: (self._fullness(groups[zone]), zone)):
            group = groups[zone]
            node = self._next(group)
            if node is None or group in useless or not self.exchange.may_buy(group, self.own_types[group.pool]):
                continue
            yield group, node
            if not any(self._is_bound(kind, group.pool) for kind in set(kinds)):
                return

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

    def _fullness(self, group: NewGroup) -> float:
        """Return how many nodes the pool has in a zone, against its share of them now."""
        return self.exchange.worth.counts[group.pool, group.zone] / max(self.zones[group.pool].get(group.zone, 0), 1)


class Pods:
    """Pods without a place, by class, as arrays: which of them an empty node should carry."""

    def __init__(self, arrays: ClusterArrays, counts: Mapping[int, int], worth: NDArray[np.float64]) -> None:
        """`worth` is what a pod is worth, by class."""
        self._kinds = list(counts)
        self._needs = arrays.requests[:, self._kinds].T.astype(np.float64)
        self._values = worth[self._kinds].clip(1.0)
        most = [1 if _is_choosy(arrays.classes[kind]) else counts[kind] for kind in self._kinds]
        self._counts = np.array(most, np.int64)
        self._admitting = [arrays.admitting(kind) for kind in self._kinds]

    def carried(self, node: int, free: NDArray[np.float64]) -> tuple[dict[int, int], float]:
        """Return by class how many pods the node should carry, and what they are worth.

        One after another those that are worth most for their share of what is still free: so pods go where their
        proportion of CPU and memory suits. Large pods count a little more than small ones, which fit in later.
        """
        free = free.copy()
        left = self._counts * np.fromiter((mask[node] for mask in self._admitting), np.bool_, len(self._kinds))
        carried: dict[int, int] = {}
        value = 0.0
        while len(left):
            with np.errstate(divide="ignore", invalid="ignore"):
                fits = np.minimum(np.nanmin(np.where(self._needs > 0, free // self._needs, np.inf), axis=1), left)
                share = np.where(self._needs > 0, self._needs / np.maximum(free, 1e-9), 0).sum(axis=1)
            score = np.where(fits >= 1, self._values**_LARGE / share, 0.0)
            best = int(score.argmax())
            if score[best] <= 0:
                return carried, value
            number = max(int(fits[best]) // 2, 1)
            carried[self._kinds[best]] = carried.get(self._kinds[best], 0) + number
            value += number * float(self._values[best])
            free -= number * self._needs[best]
            left[best] -= number
        return carried, value


def _is_choosy(spec: PodClass) -> bool:
    """Whether where a pod lies may keep others like it from there."""
    return bool(spec.anti_affinity or spec.host_ports or spec.hard_spread)
