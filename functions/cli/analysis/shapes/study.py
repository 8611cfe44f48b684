"""One cluster at one time: which nodes may go, which may come, the search, and the proof of what it ends with.

A proof is the proposed world with every pod: made from the start, without the nodes that go, and placed by the
simulation. Where a pod finds no place, a node is added that takes it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Final

import numpy as np
from msgspec import structs

from functions.cli.analysis.forecast.what_if import DoneOf, no_progress
from functions.cli.analysis.shapes.offers import NewGroup, NewNodes, offers
from functions.cli.analysis.shapes.search import TRIALS, Exchange, Floats, Pods, ShapeSearch, Worth
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import Amounts, ClusterArrays
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import GuidedPacking, Packing
from shared.core.placement.simulation import headroom_of
from shared.core.placement.strategies import PACKED
from shared.core.planning.bill import Bill
from shared.core.planning.prices import HOURS_PER_MONTH
from shared.core.planning.selection import departing_nodes
from shared.core.reasons import Unremovable
from shared.core.records.state import MICRO
from shared.core.rules.nodes import SAFETY_RULES, judge_node
from shared.core.rules.situation import Situation
from shared.core.rules.unmodelled import could_take

POD_WORTH: Final = Fraction(5)  # Dollars a month that each pod must save that moves once.
FILL: Final = 90  # How full nodes may be made, in percent.
_TYPES_OF_A_SHAPE: Final = 3
_WORSE: Final = 0.7  # A machine type whose room for a dollar is below this share of the best is not tried.
_SPARE: Final = 1.5  # How many times the nodes that could carry all pods of a cluster stand ready.
_MOST_COPIES: Final = 60
_ROUNDS: Final = 100  # Nodes added before those that are left count as pods that fit nowhere.
_ANYWAY: Final = frozenset({Unremovable.NOT_AUTOSCALED, Unremovable.POOLS_UNKNOWN})
"""What keeps a node from Ebb, but not from a person who gives its pool another machine type."""


@dataclass(frozen=True)
class ShapeRequest:
    """What a person wants of the advice, and how long the search goes on."""

    families: tuple[str, ...] = ()
    pod_worth: Fraction = POD_WORTH
    fill: int = FILL
    trials: int = TRIALS


@dataclass(frozen=True)
class SearchEnd:
    """What a search ended with: nodes that stay, new ones, where the pods are meant to lie that moved, and its value.

    The value is in micro-dollars an hour.
    """

    kept: frozenset[str]
    new: Mapping[NewGroup, int]
    meant: Mapping[PodClass, Sequence[str]]
    value: int


@dataclass(frozen=True)
class ProvedWorld:
    """A world in which all pods but the homeless have their place; `places` are those of the pods without a node."""

    world: Snapshot
    kept: frozenset[str]
    new: Mapping[NewGroup, int]
    places: Mapping[str, str]
    homeless: tuple[Pod, ...] = ()


class Study:
    def __init__(self, situation: Situation, bill: Bill, request: ShapeRequest) -> None:
        self._situation, self.bill, self.request = situation, bill, request
        self.snapshot = situation.snapshot
        self.offered = offers(self.snapshot, bill.prices, request.families)
        self.new_nodes = NewNodes(self.snapshot, self.offered)
        self.moving = round(request.pod_worth * MICRO / HOURS_PER_MONTH)
        self.may_go = frozenset(_may_go(situation, {offer.pool for offer in self.offered}))
        self._stock = self._ready_nodes()

    def moving_pods(self, node: Node) -> int:
        return len(self._situation.moving(node.name))

    def search(self, progress: DoneOf = no_progress) -> list[SearchEnd]:
        """Remove nodes, then exchange them for others; return what each part ended with, the best first.

        It is not certain that the end can be proved.
        """
        searcher = self._searcher()
        searcher.remove_alone()
        removed = self._end_of(searcher.exchange)
        for offer in self.offered:
            searcher.rebuild(offer.pool)
        searcher.improve(self.request.trials, progress)
        return sorted((removed, self._end_of(searcher.exchange)), key=lambda end: end.value)

    def prove(self, ends: Iterable[SearchEnd]) -> ProvedWorld:
        """Return the world that is best once it is proved: a proof may have to add nodes, so that none gets better."""
        found: list[tuple[int, ProvedWorld]] = []
        for end in ends:
            if found and min(value for value, _ in found) <= end.value:
                break
            proof = self._prove_end(end)
            gone = (node for node in self.snapshot.nodes if node.name in self.may_go - proof.kept)
            moved = sum(map(self.moving_pods, gone))
            found.append((self.bill.cost_of(proof.world.nodes) + self.moving * moved, proof))
        return min(found, key=lambda row: row[0])[1]

    def _searcher(self) -> ShapeSearch:
        arrays = ClusterArrays(self.new_nodes.added_to(self.snapshot, self._stock))
        start = Packing(arrays, PACKED)
        start.hold_back(headroom(arrays, self.request.fill))
        worth = Worth(self.bill, arrays.nodes, self.moving, self.offered)
        new = {
            group: [arrays.index[self.new_nodes.node(group, number).name] for number in range(count)]
            for group, count in self._stock.items()
        }
        candidates = [arrays.index[name] for name in sorted(self.may_go)]
        values = self._worth(arrays, [place for places in new.values() for place in places[:1]])
        searcher = ShapeSearch(Exchange(start, worth, new), candidates, values, self.offered)
        searcher.seat(waiting_kinds(arrays))
        return searcher

    def _end_of(self, exchange: Exchange) -> SearchEnd:
        nodes = exchange.arrays.nodes
        names = {place: node.name for place, node in enumerate(nodes)}
        kept, new = set(exchange.in_use(range(len(nodes)))), dict[NewGroup, int]()
        for group, own in exchange.new.items():
            if bought := exchange.in_use(own):
                new[group] = len(bought)
                names.update({node: self.new_nodes.node(group, number).name for number, node in enumerate(bought)})
                kept.difference_update(bought)
        lying = exchange.lying().items()
        meant = {exchange.arrays.classes[kind]: [names[place] for place in own] for kind, own in lying}
        return SearchEnd(frozenset(nodes[place].name for place in kept), new, meant, exchange.worth.value)

    # the proof

    def _prove_end(self, end: SearchEnd) -> ProvedWorld:
        """Return the world that a search ended with, and with those nodes added that pods need besides."""
        useless: set[NewGroup] = set()
        found = self._world(end, end.new)
        for _ in range(_ROUNDS):
            group = self._best_choice(found.homeless, useless)
            if group is None:
                break
            more = self._world(end, Counter(found.new) + Counter([group]))
            if len(more.homeless) < len(found.homeless):
                found = more
            else:
                useless.add(group)
        return found

    def _best_choice(self, homeless: Sequence[Pod], useless: Collection[NewGroup]) -> NewGroup | None:
        for pod in homeless:
            for group in self._stock:
                if group not in useless and could_take(self.new_nodes.node(group, 0), pod):
                    return group
        return None

    def _world(self, end: SearchEnd, new: Mapping[NewGroup, int]) -> ProvedWorld:
        world = self.new_nodes.added_to(_without_others(self.snapshot, end.kept), new)
        arrays = ClusterArrays(world)
        start = Packing(arrays, PACKED)
        start.hold_back(headroom(arrays, self.request.fill))
        waiting = [pod for pod in arrays.pending if not pod.node and not pod.spec.stays]
        places = {
            arrays.kind_of[spec]: [arrays.index[name] for name in nodes if name in arrays.index]
            for spec, nodes in end.meant.items()
            if spec in arrays.kind_of
        }
        packing = GuidedPacking(start, places)
        packing.reserve(PACKED.order(arrays, [arrays.kind_of[pod.spec] for pod in waiting]), OUTSIDE)
        named = _places_by_pod(waiting, packing)
        pods = tuple(structs.replace(pod, node=named[pod.key]) if pod.key in named else pod for pod in world.pods)
        homeless = tuple(pod for pod in waiting if pod.key not in named)
        return ProvedWorld(replace(world, pods=pods), end.kept, dict(new), named, homeless)

    # what may come

    def _ready_nodes(self) -> dict[NewGroup, int]:
        """Return how many new nodes of each group the search may buy, those first that carry most for their price."""
        types = ((offer.pool, kind.name) for offer in self.offered for kind in offer.types)
        every = [group for pool, machine in types for group in self.new_nodes.groups(pool, machine)]
        arrays = ClusterArrays(self.new_nodes.added_to(self.snapshot, dict.fromkeys(every, 1)))
        places = [arrays.index[self.new_nodes.node(group, 0).name] for group in every]
        worth, demand = self._worth(arrays, places), self._demand(arrays)
        pods = Pods(arrays, {kind: int(count) for kind, count in enumerate(demand) if count}, worth)
        carried = dict(zip(every, pods.carry_pods(places, self._room(arrays)[places])[1].tolist(), strict=True))
        zones = {offer.pool: len(offer.zones) for offer in self.offered}
        ratio = {group: carried[group] / self._price(group) for group in every if carried[group]}
        return {
            group: min(ceil(_SPARE * float(demand @ worth) / carried[group] / zones[group.pool]) + 1, _MOST_COPIES)
            for group in self._best_groups(ratio)
        }

    def _best_groups(self, ratio: Mapping[NewGroup, float]) -> Iterator[NewGroup]:
        """Yield the groups of each pool's own type and of the best few of each shape, the best first."""
        shapes: dict[tuple[str, str], list[str]] = {}
        best = {offer.pool: max((ratio[group] for group in ratio if group.pool == offer.pool), default=0)
                for offer in self.offered}  # fmt: skip
        own = {offer.pool: offer.machine for offer in self.offered}
        for group in sorted(ratio, key=lambda group: -ratio[group]):
            tried = shapes.setdefault((group.pool, group.machine.rpartition("-")[0]), [])
            if group.machine not in tried and ratio[group] >= _WORSE * best[group.pool]:
                tried.append(group.machine)
            if group.machine in {own[group.pool], *tried[:_TYPES_OF_A_SHAPE]}:
                yield group

    def _price(self, group: NewGroup) -> int:
        return max(self.bill.prices.of(self.new_nodes.node(group, 0)).per_hour, 1)

    def _room(self, arrays: ClusterArrays) -> Floats:
        """Return by node and axis what pods that move may fill."""
        room = np.where(arrays.destinations, arrays.free - headroom(arrays, self.request.fill), 0)
        return room.clip(0).T.astype(np.float64)

    def _demand(self, arrays: ClusterArrays) -> Floats:
        """Return by class how many pods need a place if all nodes go that may."""
        moving = (arrays.kind_of[pod.spec] for name in self.may_go for pod in arrays.movable(arrays.index[name]))
        return np.bincount([*moving, *waiting_kinds(arrays)], minlength=len(arrays.classes)).astype(np.float64)

    def _worth(self, arrays: ClusterArrays, new: list[int]) -> Floats:
        """Return by class what the share costs that a pod takes of the new node that suits it best; 0 if none does."""
        if not new:
            return np.zeros(len(arrays.classes))
        prices = np.array([self.bill.prices.of(arrays.nodes[place]).per_hour for place in new])
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.fmax.reduce(arrays.requests[:, :, np.newaxis] / self._room(arrays)[new].T[:, np.newaxis, :])
        admitting = np.array([arrays.admitting(kind)[new] for kind in range(len(arrays.classes))], np.bool_)
        costs = np.where(admitting.reshape(shares.shape) & (shares <= 1), shares * prices, np.inf).min(axis=1)
        return np.where(np.isfinite(costs), costs, 0.0)


