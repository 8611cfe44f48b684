"""The plan of the steady state: which nodes would be gone once all that only takes time has passed. A pass follows it.

Without it the node that is drained first decides what still fits: an early drain may spoil two later ones. It guides
only (docs/decisions/choosing.md): what is ordered is proved by itself, under all strategies.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from shared.core.cluster.node import Node
from shared.core.cluster.resources import CPU, MEMORY
from shared.core.placement import Candidate, Simulation, Use, search
from shared.core.placement.cluster_arrays import ArraysOf, ClusterArrays
from shared.core.planning.bill import Savings
from shared.core.planning.candidates import AssessedNode
from shared.core.planning.plan import AtRest
from shared.core.reasons import DrainReason
from shared.core.rules.counts import NodeCounts, counts_as_non_tainted
from shared.core.rules.gates import is_only_paced
from shared.core.rules.pod_costs import disruption
from shared.core.rules.situation import Situation

MOST_STEPS: Final = 4_000
STEPS_FOR_EACH: Final = 100
"""By candidate, up to the most: of a few nodes all exchanges are soon tried, and a pass is made every few minutes."""
ONE_STEP_FOR: Final = 8
"""Nodes and pods of the cluster: the search's limit in a pass, where a node is ordered and every second counts."""

Waits = Callable[[NodeCounts, Node, DrainReason], bool]


@dataclass(frozen=True)
class Searcher:
    """What the search for the steady state needs besides the pass's own snapshot."""

    savings: Savings  # What nodes save at the beginning of the pass.
    brake: Callable[[], bool]
    arrays_of: ArraysOf = ClusterArrays

    def find_steady_state(
        self,
        situation: Situation,
        rows: Sequence[AssessedNode],
        counts: NodeCounts,
        simulation: Simulation,
        savings: Savings,
        waits: Waits = is_only_paced,
    ) -> AtRest:
        """Return the set that the search reaches of `rows`, earlier ones preferred; `simulation` stays as it is."""
        # `savings`: once what was taken is gone. `waits` is true of a node that only needs time to pass. Those that go
        # after all others are not chosen before them.
        able = (row for row in rows if row.is_candidate and not row.avoided)
        chosen = [row for row in able if waits(counts, row.node, row.reason)]
        candidates = []
        for rank, row in enumerate(chosen):
            uses = (*_minimums(row, counts), *_measures(row, counts))
            candidates.append(self._candidate(row, situation, rank, uses))
        steps = min(MOST_STEPS, STEPS_FOR_EACH * len(candidates)) + simulation.arrays.size_of_cluster // ONE_STEP_FOR
        best = search(simulation, candidates, steps, brake=self.brake, lost=savings.lost)
        return AtRest(best.nodes, best.saving, best.steps, braked=best.braked)

    def _candidate(self, assessed: AssessedNode, situation: Situation, rank: int, uses: tuple[Use, ...]) -> Candidate:
        node = assessed.node
        return Candidate(
            name=node.name,
            cost=self.savings.bill.prices.of(node).per_hour,
            disruption=situation.about_moving(node, disruption),
            uses=uses,
            rank=rank,
            first=assessed.reason is not DrainReason.UNDERUTILIZED,
            amounts=self.savings.bill.amounts(node),
        )


def _minimums(assessed: AssessedNode, counts: NodeCounts) -> Iterable[Use]:
    """The gates' minimums: the policy's, and what the autoscaler keeps (`gates`)."""
    node, policy = assessed.node, counts.policy
    if node.ready:
        yield Use("nodes", 1, policy.minimum_nodes + 1, counts.left)
    if counts_as_non_tainted(node, policy):
        yield Use("non-tainted", 1, policy.minimum_non_tainted_nodes + 1, counts.left_non_tainted)
    yield from kept_by_the_autoscaler(node, counts)


def kept_by_the_autoscaler(node: Node, counts: NodeCounts) -> Iterable[Use]:
    """Return what it takes of the cluster's CPU and memory, of its pool and its zone, of which some must remain."""
    pool = counts.pool(node.pool)
    for name in (CPU, MEMORY):
        if counts.minimum.get(name):
            size = node.allocatable.get(name)
            yield Use(name, size, size + counts.minimum.get(name), counts.left_resources.get(name))
    if pool.limits is not None:
        least, in_zone = pool.limits.min_per_zone, pool.left_by_zone.get(node.zone, 0)
        yield Use(f"pool {pool.name}", 1, pool.limits.min_total + 1, pool.left)
        yield Use(f"zone {pool.name} {node.zone}", 1, least + 1, in_zone, balanced=least > 0)


def _measures(assessed: AssessedNode, counts: NodeCounts) -> Iterable[Use]:
    """The required count and the excess, which bind only nodes that are neither empty nor expired."""
    pool, size = counts.pool(assessed.node.pool), assessed.node.allocatable
    if pool.measure is None or assessed.reason is not DrainReason.UNDERUTILIZED:
        return
    rules = counts.policy.pool(pool.name)
    yield Use(f"count {pool.name}", 1, rules.required_count, pool.measure.underutilized)
    for axis in (CPU, MEMORY):
        needs = -int(-rules.excess_threshold * size.get(axis) // 1)
        yield Use(f"{axis} {pool.name}", size.get(axis), needs, pool.measure.spare.get(axis))
