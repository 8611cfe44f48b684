"""How often a plan leaves a pod Pending, by its proof and by how full the nodes are that stay; and what it saves.

The default of `headroom` follows from this table (docs/decisions/robust-fit.md, which `python -m tests.bench headroom`
counts again). Nothing here fails: a share of orders is what is asked for.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

from shared.adapters.prices import load
from tests.bench.clusters.api import snapshot
from tests.bench.clusters.generated import BenchCluster, generated
from tests.bench.clusters.workloads import Mix
from tests.bench.headroom.passes import Pass, Proof, Shrunk, shrink
from tests.bench.headroom.scheduling import Profile

PROOFS: Final = tuple(Proof(robust, headroom) for robust in (False, True) for headroom in (0, 5, 10))
BANDS: Final = ((0.0, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 1.0))
"""Fills of the nodes that stay."""
NODES, ORDERS = 30, 10
_MACHINES: Final = ("e2-standard-4", "e2-standard-8")
_PODS: Final = (4, 10)
"""A node: of few and of many pods."""


@dataclass(frozen=True)
class Row:
    """One proof over all clusters: orders that strand a pod by band, of how many, and the share of money saved."""

    stranding: Mapping[tuple[float, float], tuple[int, int]]
    saved: float

    def told(self) -> list[str]:
        """Return the cells: the share of orders that strand a pod, by band."""
        return [f"{bad / orders:.1%} of {orders}" if orders else "-" for bad, orders in self.stranding.values()]


@dataclass(frozen=True)
class Task:
    """One cluster shrunk under one proof."""

    mix: Mix
    seed: int
    pods: float
    proof: Proof

    def cluster(self) -> BenchCluster:
        return generated(NODES, self.mix, fill=0.6, pods_a_node=self.pods, seed=self.seed, machines=_MACHINES)


def run(*, quick: bool) -> None:
    for mix in (Mix.PLAIN, Mix.RICH):
        rows = table(mix, 2 if quick else 20)
        bands = ", ".join(f"{least:.0%}-{most:.0%}" for least, most in BANDS)
        print(f"  {mix.value}: orders that leave a pod Pending, by fill of what stays ({bands})")  # noqa: T201
        for proof, row in rows.items():
            print(f"    {proof!s:30} {'   '.join(f'{cell:>16}' for cell in row.told())}   saves {row.saved:.1%}")  # noqa: T201


def table(mix: Mix, clusters: int) -> Mapping[Proof, Row]:
    tasks = [Task(mix, seed, pods, proof) for proof in PROOFS for pods in _PODS for seed in range(clusters)]
    with ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as pool:
        found = list(pool.map(measured, tasks, chunksize=4))
    rows: dict[Proof, list[tuple[Shrunk, int]]] = {proof: [] for proof in PROOFS}
    for task, shrunk in zip(tasks, found, strict=True):
        rows[task.proof].append(shrunk)
    return {proof: summed(shrunk) for proof, shrunk in rows.items()}


def measured(task: Task) -> tuple[Shrunk, int]:
    """Return how it went, and what the cluster cost before."""
    cluster = task.cluster()
    profile = list(Profile)[task.seed % 2]
    return shrink(cluster, task.proof, profile, task.seed, ORDERS), cost(cluster)


def cost(cluster: BenchCluster) -> int:
    return sum(load().of(node).per_hour for node in snapshot(cluster).nodes)


def summed(found: Sequence[tuple[Shrunk, int]]) -> Row:
    passes = [pass_ for shrunk, _ in found for pass_ in shrunk.passes]
    before, after = sum(cost for _, cost in found), sum(shrunk.cost for shrunk, _ in found)
    return Row({band: _counted(passes, *band) for band in BANDS}, 1 - after / before)


def _counted(passes: Sequence[Pass], least: float, most: float) -> tuple[int, int]:
    within = [pass_ for pass_ in passes if least <= pass_.fill < most]
    return sum(pass_.stranding for pass_ in within), sum(pass_.orders for pass_ in within)