def _may_go(situation: Situation, pools: set[str]) -> Iterator[str]:
    """Yield the nodes that a drain may empty, in whatever pool."""
    snapshot = situation.snapshot
    leaving = departing_nodes(snapshot, situation.state)
    for node in snapshot.nodes:
        counted = node.pool in pools and not node.outside and node.name not in leaving
        if counted and all(blocker.reason in _ANYWAY for blocker in judge_node(node, situation, SAFETY_RULES)):
            yield node.name


def waiting_kinds(arrays: ClusterArrays) -> list[int]:
    """Return the classes of pods that wait for a place and may be given one, and of the chunks of buffers."""
    pods = [arrays.kind_of[pod.spec] for pod in arrays.pending if not pod.node and not pod.spec.stays]
    chunks = [arrays.kind_of[chunk.spec] for chunk, number in arrays.chunks for _ in range(number)]
    return [kind for kind in (*pods, *chunks) if not arrays.lasting_findings(kind)]


def headroom(arrays: ClusterArrays, fill: int) -> Amounts:
    """Return what pods that move must leave free, by axis and node, to fill no node beyond so many percent."""
    return headroom_of(arrays, dict.fromkeys((node.pool for node in arrays.nodes), 100 - fill))


def _without_others(seen: Snapshot, kept: Collection[str]) -> Snapshot:
    """Return the snapshot with these of its nodes alone; what the others leave behind has no node."""
    arrays = ClusterArrays(seen)
    gone = [place for place, node in enumerate(seen.nodes) if node.name not in kept]
    movers = {pod.key for place in gone for pod in arrays.movable(place)}
    pods = [
        structs.replace(pod, node="", booked=None) if pod.key in movers else pod
        for pod in seen.pods
        if pod.key in movers or not pod.node or pod.node in kept
    ]
    return replace(seen, nodes=tuple(node for node in seen.nodes if node.name in kept), pods=tuple(pods))


def _places_by_pod(pods: Sequence[Pod], packing: Packing) -> dict[str, str]:
    """Return by pod key the node that it was given; pods of one class are alike."""
    waiting: dict[int, list[Pod]] = defaultdict(list)
    for pod in pods:
        waiting[packing.arrays.kind_of[pod.spec]].append(pod)
    return {
        waiting[placement.kind].pop(0).key: packing.arrays.nodes[placement.target].name for placement in packing.log
    }
