"""A cluster shrunk pass by pass: plan, take a tenth, let a scheduler that knows no plan place what was evicted; again.

A pod that fits nowhere then is what the proof of placement is to prevent; its node is given back and tried no more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from random import Random
from typing import Final

from shared.adapters.prices import load
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, Simulation, search
from tests.bench.clusters.api import snapshot
from tests.bench.clusters.generated import BenchCluster
from tests.bench.headroom.scheduling import BenchScheduler, Eviction, Profile, fill

_SHARE: Final = 0.1
"""Of the nodes that go in one pass, as the default budget has it."""
_MOST_PASSES: Final = 60


@dataclass(frozen=True)
class Proof:
    """How a plan is proved: by one packing or all strategies, and the percentage of each node that is held back."""

    robust: bool
    headroom: int

    def __str__(self) -> str:
        return f"{'all strategies' if self.robust else 'one packing'}, headroom {self.headroom} %"


@dataclass(frozen=True)
class Pass:
    """One pass, replayed in several orders under both profiles. `fill` is that of the nodes that stay, in the end."""

    fill: float
    evictions: int
    orders: int
    stranding: int
    """Orders that left a pod Pending."""


@dataclass(frozen=True)
class Shrunk:
    """All passes, and what is left at rest."""

    passes: Sequence[Pass]
    nodes: int
    cost: int
    """In micro-dollars per hour."""


def shrink(cluster: BenchCluster, proof: Proof, profile: Profile, seed: int, orders: int) -> Shrunk:
    """Let passes follow each other until no node goes; the world goes on as the first order has it."""
    passes: list[Pass] = []
    returned: set[str] = set()
    while len(passes) < _MOST_PASSES and (drained := chosen(cluster, proof, returned)):
        seeds = range(seed, seed + orders)
        tried = [replayed(cluster, drained, profile, order) for order in seeds for profile in Profile]
        stranding = sum(any(eviction.target is None for eviction in evictions) for _, evictions in tried)
        cluster, evictions = replayed(cluster, drained, profile, seed)
        returned |= {cluster.nodes[eviction.source].name for eviction in evictions if eviction.target is None}
        cluster = without(cluster, drained, evictions)
        passes.append(Pass(fill(cluster), len(evictions), len(tried), stranding))
    cost = sum(load().of(node).per_hour for node in snapshot(cluster).nodes)
    return Shrunk(passes, len(cluster.nodes), cost)


def chosen(cluster: BenchCluster, proof: Proof, returned: set[str]) -> list[int]:
    """Return which nodes the next pass takes: of those that could all go, the first that its proof lets go."""
    picture = snapshot(cluster)
    rows = [Candidate(node.name, load().of(node).per_hour) for node in picture.nodes if node.name not in returned]
    headroom = dict.fromkeys(picture.nodes_by_pool, proof.headroom)
    taken = at_rest(picture, rows, headroom, robust=proof.robust)[: ceil(_SHARE * len(picture.nodes))]
    place = {node.name: number for number, node in enumerate(cluster.nodes)}
    return [place[name] for name in taken]


def at_rest(
    picture: Snapshot, candidates: Sequence[Candidate], headroom: Mapping[str, int], *, robust: bool
) -> tuple[str, ...]:
    """Return what goes in the end: the search's choice, and of it what the proof under all strategies lets go."""
    found = search(Simulation.of(picture, headroom=headroom, robust=False), candidates).nodes
    if not robust:
        return found
    simulation = Simulation.of(picture, headroom=headroom)
    arrays = simulation.arrays
    others = [candidate.name for candidate in candidates if candidate.name not in found]
    for name in (*found, *sorted(others, key=lambda name: arrays.load(arrays.index[name]))):
        simulation.try_remove(name)
    return simulation.taken


def replayed(
    cluster: BenchCluster, drained: Sequence[int], profile: Profile, seed: int
) -> tuple[BenchCluster, list[Eviction]]:
    """Drain the nodes; return the cluster with its pods where they went, and what was evicted."""
    scheduler = BenchScheduler(cluster, profile, Random(seed))  # noqa: S311 - an order of evictions, not a secret
    evictions = scheduler.evict_all(drained)
    return replace(cluster, places=scheduler.places), evictions


def without(cluster: BenchCluster, drained: Sequence[int], evictions: Sequence[Eviction]) -> BenchCluster:
    """Return the cluster without the drained nodes, but for those to which a pod had to go back."""
    gone = set(drained) - {eviction.source for eviction in evictions if eviction.target is None}
    left = [place for place in range(len(cluster.nodes)) if place not in gone]
    anew = {place: number for number, place in enumerate(left)}
    places = {name: tuple(anew[place] for place in places) for name, places in cluster.places.items()}
    return replace(cluster, nodes=[cluster.nodes[place] for place in left], places=places)
