"""What must hold before one more node may go: cluster and pool gates, in order, each with its name.

The planner asks for all of them; the drainer's claim asks for CLAIM_GATES again on fresh counts. A closed gate stops
orders, never marks, and never healing. Must not look at pods or at how full a node is: that was judged before.
"""

from collections.abc import Iterable
from typing import Final

from shared.core.cluster.node import Node
from shared.core.policy import Policy
from shared.core.reasons import Blocker, DrainReason
from shared.core.rules.autoscaler_minimums import pool_at_minimum, resource_minimum
from shared.core.rules.counts import NodeCounts
from shared.core.rules.gate_rules import (
    Gate,
    ProposedDrain,
    allows_nothing,
    backing_off,
    breaker_open,
    budget,
    cluster_budget,
    frozen,
    minimum_nodes,
    minimum_non_tainted,
    namespace_rate,
    no_excess,
    nodes_per_pass,
    outside_windows,
    paused,
    rate,
    recent_addition,
    required_count,
    time_gap,
)

NO_WORDS: Final[frozenset[str]] = frozenset()
CLAIM_GATES: Final[tuple[Gate, ...]] = (
    # people said no
    paused, frozen, outside_windows,
    # recent trouble
    breaker_open, backing_off,
    # what must remain
    pool_at_minimum, resource_minimum, minimum_nodes, minimum_non_tainted,
    # how many at once, and how fast
    budget, cluster_budget, rate, namespace_rate,
)  # fmt: skip
"""What a claim checks again at the moment of the grant (docs/decisions/claims.md)."""
PASS_GATES: Final[tuple[Gate, ...]] = (recent_addition, time_gap, required_count, no_excess, nodes_per_pass)
"""What the planner alone asks; a person's drain is not asked."""
PACE: Final[frozenset[Gate]] = frozenset({budget, cluster_budget, rate, recent_addition, time_gap, nodes_per_pass})
"""Gates that open by themselves as drains end and time passes, unless what they allow is nothing."""
IGNORABLE: Final[dict[str, frozenset[Gate]]] = {
    "windows": frozenset({outside_windows}),
    "budgets": frozenset({budget, cluster_budget, rate, namespace_rate}),
    "gates": frozenset({frozen, breaker_open, minimum_nodes, minimum_non_tainted}),
}
"""What a person's order may leave out, where the policy's `manual.mayIgnore` allows the word.

Never a pause, a back-off, or what the autoscaler keeps of the pool and the cluster: it would not delete the node.
"""


def claim_blockers(
    counts: NodeCounts, node: Node, reason: DrainReason, ignore: frozenset[str] = NO_WORDS
) -> tuple[Blocker, ...]:
    """Return every closed gate that a claim must respect, in order; empty = the claim may be granted.

    Args:
        counts: those without this node's claim.
        node: the node to be taken.
        reason: why; a person's drain is bound by every active budget whatever its reasons.
        ignore: the order's words; they count for a person's drain and where the policy allows them.
    """
    skipped = _ignored_gates(counts, reason, ignore)
    return _closed_gates((gate for gate in CLAIM_GATES if gate not in skipped), ProposedDrain(counts, node, reason))


def pass_blockers(counts: NodeCounts, node: Node, reason: DrainReason) -> tuple[Blocker, ...]:
    """Return every closed gate that is the planner's alone; empty for a person's drain."""
    return () if reason is DrainReason.MANUAL else _closed_gates(PASS_GATES, ProposedDrain(counts, node, reason))


def blockers(counts: NodeCounts, node: Node, reason: DrainReason) -> tuple[Blocker, ...]:
    """Return every closed gate for a candidate of a pass, those of the claim first."""
    return (*claim_blockers(counts, node, reason), *pass_blockers(counts, node, reason))


def is_only_paced(counts: NodeCounts, node: Node, reason: DrainReason) -> bool:
    """Whether nothing keeps the node from going in the end, of what the gates know now."""
    return _is_open(PACE, ProposedDrain(counts, node, reason))


def is_paced_or_shut(counts: NodeCounts, node: Node, reason: DrainReason) -> bool:
    """The same, when the next window opens."""
    return _is_open(PACE | {outside_windows}, ProposedDrain(counts, node, reason))


def _is_open(passing: frozenset[Gate], proposed: ProposedDrain) -> bool:
    standing = (gate for gate in (*CLAIM_GATES, *PASS_GATES) if gate not in passing)
    return not allows_nothing(proposed) and all(gate(proposed) is None for gate in standing)


def idle_words(reason: DrainReason, ignore: Iterable[str], policy: Policy) -> tuple[str, ...]:
    """Return the words of an order's `ignore` that count for nothing, sorted."""
    counting = policy.manual_may_ignore & IGNORABLE.keys() if reason is DrainReason.MANUAL else NO_WORDS
    return tuple(sorted(set(ignore) - counting))


def _closed_gates(gates: Iterable[Gate], proposed: ProposedDrain) -> tuple[Blocker, ...]:
    found = (gate(proposed) for gate in gates)
    return tuple(blocker for blocker in found if blocker is not None)


def _ignored_gates(counts: NodeCounts, reason: DrainReason, ignore: frozenset[str]) -> frozenset[Gate]:
    if reason is not DrainReason.MANUAL:
        return frozenset()
    allowed = ignore & counts.policy.manual_may_ignore
    return frozenset(gate for word in allowed for gate in IGNORABLE.get(word, ()))
