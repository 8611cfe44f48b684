"""The plan: what one pass decided of every node, and why. Each node stands in it exactly once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fractions import Fraction

from shared.core.cluster.resources import NOTHING, Resources
from shared.core.placement.packing import Move
from shared.core.planning.bill import Savings
from shared.core.reasons import Blocker, DrainReason
from shared.core.records.orders import CLAIM_WITHIN, Order, Origin
from shared.core.records.state import KnownDemand, PoolMarks
from shared.core.rules.drain_time import DrainTime


class Verdict(StrEnum):
    """What happens to a node in this pass; exactly one."""

    ORDER = "order"
    WOULD_ORDER = "would_order"  # The same in dry run.
    IN_FLIGHT = "in_flight"
    WAITING = "waiting"  # Marked, and its time has not come.
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class NodeDecision:
    """One node's verdict with all that explains it. Ratios are exact; None without allocatable."""

    name: str
    uid: str
    pool: str
    verdict: Verdict
    reason: str  # The first blocker's word; for an order its drain reason; for a drain in flight its order id.
    cost: int  # Micro-dollars per hour.
    underutilized: bool
    """In an enabled pool, old enough, below both ratio limits and not in flight (estafette's count)."""
    outside: bool
    """Whether it counts in no figure of its pool: it stands by, or Google manages it, and no drain of ours holds it."""
    blockers: tuple[Blocker, ...] = ()
    cpu_ratio: Fraction | None = None
    memory_ratio: Fraction | None = None
    movable_cpu_ratio: Fraction | None = None
    movable_memory_ratio: Fraction | None = None  # Both without DaemonSet and mirror pods: what would have to move.
    accelerator_ratio: Fraction | None = None  # The highest of the node's accelerators; None on a node without one.
    score: Fraction | None = None
    marked_since: datetime | None = None
    removable_at: datetime | None = None
    allocatable: Resources = NOTHING
    requested: Resources = NOTHING  # Both nothing where the node reports no allocatable CPU or memory.
    drain: DrainTime | None = None
    """How long its drain would take; None of a node that stays or is in flight already."""


@dataclass(frozen=True, slots=True)
class PlannedOrder:
    """A node that goes in this pass; `saving` is what it adds to the orders before it, in micro-dollars an hour."""

    node: str
    uid: str
    pool: str
    reason: DrainReason
    saving: int
    moves: tuple[Move, ...]

    def order(self, order_id: str, cluster: str, issued_at: datetime, picture_at: datetime) -> Order:
        """Return the message for it; `picture_at` is when the reads began that the plan rests on."""
        return Order(
            order_id=order_id,
            cluster=cluster,
            node=self.node,
            node_uid=self.uid,
            reason=self.reason,
            origin=Origin.PLANNER,
            issued_at=issued_at,
            expires_at=issued_at + CLAIM_WITHIN,
            picture_at=picture_at,
        )


@dataclass(frozen=True, slots=True)
class Potential:
    """How far the cluster could shrink with only the safety rules in force. Micro-dollars per hour."""

    nodes: tuple[str, ...]
    saving: int
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class AtRest:
    """Which nodes would be gone once all that only takes time has passed. `saving` is micro-dollars per hour."""

    nodes: tuple[str, ...]
    saving: int
    steps: int  # How much was tried.
    braked: bool  # Whether the clock ended the search before its steps did.


@dataclass(frozen=True)
class Plan:
    """One pass's decisions. `cost` is what all nodes cost, in micro-dollars per hour."""

    cluster: str
    taken_at: datetime
    policy_hash: str
    dry_run: bool
    decisions: tuple[NodeDecision, ...]
    marks: Mapping[str, PoolMarks]
    pods: int
    pending: int  # How many of the pods have no node.
    cost: int
    orders: tuple[PlannedOrder, ...] = ()
    savings: Savings | None = None
    """What nodes save once those on their way out are gone; None while no policy is known."""
    excess: Mapping[str, Fraction] = field(default_factory=dict)
    """Excess nodes by pool; the empty key holds the whole cluster's."""
    at_rest: AtRest | None = None
    """None where nothing had to be chosen: no node that is neither empty nor expired was open to go."""
    wave: tuple[str, ...] = ()
    """The nodes that a wave holds from this pass on, in the order in which they go; see `planning.waves`."""
    costly: tuple[str, ...] = ()
    """The nodes that pods avoid for their price, the most expensive first; see `waves.costly_nodes`."""
    next_nodes: tuple[str, ...] = ()
    """Nodes that go next and whose pool's policy steers scale-in, in the order in which they would go."""

    demand: KnownDemand | None = None  # With that of this snapshot.
    unforeseen: tuple[str, ...] = ()  # Faults of Ebb that cost a node, or the steady state, and not the pass.

    def of(self, name: str) -> NodeDecision | None:
        return next((decision for decision in self.decisions if decision.name == name), None)

    def counts(self) -> dict[str, int]:
        """Return how many nodes got each verdict; all verdicts are named."""
        return {verdict.value: sum(decision.verdict is verdict for decision in self.decisions) for verdict in Verdict}

    @property
    def saving(self) -> int:
        return sum(order.saving for order in self.orders)
