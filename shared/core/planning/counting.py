"""What every limit of a pass is measured by: the counts of nodes with what the whole picture adds, and excess nodes.

Must not judge: gates and the plan at rest do.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from shared.core.cluster.resources import NOTHING, Resources
from shared.core.planning.candidates import AssessedNode
from shared.core.reasons import DrainReason
from shared.core.rules.counts import NodeCounts, PoolMeasure
from shared.core.rules.situation import Situation
from shared.core.rules.utilization import excess, spare


def counts_and_excess(situation: Situation, rows: Sequence[AssessedNode]) -> tuple[NodeCounts, dict[str, Fraction]]:
    """Return the counts for the gates, and the excess nodes by pool and (empty key) of the whole cluster."""
    snapshot, policy = situation.snapshot, situation.policy
    measures: dict[str, PoolMeasure] = {}
    surplus: dict[str, Fraction] = {}
    everywhere = NOTHING
    for pool, nodes in snapshot.nodes_by_pool.items():
        own = [assessed for assessed in rows if assessed.node.pool == pool]
        free = spare(nodes, snapshot.pods_by_node, policy.pool(pool).ignore_taints)
        measures[pool] = PoolMeasure(_underutilized(own), free)
        surplus[pool] = _excess(own, free)
        everywhere += free
    surplus[""] = _excess(rows, everywhere)
    return situation.counts(snapshot.nodes).with_measures(measures), surplus


def _underutilized(rows: Iterable[AssessedNode]) -> int:
    return sum(assessed.underutilized and assessed.reason is not DrainReason.EXPIRED for assessed in rows)


def _excess(rows: Sequence[AssessedNode], free: Resources) -> Fraction:
    """Excess in units of the node that would go first (node-refiner: the least used one)."""
    measured = [
        assessed for assessed in rows if assessed.usage and assessed.claimed_by is None and not assessed.node.outside
    ]
    if not measured:
        return Fraction(0)
    first = min(measured, key=lambda assessed: (assessed.usage.score if assessed.usage else 0, assessed.node.name))
    return excess(free, first.node) or Fraction(0)
