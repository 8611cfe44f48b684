"""What must hold before one more node may go: each gate as a row, and the order in which gates are asked.

The planner asks for all; the drainer's claim asks for CLAIM_GATES again on fresh counts. A closed gate stops orders,
never marks or healing. The autoscaler's minimums are gates too: a drain below them would empty a node for nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Final

from shared.core.cluster.node import Node
from shared.core.policy import Policy, Schedule
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.rules import gate_rules as rules
from shared.core.rules.counts import NodeCounts
from shared.core.rules.gate_rules import ProposedDrain

GateClock = Callable[[ProposedDrain], Iterable[datetime | Schedule]]


class Closes(Enum):
    """What else a gate keeps while it keeps one node."""

    NODE = auto()
    POOL = auto()
    CLUSTER = auto()


NODE, POOL, CLUSTER = Closes


@dataclass(frozen=True, slots=True)
class Gate:
    """One limit with all its facts. Those whose reason `passes` open as drains end, too."""

    reason: Unremovable
    rule: Callable[[ProposedDrain], Blocker | None]
    reads: str  # Of the policy, for the page of settings.
    closes: Closes = NODE
    clock: GateClock = lambda _: ()  # The times and schedules at which time alone may open it.
    ignored_as: str = ""
    """The word by which a person's order may leave it out, where the policy's `manual.mayIgnore` allows that.

    Never a pause, a back-off, or what the autoscaler keeps of the pool and the cluster: it would not delete the node.
    """
    binds_waves: bool = True
    """Whether it binds the nodes of a wave: its set, its deadline and the budgets are its pace."""


# fmt: off
CLAIM_GATES: Final[tuple[Gate, ...]] = (
    # a person refused
    Gate(Unremovable.PAUSED, rules.gate_of_pause, "`paused`, and the flag of `ebb pause`", CLUSTER),
    Gate(Unremovable.FROZEN, rules.gate_of_freeze, "`cluster.freezes`", CLUSTER,
         lambda drain: (freeze.end for freeze in drain.policy.freezes), "gates"),
    Gate(Unremovable.OUTSIDE_WINDOWS, rules.outside_windows, "`disruption.windows` of the pool", POOL,
         lambda drain: drain.pool_policy.windows or (), "windows"),
    # recent trouble
    Gate(Unremovable.BREAKER_OPEN, rules.breaker_open, "nothing of the policy: recent drains that went wrong", POOL,
         lambda drain: (breaker.until for breaker in drain.state.breakers.values()), "gates"),
    Gate(Unremovable.BACKING_OFF, rules.backing_off, "`drain.backoff`", NODE,
         lambda drain: (backoff.until for backoff in drain.state.backoffs.values())),
    # what must remain
    Gate(Unremovable.POOL_AT_MINIMUM, rules.pool_at_minimum,
         "nothing of the policy: the pool's autoscaling minimum, by zone and in all"),
    Gate(Unremovable.RESOURCE_MINIMUM, rules.resource_minimum,
         "nothing of the policy: the minimums of node auto-provisioning"),
    Gate(Unremovable.MINIMUM_NODES, rules.minimum_nodes, "`cluster.minimumNodes`, after the removal",
         ignored_as="gates"),
    Gate(Unremovable.MINIMUM_NON_TAINTED, rules.minimum_non_tainted,
         "`cluster.minimumNonTaintedNodes`, after the removal", ignored_as="gates"),
    # how many at once, and how fast
    Gate(Unremovable.BUDGET, rules.budget, "`disruption.budgets` of the pool", POOL,
         lambda drain: rules.schedules(drain.pool_policy.budgets), "budgets"),
    Gate(Unremovable.CLUSTER_BUDGET, rules.cluster_budget, "`cluster.disruption.budgets`", CLUSTER,
         lambda drain: rules.schedules(drain.policy.budgets), "budgets"),
    Gate(Unremovable.AWAITING_DELETION, rules.awaiting_deletion,
         "`cluster.disruption.awaitingDeletion` of the pool and the cluster, with `drain.budgetUntil: replaced`", POOL,
         ignored_as="budgets"),
    Gate(Unremovable.RATE, rules.rate_limit, "`cluster.rate`, then `rate` of the pool", POOL,
         lambda drain: rules.period_ends(drain, drain.policy.rate, drain.pool_policy.rate), "budgets"),
    Gate(Unremovable.NAMESPACE_RATE, rules.namespace_rate,
         "`cluster.evictionsPerNamespace`, for each namespace of the node's pods", NODE,
         lambda drain: rules.period_ends(drain, drain.policy.evictions_per_namespace), "budgets"),
)
"""What a claim checks again at the moment of the grant (docs/decisions/claims.md)."""
PASS_GATES: Final[tuple[Gate, ...]] = (
    Gate(Unremovable.RECENT_ADDITION, rules.recent_addition, "`timeSinceLastAddition` of the pool, else the cluster's",
         POOL, rules.addition_ends),
    Gate(Unremovable.TIME_GAP, rules.time_gap, "`cluster.timeGap`", CLUSTER, rules.gap_ends, binds_waves=False),
    Gate(Unremovable.TOO_FEW_UNDERUTILIZED, rules.required_count,
         "`scaleDownRequiredUnderutilizedNodeCount` plus drains in flight"),
    Gate(Unremovable.NO_EXCESS, rules.no_excess, "`excessNodesThreshold`"),
    Gate(Unremovable.NODES_PER_PASS, rules.nodes_per_pass, "`maxNodesPerPass`", POOL, binds_waves=False),
)
"""What the planner alone asks; a person's drain is not asked."""
# fmt: on
GATES: Final = (*CLAIM_GATES, *PASS_GATES)
WAVE_GATES: Final = tuple(gate for gate in GATES if gate.binds_waves)  # What binds the nodes of a wave.
IGNORABLE: Final = frozenset(gate.ignored_as for gate in GATES if gate.ignored_as)
NO_WORDS: Final[frozenset[str]] = frozenset()


