"""A whole generated cluster as a value, the same for the same call: nodes, workloads, and where their pods lie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from infra.local.machine_types import allocatable
from tests.bench.clusters.placing import BenchNode, Placer
from tests.bench.clusters.workloads import BenchWorkload, Mix, draw

ZONES: Final = ("europe-west4-a", "europe-west4-b", "europe-west4-c")
DAEMON_CPU, DAEMON_MEMORY = 100, 200
"""Millicores and MiB of the one DaemonSet's pod."""
_MACHINES: Final = ("e2-standard-4", "e2-standard-8", "e2-standard-16")
_SHARES: Final = (0.5, 0.3, 0.2)
_MOST_IN_A_POOL: Final = 1000


@dataclass(frozen=True)
class BenchCluster:
    """Nodes by pool in order, so that a pool's n-th node lies in zone n modulo the zones."""

    nodes: Sequence[BenchNode]
    workloads: Sequence[BenchWorkload]
    places: Mapping[str, Sequence[int]]
    """By workload, the place in `nodes` of each replica."""

    @property
    def pods(self) -> int:
        return sum(map(len, self.places.values()))


def generated(
    nodes: int,
    mix: Mix,
    *,
    fill: float = 0.5,
    pods_a_node: float = 14,
    seed: int = 0,
    machines: Sequence[str] = _MACHINES,
) -> BenchCluster:
    """Return a cluster whose nodes are used to that share of CPU on average, and to a little less of memory."""
    rows = [row for machine, count in _counts(nodes, machines) for row in _pools(machine, count)]
    cpu, memory = sum(row.cpu for row in rows), sum(row.memory for row in rows)
    workloads = draw(round(nodes * pods_a_node), round(cpu * fill), round(memory * fill * 0.9), mix, seed)
    return BenchCluster(rows, workloads, Placer(rows, fill, seed).place(workloads))


def _counts(nodes: int, machines: Sequence[str]) -> list[tuple[str, int]]:
    total = sum(_SHARES[: len(machines)])
    counts = [round(nodes * share / total) for share in _SHARES[: len(machines)]]
    counts[0] += nodes - sum(counts)
    return list(zip(machines, counts, strict=True))


def _pools(machine: str, count: int) -> list[BenchNode]:
    whole = _room(machine)
    found = list[BenchNode]()
    for first in range(0, count, _MOST_IN_A_POOL):
        pool = f"{machine.rpartition('-')[2]}-{first // _MOST_IN_A_POOL}"
        names = range(min(_MOST_IN_A_POOL, count - first))
        found += [BenchNode(f"gke-{pool}-{place:04}", pool, machine, ZONES[place % 3], *whole) for place in names]
    return found


@cache
def _room(machine: str) -> tuple[int, int]:
    offered = allocatable(machine)
    cpu, memory = int(offered["cpu"].removesuffix("m")), int(offered["memory"].removesuffix("Mi"))
    return cpu - DAEMON_CPU, memory - DAEMON_MEMORY
