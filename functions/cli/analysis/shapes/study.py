"""One cluster at one time: which nodes may go, what may come in their place, the bound, and the search."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from functions.cli.analysis.forecast.what_if import DoneOf, no_progress
from functions.cli.analysis.shapes.exchange import Exchange, Worth
from functions.cli.analysis.shapes.lower_bound import Problem, lower_bound
from functions.cli.analysis.shapes.offers import NewGroup, NewNodes, PoolOffer, offers
from functions.cli.analysis.shapes.proof import MeantPlaces, ProvedWorld, Prover, headroom
from functions.cli.analysis.shapes.search import STEPS, TRIALS, Pods, ShapeSearch
from shared.core.cluster.node import Node
from shared.core.cluster.pod import PodClass
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import PACKED
from shared.core.planning.bill import Bill
from shared.core.planning.prices import HOURS_PER_MONTH, MICRO
from shared.core.planning.selection import departing_nodes
from shared.core.reasons import Unremovable
from shared.core.rules.nodes import SAFETY_RULES, judge_node
from shared.core.rules.situation import Situation

POD_WORTH: Final = Fraction(5)
"""Dollars a month that each pod must save that moves once."""
FILL: Final = 90
"""How full nodes may be made, in percent."""
_TYPES_OF_A_SHAPE: Final = 3
_WORSE: Final = 0.7
"""A machine type whose room for a dollar is below this share of the best is not tried."""
_SPARE: Final = 1.5
"""How many times the nodes that could carry all pods of a cluster stand ready."""
_MOST_COPIES: Final = 60
_REMOVING: Final = 4
"""The part of the trials in which only nodes are removed: these are cheap."""
_ANYWAY: Final = frozenset({Unremovable.NOT_AUTOSCALED, Unremovable.POOLS_UNKNOWN})
"""What keeps a node from Ebb, but not from a person who gives its pool another machine type."""


@dataclass(frozen=True)
class ShapeRequest:
    """What a person wants of the advice, and the limits of the search."""

    families: tuple[str, ...] = ()
    pod_worth: Fraction = POD_WORTH
    fill: int = FILL
    trials: int = TRIALS
    steps: int = STEPS


@dataclass(frozen=True)
class SearchEnd:
    """What a search ended with: nodes that stay, new ones, where the pods are meant to lie that moved, and its value.

    The value is in micro-dollars an hour.
    """

    kept: frozenset[str]
    new: Mapping[NewGroup, int]
    meant: MeantPlaces
    value: int


class Study:
    """One cluster, what may go, and what may come."""

    def __init__(self, situation: Situation, bill: Bill, request: ShapeRequest) -> None:
        self._situation, self.bill, self.request = situation, bill, request
        self.snapshot = situation.snapshot
        self.offered = offers(self.snapshot, bill.prices, request.families)
        self.new_nodes = NewNodes(self.snapshot, self.offered)
        self.moving = round(request.pod_worth * MICRO / HOURS_PER_MONTH)
        self.may_go = frozenset(_may_go(situation, {each.pool for each in self.offered}))
        sample = _Sample(self)
        self.least, self._worth = sample.bound()
        self._stock = sample.stock(self._worth)
        self.prover = Prover(self.new_nodes, tuple(self._stock), request.fill)

    def moving_pods(self, node: Node) -> int:
        """Return how many pods have to move once if the node goes."""
        return len(self._situation.moving(node.name))

    def search(self, progress: DoneOf = no_progress) -> list[SearchEnd]:
        """Remove nodes, and then exchange them for others; return what each part ended with, the best first.

        It is not certain that the end can be proved.
        """
        request, searcher = self.request, self._searcher()
        searcher.may_buy = False
        searcher.remove_alone()
        searcher.improve(request.trials // _REMOVING, request.steps // _REMOVING)
        removed, searcher.may_buy = self._end_of(searcher.exchange), True
        for each in self.offered:
            searcher.rebuild([node for node in searcher.candidates if searcher.exchange.kind_of(node)[0] == each.pool])
        searcher.improve(request.trials, request.steps, progress)
        return sorted((removed, self._end_of(searcher.exchange)), key=lambda end: end.value)

    def prove(self, ends: Iterable[SearchEnd]) -> tuple[SearchEnd, ProvedWorld]:
        """Return the end that is best once it is proved: a proof may have to add nodes, so that none gets better."""
        found: list[tuple[int, SearchEnd, ProvedWorld]] = []
        for end in ends:
            if found and min(value for value, *_ in found) <= end.value:
                break
            proof = self.prover.proved(self.snapshot, end.kept, end.new, end.meant)
            gone = (node for node in self.snapshot.nodes if node.name in self.may_go - proof.kept)
            moved = sum(map(self.moving_pods, gone))
            found.append((self.bill.of_all(proof.world.nodes) + self.moving * moved, end, proof))
        return min(found, key=lambda row: row[0])[1:]

    def _searcher(self) -> ShapeSearch:
        arrays = ClusterArrays(self.new_nodes.added_to(self.snapshot, self._stock))
        start = Packing(arrays, PACKED)
        start.hold_back(headroom(arrays, self.request.fill))
        zones = {each.pool: each.zones for each in self.offered}
        worth = Worth(self.bill, arrays.nodes, self.moving, {pool: len(own) for pool, own in zones.items()})
        new = {group: self._places(arrays, group, count) for group, count in self._stock.items()}
        candidates = [arrays.index[name] for name in sorted(self.may_go)]
        own_types = {each.pool: each.machine for each in self.offered}
        values = np.array([self._worth.get(spec, 0.0) for spec in arrays.classes])
        searcher = ShapeSearch(Exchange(start, worth, new), candidates, values, own_types, zones)
        searcher.seat(_waiting(arrays))
        searcher.exchange.keep()
        return searcher

    def _places(self, arrays: ClusterArrays, group: NewGroup, count: int) -> list[int]:
        return [arrays.index[self.new_nodes.node(group, number).name] for number in range(count)]

    def _end_of(self, exchange: Exchange) -> SearchEnd:
        nodes = exchange.arrays.nodes
        names = {place: node.name for place, node in enumerate(nodes)}
        new: dict[NewGroup, int] = {}
        for group, own in exchange.new.items():
            bought = exchange.in_use(own)
            names.update({node: self.new_nodes.node(group, number).name for number, node in enumerate(bought)})
            if bought:
                new[group] = len(bought)
        old = (place for place in range(len(nodes)) if place not in exchange and not exchange.is_new(place))
        lying = exchange.lying().items()
        meant = {exchange.arrays.classes[kind]: [names[place] for place in own] for kind, own in lying}
        return SearchEnd(frozenset(map(names.__getitem__, old)), new, meant, exchange.worth.value)


def _may_go(situation: Situation, pools: set[str]) -> Iterator[str]:
    """Yield the nodes that a drain may empty, in whatever pool."""
    snapshot = situation.snapshot
    leaving = departing_nodes(snapshot, situation.state)
    for node in snapshot.nodes:
        counted = node.pool in pools and not node.outside and node.name not in leaving
        if counted and all(each.reason in _ANYWAY for each in judge_node(node, situation, SAFETY_RULES)):
            yield node.name


def _waiting(arrays: ClusterArrays) -> list[int]:
    """Return the classes of pods that wait for a place and may be given one, and of the chunks of buffers."""
    pods = [arrays.kind_of[pod.spec] for pod in arrays.pending if not pod.node and not pod.spec.stays]
    chunks = [arrays.kind_of[chunk.spec] for chunk, number in arrays.chunks for _ in range(number)]
    return [kind for kind in (*pods, *chunks) if not arrays.fixed(kind)]


class _Sample:
    """The cluster with one new node of each pool, machine type and zone: what the bound is computed of."""

    def __init__(self, study: Study) -> None:
        self._study, self._bill = study, study.bill
        new_nodes = study.new_nodes
        groups = [
            group
            for offer in study.offered
            for kind in offer.types
            for group in new_nodes.groups(offer.pool, kind.name)
        ]
        self._arrays = arrays = ClusterArrays(new_nodes.added_to(study.snapshot, dict.fromkeys(groups, 1)))
        self._new = {group: arrays.index[new_nodes.node(group, 0).name] for group in groups}
        new = set(self._new.values())
        self._old = [place for place, node in enumerate(arrays.nodes) if not node.outside and place not in new]
        self._own = np.zeros((len(self._old), len(arrays.classes)))
        for row, place in enumerate(self._old):
            if arrays.nodes[place].name in study.may_go:
                np.add.at(self._own[row], [arrays.kind_of[pod.spec] for pod in arrays.movable(place)], 1)
        self._demand = self._own.sum(axis=0)
        room = np.where(arrays.destinations, arrays.free - headroom(arrays, study.request.fill), 0)
        self._free = room.clip(0).T.astype(np.float64)
        np.add.at(self._demand, [kind for kind in _waiting(arrays) if self._has_room(kind)], 1)

    def _has_room(self, kind: int) -> bool:
        """Whether a node there or one on offer could take a pod of the class; what fits nowhere costs nothing."""
        fits = (self._arrays.requests[:, kind] <= self._free).all(axis=1)
        return bool((fits & self._arrays.admitting(kind)).any())

    def bound(self) -> tuple[int, dict[PodClass, float]]:
        """Return what nothing can do better than, over all machine types on offer, and what a pod is worth by class."""
        bill, nodes = self._bill, self._arrays.nodes
        prices = [bill.prices.of(node).per_hour for node in nodes]
        cost, worth = self._least(prices)
        if not bill.is_list:
            weights = [1.0] * (len(bill.amounts(nodes[0])) - 1)
            covered = ceil(bill.weighed(weights).covered) if weights else 0
            free = [0 if bill.covered(bill.amounts(node)) else price for node, price in zip(nodes, prices, strict=True)]
            cost = max(cost - covered, self._least(free)[0]) + bill.fees
        return cost, dict(zip(self._arrays.classes, worth.tolist(), strict=True))

    def stock(self, worth: Mapping[PodClass, float]) -> dict[NewGroup, int]:
        """Return how many new nodes of each group the search may use: the types that the bound likes best, in order."""
        carried = self._carried(np.array([worth[spec] for spec in self._arrays.classes]))
        ratio = {group: each / max(self._price(self._new[group]), 1) for group, each in carried.items()}
        needed = _SPARE * float(self._demand @ [worth[spec] for spec in self._arrays.classes])
        liked = [group for offer in self._study.offered for group in self._liked(offer, ratio)]
        zones = {offer.pool: len(offer.zones) for offer in self._study.offered}
        return {
            group: min(ceil(needed / carried[group] / zones[group.pool]) + 1, _MOST_COPIES)
            for group in sorted(liked, key=lambda each: -ratio[each])
            if carried[group] > 0
        }

    def _carried(self, worth: NDArray[np.float64]) -> dict[NewGroup, float]:
        """Return by group what the pods are worth at most that fill one of its nodes, as far as there are any."""
        pods = Pods(self._arrays, {kind: int(count) for kind, count in enumerate(self._demand) if count}, worth)
        places = list(self._new.values())
        return dict(zip(self._new, pods.carried(places, self._free[places])[1], strict=True))

    def _liked(self, offer: PoolOffer, ratio: Mapping[NewGroup, float]) -> Iterator[NewGroup]:
        """Yield the groups of the pool's own type and of the best few of each shape."""
        best: dict[str, float] = {}
        for group, each in ratio.items():
            if group.pool == offer.pool:
                best[group.machine] = max(best.get(group.machine, 0.0), each)
        shapes: dict[str, int] = {}
        for kind in sorted(offer.types, key=lambda kind: (-best[kind.name], kind.name)):
            shapes[kind.shape] = shapes.get(kind.shape, 0) + 1
            good = best[kind.name] >= _WORSE * max(best.values()) and shapes[kind.shape] <= _TYPES_OF_A_SHAPE
            if good or kind.name == offer.machine:
                yield from (group for group in ratio if (group.pool, group.machine) == (offer.pool, kind.name))

    def _least(self, costs: Sequence[int]) -> tuple[int, NDArray[np.float64]]:
        """Return the bound at these costs of nodes, and what a pod of each class is worth."""
        arrays, study, new = self._arrays, self._study, list(self._new.values())
        rows = [arrays.admitting(kind) for kind in range(len(arrays.classes))]
        admitting = np.array(rows, np.bool_).reshape(len(rows), len(arrays.nodes))
        moving = study.moving * self._own.sum(axis=1)
        kept, stay = [], 0
        for row, place in enumerate(self._old):
            goes = arrays.nodes[place].name in study.may_go
            kept.append(costs[place] - moving[row] if goes else -np.inf)
            stay += 0 if goes else costs[place]
        found = lower_bound(Problem(
            requests=arrays.requests.T.astype(np.float64), pods=self._demand,
            costs=np.array([costs[place] for place in new], np.float64), room=self._free[new],
            admitted=admitting[:, new], own=self._own, kept=np.array(kept), free=self._free[self._old],
            admitted_there=admitting[:, self._old],
        ))  # fmt: skip
        return max(int(found.cost + moving.sum()), 0) + stay, found.worth

    def _price(self, place: int) -> int:
        return self._bill.prices.of(self._arrays.nodes[place]).per_hour