def claim_blockers(
    counts: NodeCounts, node: Node, reason: DrainReason, ignore: frozenset[str] = NO_WORDS
) -> tuple[Blocker, ...]:
    """Return every closed gate that a claim must respect, in order; `counts` are those without this node's claim."""
    # Words of `ignore` count for a person's drain alone, and only where the policy allows them.
    skipped = ignore & counts.policy.manual_may_ignore if reason is DrainReason.MANUAL else NO_WORDS
    asked = (gate for gate in CLAIM_GATES if gate.ignored_as not in skipped)
    return _closed_gates(asked, ProposedDrain(counts, node, reason))


def pass_blockers(counts: NodeCounts, node: Node, reason: DrainReason) -> tuple[Blocker, ...]:
    """Return every closed gate that is the planner's alone; empty for a person's drain."""
    return () if reason is DrainReason.MANUAL else _closed_gates(PASS_GATES, ProposedDrain(counts, node, reason))


def blockers(counts: NodeCounts, node: Node, reason: DrainReason) -> tuple[Blocker, ...]:
    return (*claim_blockers(counts, node, reason), *pass_blockers(counts, node, reason))


def is_only_paced(counts: NodeCounts, node: Node, reason: DrainReason, but_for: Unremovable | None = None) -> bool:
    """Whether nothing keeps the node from going in the end, of what the gates know now, one of them left out."""
    # Gates that pass are asked as if nothing were under way: what is closed even then allows nothing at all.
    proposed, later = ProposedDrain(counts, node, reason), ProposedDrain(counts.idle, node, reason)
    asked = (gate for gate in GATES if gate.reason is not but_for)
    return all(gate.rule(later if gate.reason.row.passes else proposed) is None for gate in asked)


def idle_words(reason: DrainReason, ignore: Iterable[str], policy: Policy) -> tuple[str, ...]:
    """Return the words of an order's `ignore` that count for nothing, sorted."""
    counting = policy.manual_may_ignore & IGNORABLE if reason is DrainReason.MANUAL else NO_WORDS
    return tuple(sorted(set(ignore) - counting))


def _closed_gates(gates: Iterable[Gate], proposed: ProposedDrain) -> tuple[Blocker, ...]:
    found = (gate.rule(proposed) for gate in gates)
    return tuple(blocker for blocker in found if blocker is not None)
