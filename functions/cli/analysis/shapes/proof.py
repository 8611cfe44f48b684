"""The proposed world with every pod: made from the start, without the nodes that go, and placed by the simulation.

Where a pod finds no place, a node is added that takes it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from msgspec import structs

from functions.cli.analysis.shapes.offers import NewGroup, NewNodes
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.bounds import Amounts
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import GuidedPacking, Packing
from shared.core.placement.simulation import headroom_of
from shared.core.placement.strategies import PACKED
from shared.core.rules.unmodelled import could_take

_ROUNDS: Final = 100  # Nodes added before those that are left count as pods that fit nowhere.
MeantPlaces = Mapping[PodClass, Sequence[str]]


@dataclass(frozen=True)
class ProvedWorld:
    """A world in which all pods but the homeless have their place; `places` are those of the pods without a node."""

    world: Snapshot
    kept: frozenset[str]
    new: Mapping[NewGroup, int]
    places: Mapping[str, str]
    homeless: tuple[Pod, ...] = ()


@dataclass(frozen=True)
class Prover:
    """Makes worlds of one cluster; `choices` are what may be added, the best first."""

    new_nodes: NewNodes
    choices: Sequence[NewGroup]
    fill: int

    def prove_world(self, kept: Collection[str], new: Mapping[NewGroup, int], meant: MeantPlaces) -> ProvedWorld:
        """Return the world with these nodes, and with those added that pods need besides."""
        counts = Counter(new)
        useless: set[NewGroup] = set()
        found = self._world(kept, counts, meant)
        for _ in range(_ROUNDS):
            group = self._best_choice(found.homeless, useless)
            if group is None:
                break
            more = self._world(kept, counts + Counter([group]), meant)
            if len(more.homeless) < len(found.homeless):
                found, counts = more, counts + Counter([group])
            else:
                useless.add(group)
        return found

    def _best_choice(self, homeless: Sequence[Pod], useless: Collection[NewGroup]) -> NewGroup | None:
        """Return the best choice that takes one of the pods when it is empty."""
        for pod in homeless:
            for group in self.choices:
                if group not in useless and could_take(self.new_nodes.node(group, 0), pod):
                    return group
        return None

    def _world(self, kept: Collection[str], new: Mapping[NewGroup, int], meant: MeantPlaces) -> ProvedWorld:
        world = self.new_nodes.added_to(_without_others(self.new_nodes.snapshot, kept), new)
        arrays = ClusterArrays(world)
        start = Packing(arrays, PACKED)
        start.hold_back(headroom(arrays, self.fill))
        waiting = [pod for pod in arrays.pending if not pod.node and not pod.spec.stays]
        places = {
            arrays.kind_of[spec]: [arrays.index[name] for name in nodes if name in arrays.index]
            for spec, nodes in meant.items()
            if spec in arrays.kind_of
        }
        packing = GuidedPacking(start, places)
        packing.reserve(PACKED.order(arrays, [arrays.kind_of[pod.spec] for pod in waiting]), OUTSIDE)
        named = _places_by_pod(waiting, packing)
        pods = tuple(structs.replace(pod, node=named[pod.key]) if pod.key in named else pod for pod in world.pods)
        homeless = tuple(pod for pod in waiting if pod.key not in named)
        return ProvedWorld(replace(world, pods=pods), frozenset(kept), dict(new), named, homeless)


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
