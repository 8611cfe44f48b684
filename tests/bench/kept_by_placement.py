"""Of the nodes that nothing but rules of placement keeps: which share goes of those that the bound lets go.

Asked twice, each time of the same measure in search and bound: in money, and in nodes, where every node has the same
price. A set that saves the most money may hold fewer nodes than another that saves as much, for the dollar buys the
same room on small machines and on large ones; so nodes are no measure of a search for money.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Final

from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.planning.candidates import AssessedNode, assess_nodes
from shared.core.planning.prices import Price, Prices
from shared.core.reasons import PodBlock, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.nodes import SAFETY_RULES
from shared.core.rules.situation import Situation
from shared.core.rules.unmodelled import UNMODELLED
from tests.bench.bound_of import bound_of, rules_of
from tests.bench.clusters.api import snapshot as snapshot_of
from tests.bench.clusters.generated import BenchCluster, generated
from tests.bench.clusters.judging import faults
from tests.bench.clusters.workloads import Mix
from tests.bench.reporting import say
from tests.builders import policy

SIZES: Final = ((60, 5), (100, 3), (200, 2))
"""Nodes, and clusters of so many."""
_RULES_OF_PLACEMENT: Final = frozenset(reason for reason, _ in UNMODELLED)


class SamePrices(Prices):
    """Every node costs the same, so that who saves most frees most nodes."""

    def of(self, node: Node) -> Price:
        del node
        return Price(1)


MEASURES: Final[Mapping[str, Prices]] = {
    "money": load(),
    "nodes": SamePrices(load().families, load().machines),
}


@dataclass(frozen=True)
class Freed:
    """What goes of the nodes that only rules of placement keep, by one measure."""

    kept: int
    """How many such nodes there are."""
    share: float
    """What goes of what the bound lets go of them, by the measure."""
    in_nodes: float
    """The same nodes counted."""


def run(*, quick: bool) -> None:
    sizes = ((60, 3),) if quick else SIZES
    clusters = [generated(nodes, Mix.MIXED, seed=seed) for nodes, count in sizes for seed in range(count)]
    found = [freed(cluster) for cluster in clusters]
    for measure in MEASURES:
        _tell(measure, [row[measure] for row in found])


def _tell(measure: str, found: Sequence[Freed]) -> None:
    kept, shares = sum(row.kept for row in found), [row.share for row in found]
    what = f"mixed, {len(found)} clusters: of {kept:,} nodes that only placement keeps, {measure}"
    counted = mean(row.in_nodes for row in found)
    say(what, f"{mean(shares):.1%}, least {min(shares):.1%} ({counted:.1%} in nodes)", "90% of what the bound lets go")


def freed(cluster: BenchCluster) -> Mapping[str, Freed]:
    """Return what goes by each measure."""
    situation = Situation(snapshot_of(cluster), ClusterState(), policy())
    rows = assess_nodes(situation, SAFETY_RULES)
    pinned = [row.node.name for row in rows if is_pinned(row)]
    return {measure: _freed(cluster, situation, pinned, measure) for measure in MEASURES}


def _freed(cluster: BenchCluster, situation: Situation, pinned: Collection[str], measure: str) -> Freed:
    nodes, prices = situation.snapshot.nodes, MEASURES[measure]
    found = potential(situation, prices)
    assert faults(cluster, {move.pod: move.node for move in found.moves}, set(found.nodes)) == []
    bound = bound_of(situation.snapshot, pinned, rules_of(cluster), count_nodes=measure == "nodes")
    assert found.saving <= bound.saving + 1, (found.saving, bound.saving)
    shares = {node.name: share for node, share in zip(nodes, bound.shares, strict=True)}
    ruled = {node.name: prices.of(node).per_hour for node in nodes if node.name in _ruled(cluster) - {*pinned}}
    gone = ruled.keys() & set(found.nodes)
    share = sum(ruled[name] for name in gone) / sum(cost * shares[name] for name, cost in ruled.items())
    return Freed(len(ruled), share, len(gone) / sum(shares[name] for name in ruled))


def is_pinned(row: AssessedNode) -> bool:
    """Whether something else than a rule of placement keeps the node."""
    reasons = {blocker.reason for blocker in row.blockers} - {Unremovable.BLOCKED_BY_POD}
    return any(not isinstance(reason, PodBlock) or reason not in _RULES_OF_PLACEMENT for reason in reasons)


def _ruled(cluster: BenchCluster) -> set[str]:
    """Return the nodes with pods that have rules of placement."""
    ruled = (workload for workload in cluster.workloads if workload.constrained)
    return {cluster.nodes[place].name for workload in ruled for place in cluster.places[workload.name]}
