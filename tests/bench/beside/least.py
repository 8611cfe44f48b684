"""How few evictions there can be where so many nodes go, whoever chooses them: an integer program over sizes of pods.

Let x_n in {0, 1} say that node n goes, c_kn how many pods of size k lie on it, m_kn <= c_kn how many of them leave it,
y_kn how many come to it from elsewhere. Wherever all pods lie in the end, with every pod moved once at the most,
    m_kn = c_kn where x_n = 1,   sum_n y_kn = sum_n m_kn,   sum_k r_k (c_kn - m_kn + y_kn) <= room_n (1 - x_n),
and sum m is the count of evictions. Pods of nodes that stay may move, too. Rules of placement, budgets, and the moments
on the way are left out: they can only ask for more. So nobody does with fewer, and the scheduler may well need more.
"""

from collections import Counter
from math import ceil, inf
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array, hstack, kron

from tests.bench.clusters.generated import BenchCluster

SECONDS: Final = 60.0
"""The solver's own limit; what is proved by then is a bound all the same."""
_GAP: Final = 1e-6


def least_evictions(cluster: BenchCluster, gone: int) -> int:
    """Return how many pods have to move at least, so that `gone` nodes hold none; ValueError if so many cannot go."""
    counts = _counts(cluster)
    sizes, nodes = counts.shape
    leave = np.repeat([0.0, 1.0, 0.0], [nodes, counts.size, counts.size])
    most = np.concatenate([np.ones(nodes), counts.ravel(), np.full(counts.size, inf)])
    rules = [_so_many_go(gone, sizes, nodes), _all_leave(counts), _all_arrive(sizes, nodes), *_fits(cluster, counts)]
    whole, limit = np.ones(leave.size), {"time_limit": SECONDS}
    found = milp(leave, constraints=rules, bounds=Bounds(0, most), integrality=whole, options=limit)
    if found.mip_dual_bound is None:
        raise ValueError(f"{gone} nodes cannot go: {found.message}")
    return ceil(float(found.mip_dual_bound) - _GAP)


def sizes_of(cluster: BenchCluster) -> list[tuple[int, int]]:
    """Return CPU and memory of the sizes there are."""
    return sorted({(workload.cpu, workload.memory) for workload in cluster.workloads})


def _counts(cluster: BenchCluster) -> NDArray[np.float64]:
    """Return how many pods lie there, by size and node."""
    found = Counter(
        ((workload.cpu, workload.memory), node)
        for workload in cluster.workloads
        for node in cluster.places[workload.name]
    )
    return np.array([[found[size, node] for node in range(len(cluster.nodes))] for size in sizes_of(cluster)], float)


def _so_many_go(gone: int, sizes: int, nodes: int) -> LinearConstraint:
    row = np.repeat([1.0, 0.0], [nodes, 2 * sizes * nodes])
    return LinearConstraint(csr_array(row[None]), gone, inf)


def _all_leave(counts: NDArray[np.float64]) -> LinearConstraint:
    """m_kn - c_kn x_n >= 0."""
    sizes, nodes = counts.shape
    by_node = -csr_array(counts.reshape(-1, 1)).multiply(kron(np.ones((sizes, 1)), eye_array(nodes)))
    rows = hstack([by_node, eye_array(sizes * nodes), csr_array((sizes * nodes, sizes * nodes))])
    return LinearConstraint(csr_array(rows), 0, inf)


def _all_arrive(sizes: int, nodes: int) -> LinearConstraint:
    each = kron(eye_array(sizes), np.ones((1, nodes)))
    return LinearConstraint(csr_array(hstack([csr_array((sizes, nodes)), -each, each])), 0, 0)


def _fits(cluster: BenchCluster, counts: NDArray[np.float64]) -> list[LinearConstraint]:
    """sum_k r_k (y_kn - m_kn) + room_n x_n <= room_n - sum_k r_k c_kn, for CPU and for memory."""
    nodes = counts.shape[1]
    rooms = np.array([(node.cpu, node.memory) for node in cluster.nodes], float).T
    found = []
    for room, asked in zip(rooms, np.array(sizes_of(cluster), float).T, strict=True):
        each = kron(asked[None], eye_array(nodes))
        rows = hstack([eye_array(nodes).multiply(room), -each, each])
        found.append(LinearConstraint(csr_array(rows), -inf, room - asked @ counts))
    return found
