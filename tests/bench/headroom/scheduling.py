"""A scheduler over a generated cluster: the filters that its rules ask for, and the scores of both GKE profiles.

Plain counts by workload, host and zone, nothing of the planner's; `tests/real/test_bench_scheduler.py` holds it against
the filters of the real kube-scheduler. Domains of cordoned nodes count, as nodeTaintsPolicy Ignore has it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import Enum
from random import Random
from typing import Final

from tests.bench.clusters.generated import BenchCluster
from tests.bench.clusters.placing import BenchNode
from tests.bench.clusters.workloads import HOSTNAME, BenchWorkload

_MOST_PODS: Final = 110
_MOST_DISKS: Final = 15


class Profile(Enum):
    """How nodes are scored: by what the default scheduler prefers, or GKE's optimize-utilization profile."""

    LEAST_ALLOCATED = -1
    MOST_ALLOCATED = 1


@dataclass(frozen=True)
class Eviction:
    """One pod that was evicted, and where its replacement went; None = it is Pending."""

    workload: str
    replica: int
    source: int
    target: int | None
    fitting: frozenset[int] = frozenset()
    """The nodes that no filter refused."""


@dataclass
class _Held:
    cpu: int = 0
    memory: int = 0
    pods: int = 1
    """The DaemonSet's."""
    disks: int = 0
    ports: Counter[int] = field(default_factory=Counter)
    groups: Counter[str] = field(default_factory=Counter)


class BenchScheduler:
    """The pods of a cluster, by place of their nodes; `cordoned` nodes take none."""

    def __init__(self, cluster: BenchCluster, profile: Profile, roll: Random) -> None:
        self.nodes = cluster.nodes
        self.cordoned: set[int] = set()
        self._profile, self._roll = profile, roll
        self._zones = {node.zone for node in cluster.nodes}
        self._workloads = {workload.name: workload for workload in cluster.workloads}
        self._held = [_Held() for _ in cluster.nodes]
        self._hosts: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self._by_zone: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.places = {name: list(places) for name, places in cluster.places.items()}
        for name, places in self.places.items():
            for place in places:
                self._count(self._workloads[name], place, 1)

    def evict_all(self, drained: Collection[int]) -> list[Eviction]:
        """Empty these nodes, one pod after another in an order drawn at random; a pod that fits nowhere goes back."""
        self.cordoned |= set(drained)
        leaving = [(name, replica) for name, places in self.places.items()
                   for replica, place in enumerate(places) if place in drained]  # fmt: skip
        self._roll.shuffle(leaving)
        return [self._move(name, replica) for name, replica in leaving]

    def fitting(self, workload: BenchWorkload, zone: str) -> list[int]:
        """Return the nodes that no filter refuses a pod of the workload, whose disk, if any, is in the zone."""
        if workload.near is not None and workload.near.key == HOSTNAME:
            options: Iterable[int] = sorted(self._hosts[workload.near.workload])
        else:
            options = range(len(self.nodes))
        return [place for place in options if place not in self.cordoned and self._takes(workload, place, zone)]

    def _move(self, name: str, replica: int) -> Eviction:
        workload, source = self._workloads[name], self.places[name][replica]
        self._count(workload, source, -1)
        fitting = self.fitting(workload, self.nodes[source].zone)
        target = max(fitting, key=lambda place: self._score(workload, place)) if fitting else None
        self.places[name][replica] = source if target is None else target
        self._count(workload, self.places[name][replica], 1)
        return Eviction(name, replica, source, target, frozenset(fitting))

    def _score(self, workload: BenchWorkload, place: int) -> tuple[float, float]:
        held, node = self._held[place], self.nodes[place]
        shares = (held.cpu + workload.cpu) / node.cpu + (held.memory + workload.memory) / node.memory
        return self._profile.value * shares, self._roll.random()

    def _takes(self, workload: BenchWorkload, place: int, zone: str) -> bool:
        held, node = self._held[place], self.nodes[place]
        if held.cpu + workload.cpu > node.cpu or held.memory + workload.memory > node.memory:
            return False
        if held.pods + 1 > _MOST_PODS or (workload.port and held.ports[workload.port]):
            return False
        if workload.disk and (node.zone != zone or held.disks + 1 > _MOST_DISKS):
            return False
        return not (workload.apart and held.groups[workload.apart]) and self._spreads(workload, place, node)

    def _spreads(self, workload: BenchWorkload, place: int, node: BenchNode) -> bool:
        hosts, zones = self._hosts[workload.name], self._by_zone[workload.name]
        if workload.zone_skew:
            least = min(zones[zone] for zone in self._zones)
            if zones[node.zone] + 1 - least > workload.zone_skew:
                return False
        if workload.host_skew:
            least = min(hosts.values()) if len(hosts) == len(self.nodes) else 0
            if hosts[place] + 1 - least > workload.host_skew:
                return False
        if workload.near is None:
            return True
        other = workload.near.workload
        return bool(self._hosts[other][place] if workload.near.key == HOSTNAME else self._by_zone[other][node.zone])

    def _count(self, workload: BenchWorkload, place: int, pods: int) -> None:
        held = self._held[place]
        held.cpu += pods * workload.cpu
        held.memory += pods * workload.memory
        held.pods += pods
        held.disks += pods * workload.disk
        held.ports[workload.port] += pods
        held.groups[workload.apart] += pods
        _add(self._hosts[workload.name], place, pods)
        self._by_zone[workload.name][self.nodes[place].zone] += pods


def _add(counts: Counter[int], place: int, pods: int) -> None:
    counts[place] += pods
    if not counts[place]:
        del counts[place]


def fill(cluster: BenchCluster) -> float:
    """Return the share of CPU that is asked for."""
    asked = sum(workload.cpu * len(cluster.places[workload.name]) for workload in cluster.workloads)
    return asked / sum(node.cpu for node in cluster.nodes)
