"""The fewest evictions that the bench tells, against all ways to empty nodes of small clusters."""

from collections.abc import Sequence
from itertools import combinations, product

import pytest

from tests.bench.beside.least import least_evictions
from tests.bench.clusters.generated import BenchCluster
from tests.bench.clusters.placing import BenchNode
from tests.bench.clusters.workloads import BenchWorkload

PODS = {
    "few large or many small pods": ((600, 0), (500, 1), (300, 1), (200, 2), (200, 2), (200, 2)),
    "one size": ((400, 0), (400, 0), (400, 1), (400, 2)),
    "one of a node that stays moves over": ((700, 0), (200, 1), (100, 1), (100, 1), (200, 2), (100, 2), (100, 2)),
}


def cluster(pods: Sequence[tuple[int, int]]) -> BenchCluster:
    nodes = [BenchNode(f"n{place}", "pool", "e2-standard-4", "zone", 1000, 1000) for place in range(3)]
    workloads = tuple(BenchWorkload(f"w{place}", 1, cpu, cpu // 2) for place, (cpu, _) in enumerate(pods))
    return BenchCluster(nodes, workloads, {f"w{place}": [node] for place, (_, node) in enumerate(pods)})


def tried(pods: Sequence[tuple[int, int]], gone: int) -> int | None:
    """Return the fewest of all placements of all pods on what stays, none where nothing fits."""
    found = list[int]()
    for stays in combinations(range(3), 3 - gone):
        for places in product(stays, repeat=len(pods)):
            used = [sum(cpu for (cpu, _), place in zip(pods, places, strict=True) if place == node) for node in stays]
            if max(used, default=0) <= 1000:
                found.append(sum(place != node for (_, node), place in zip(pods, places, strict=True)))
    return min(found, default=None)


@pytest.mark.parametrize("gone", [0, 1])
@pytest.mark.parametrize("pods", [pytest.param(pods, id=name) for name, pods in PODS.items()])
def test_nobody_does_with_fewer_and_somebody_could_with_as_many(pods: tuple[tuple[int, int], ...], gone: int) -> None:
    assert least_evictions(cluster(pods), gone) == tried(pods, gone)


def test_of_a_full_cluster_nothing_can_go() -> None:
    with pytest.raises(ValueError, match="1 nodes cannot go"):
        least_evictions(cluster([(900, 0), (900, 1), (900, 2)]), 1)
