"""Puts each pod of a generated cluster on a random node that keeps its rules, or leaves it out; no planner's code."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from tests.bench.clusters.workloads import HOSTNAME, BenchWorkload

_TRIES: Final = 40
_MOST_PODS: Final = 100
_MOST_DISKS: Final = 12
"""Below what the CSI driver attaches to one machine."""


@dataclass(frozen=True)
class BenchNode:
    """One node; `cpu` (millicores) and `memory` (MiB) are what is left of it for other than DaemonSet pods."""

    name: str
    pool: str
    machine: str
    zone: str
    cpu: int
    memory: int


@dataclass
class PlacedWorkload:
    hosts: Counter[int] = field(default_factory=Counter)
    zones: Counter[str] = field(default_factory=Counter)


class Placer:
    """Gives pods their nodes. `fill` is the mean share that is used; each node has a mark of its own around it."""

    def __init__(self, nodes: Sequence[BenchNode], fill: float, seed: int) -> None:
        self._nodes = nodes
        self._roll = Random(seed)  # noqa: S311 - a world that is the same every time
        self._zones = sorted({node.zone for node in nodes})
        marks = [min(0.97, fill * self._roll.uniform(0.7, 1.5)) for _ in nodes]
        self._cpu = [round(node.cpu * mark) for node, mark in zip(nodes, marks, strict=True)]
        self._memory = [round(node.memory * mark) for node, mark in zip(nodes, marks, strict=True)]
        self._free = [(node.cpu - cpu, node.memory - memory)
                      for node, cpu, memory in zip(nodes, self._cpu, self._memory, strict=True)]  # fmt: skip
        self._by_size = [place for place, node in enumerate(nodes) for _ in range(max(1, node.cpu // 2000))]
        self._pods = Counter[int]()
        self._disks = Counter[int]()
        self._ports: dict[int, set[int]] = defaultdict(set)
        self._groups: dict[str, set[int]] = defaultdict(set)
        self._placed: dict[str, PlacedWorkload] = {}

    def place(self, workloads: Iterable[BenchWorkload]) -> Mapping[str, tuple[int, ...]]:
        return {workload.name: tuple(self._place_all(workload)) for workload in workloads}

    def _place_all(self, workload: BenchWorkload) -> Iterable[int]:
        self._placed[workload.name] = PlacedWorkload()
        for _ in range(workload.replicas):
            found = self._find(workload)
            if found is None:
                return
            self._put(workload, found)
            yield found

    def _find(self, workload: BenchWorkload) -> int | None:
        if workload.near is not None and workload.near.key == HOSTNAME:
            options = list(self._placed[workload.near.workload].hosts)
        else:
            options = self._roll.choices(self._by_size, k=_TRIES)
        found = next((place for place in options if self._takes(workload, place, over=0.0)), None)
        if found is None:
            start = self._roll.randrange(len(self._nodes))
            every = (*range(start, len(self._nodes)), *range(start))
            found = next((place for place in every if self._takes(workload, place, over=0.9)), None)
        return found

    def _takes(self, workload: BenchWorkload, place: int, over: float) -> bool:
        """`over`: which share of the room above a node's mark may be used."""
        cpu, memory = self._free[place]
        fits = workload.cpu <= self._cpu[place] + over * cpu and workload.memory <= self._memory[place] + over * memory
        if not fits or self._pods[place] >= _MOST_PODS:
            return False
        return not workload.constrained or (self._apart(workload, place) and self._spread(workload, place))

    def _apart(self, workload: BenchWorkload, place: int) -> bool:
        if workload.port and place in self._ports[workload.port]:
            return False
        if workload.disk and self._disks[place] >= _MOST_DISKS:
            return False
        return not workload.apart or place not in self._groups[workload.apart]

    def _spread(self, workload: BenchWorkload, place: int) -> bool:
        mine, zone = self._placed[workload.name], self._nodes[place].zone
        if workload.zone_skew:
            least = min(mine.zones[zone] for zone in self._zones)
            if mine.zones[zone] + 1 - least > workload.zone_skew:
                return False
        if workload.host_skew:
            least = min(mine.hosts.values()) if len(mine.hosts) == len(self._nodes) else 0
            if mine.hosts[place] + 1 - least > workload.host_skew:
                return False
        if workload.near is None:
            return True
        other = self._placed[workload.near.workload]
        return bool(other.hosts[place] if workload.near.key == HOSTNAME else other.zones[zone])

    def _put(self, workload: BenchWorkload, place: int) -> None:
        mine = self._placed[workload.name]
        mine.hosts[place] += 1
        mine.zones[self._nodes[place].zone] += 1
        self._cpu[place] -= workload.cpu
        self._memory[place] -= workload.memory
        self._pods[place] += 1
        self._disks[place] += workload.disk
        if workload.port:
            self._ports[workload.port].add(place)
        if workload.apart:
            self._groups[workload.apart].add(place)
