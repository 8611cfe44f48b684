"""One whole pass over a generated cluster in its own process: reading, planning, potential, memory."""

import gc
import re
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.adapters.process import no_search_for_cycles
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.make_plan import make_plan
from shared.core.policy import Budget, Limit, Policy
from shared.core.policy.values import NO_COMMITMENTS, Capacity, Commitment, Commitments, FlexibleCommitment
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.bench.bound_of import bound_of, rules_of
from tests.bench.clusters.api import ClusterApi, read
from tests.bench.clusters.generated import generated
from tests.bench.clusters.judging import faults
from tests.bench.clusters.workloads import Mix
from tests.builders import NOW, policy
from tests.measured_figures import timed

_PEAK = re.compile(r"VmHWM:\s*([0-9]+) kB")
_A_DAY: Final = timedelta(days=1)


@dataclass(frozen=True)
class WholePass:
    """What one pass took, in CPU seconds and MiB, and which share of the bound could go."""

    mix: Mix
    nodes: int
    pods: int
    reading: float
    planning: float
    by_bill: float
    """Planning where much of the nodes is committed."""
    searching: float
    freed: int
    share: float
    peak: float
    """MiB of the process when reading and planning were done; 0 where it is not told."""


def measured(nodes: int, mix: Mix, pods_a_node: float) -> WholePass:
    with get_context("forkserver").Pool(1) as fresh:
        return fresh.apply(partial(whole_pass, nodes, mix, pods_a_node))


def whole_pass(nodes: int, mix: Mix, pods_a_node: float) -> WholePass:
    cluster = generated(nodes, mix, pods_a_node=pods_a_node)
    api = ClusterApi(cluster)
    gc.freeze()  # the making of the cluster is no cost of the pass
    whole, picture = timed(lambda: read(api))
    planning = _planned(picture, NO_COMMITMENTS)
    peak = _peak()
    by_bill = _planned(picture, _committed(picture))
    searching, found = timed(lambda: potential(Situation(picture, ClusterState(), policy()), load()))
    moves = {move.pod: move.node for move in found.moves}
    assert faults(cluster, moves, set(found.nodes)) == []
    bound = bound_of(picture, (), rules_of(cluster))
    assert found.saving <= bound + 1, (found.saving, bound)
    return WholePass(
        mix, nodes, len(picture.pods), whole - api.seconds, planning, by_bill, searching, len(found.nodes),
        found.saving / bound, peak,
    )  # fmt: skip


def _committed(picture: Snapshot) -> Commitments:
    """Return commitments for a fifth of all that the nodes have, and one that covers any family."""
    sizes = Counter[tuple[str, str]]()
    for family, size in filter(None, (load().size(node.machine) for node in picture.nodes)):
        sizes.update({(family, "vcpu"): int(size.vcpu), (family, "gib"): int(size.gib)})
    rows = (
        Commitment(family, Capacity(*(Fraction(sizes[family, axis], 5) for axis in ("vcpu", "gib"))), NOW + _A_DAY)
        for family in sorted({family for family, _ in sizes})
    )
    return Commitments(tuple(rows), FlexibleCommitment(Fraction(1), Fraction("0.28"), NOW + 2 * _A_DAY))


def _planned(picture: Snapshot, commitments: Commitments) -> float:
    one = policy(max_nodes_per_pass=20, budgets=(Budget(Limit(percent=10)),))
    pools = dict.fromkeys(picture.nodes_by_pool, one.pool("a"))
    rules = Policy(**{**vars(one), "pools": pools, "commitments": commitments})
    with no_search_for_cycles():  # as the planner does
        return timed(lambda: make_plan(Situation(picture, ClusterState(), rules), {}, load()))[0]


def _peak() -> float:
    """Return the most memory that this process has had; that of its parent is not in it."""
    status = Path("/proc/self/status")
    found = _PEAK.search(status.read_text()) if status.exists() else None
    return int(found[1]) / 1024 if found else 0.0
