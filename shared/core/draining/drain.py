"""What the rules of a drain see in one look, and the steps that they give."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from shared.core.cluster.autoscaling import NO_BUFFERS, Buffers
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.policy import DrainSettings, PodRules, Policy
from shared.core.reasons import Blocker, Outcome, ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.state import Backoff, Claim
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.workload_limits import OtherClaims


@dataclass(frozen=True)
class Proof:
    """Whether the pods of the node had a place elsewhere, at a moment after the cordon."""

    taken_at: datetime  # When the reading of its snapshot began; another drain may have read that.
    at: datetime  # When it was done.
    against: tuple[Blocker, ...] = ()
    buffers: Mapping[str, int] = field(default_factory=dict)
    """By `namespace/name`, for how many chunks of each capacity buffer the autoscaler then had room."""


@dataclass(frozen=True)
class OtherDrain:
    since: datetime
    record: DrainRecord


@dataclass(frozen=True)
class OtherDrains:
    """What other drains do at the same time, and which nodes were returned lately."""

    drains: tuple[OtherDrain, ...] = ()
    backoffs: tuple[Backoff, ...] = ()
    snapshot: Snapshot | None = None
    """The last snapshot of the whole cluster that this instance has read; None: none since the claim was granted."""


@dataclass(frozen=True)
class Observation:
    """What the drainer sees in one look. `node` is None when no node of that name and UID exists."""

    node: Node | None
    claim: Claim | None
    pods: tuple[Pod, ...] = ()
    disruption_budgets: tuple[PodDisruptionBudget, ...] = ()
    workloads: Mapping[str, Workload] = field(default_factory=dict)
    """What stands behind the pods, by `PodClass.workload`; what is missing is not known."""
    workloads_at: datetime | None = None  # When they were read.
    other_claims: OtherClaims = field(default_factory=OtherClaims)
    """What the other claims move of workloads without a PodDisruptionBudget."""
    working: int = 1  # How many drains move pods in the cluster, this one among them: they share the API server.
    unbound: tuple[Pod, ...] = ()  # Read after the workloads: rather too many pods are known than too few.
    deletion_begun_at: datetime | None = None
    """When the autoscaler last began to delete the node; read only where our cordon was cleared under our taint."""
    policy: Policy | None = None  # None: missing or invalid; a running drain goes on with the settings of its claim.
    paused: bool = False  # The pause flag of the state.
    emptied_at: datetime | None = None  # Since when no look of this drain has seen a pod that is to move.
    proof: Proof | None = None  # None: this step has made none.
    others: OtherDrains | None = None  # None: not read, for it is rarely needed.
    in_upgrade: bool = False  # Whether its pool's upgrade may be emptying it; read only before it would be returned.
    buffers: Buffers = NO_BUFFERS  # The capacity buffers; read only where there were some before the first eviction.


@dataclass(frozen=True)
class Drain:
    record: DrainRecord
    observed: Observation
    now: datetime

    @property
    def order_id(self) -> str:
        return self.record.order.order_id

    @property
    def node(self) -> Node:
        """The node, for the rules that follow the one which settles a drain without a node."""
        assert self.observed.node is not None  # noqa: S101 - `node_gone` stands before every rule that asks
        return self.observed.node

    @cached_property
    def pod_rules(self) -> DrainContext:
        """The planner's pod rules on what was seen, with the settings that the drain was begun with."""
        seen = self.observed
        settings = seen.claim.settings if seen.claim else DrainSettings()
        rules = self.record.rules or PodRules()  # A record of a version that kept none holds nothing against a pod.
        return DrainContext(seen.disruption_budgets, rules, self.now, seen.workloads, settings)


LOOK_EVERY: Final = timedelta(seconds=1)


@dataclass(frozen=True)
class Cordon:
    node: Node


@dataclass(frozen=True)
class WritePhase:
    """Write the phase reached, act on nothing: the world is already there."""

    phase: DrainPhase


@dataclass(frozen=True)
class Prove:
    """Look at the whole cluster whether what would be moved still has a place."""


@dataclass(frozen=True)
class Compare:
    """Look at what the other drains have moved: one of them may have to give its node back in our stead."""


@dataclass(frozen=True)
class Evict:
    pods: tuple[Pod, ...]


@dataclass(frozen=True)
class Restart:
    """Restart the Deployment of these pods: its controller starts others, then ends them."""

    deployment: str  # `namespace/Deployment/name`.
    pods: tuple[Pod, ...]


@dataclass(frozen=True)
class Await:
    pause: timedelta = LOOK_EVERY


@dataclass(frozen=True)
class LeaveToAutoscaler:
    """Nothing is left to do for this order: the node is the cluster autoscaler's."""

    replaced: bool = False  # Whether all that was moved runs again, which ends a budget.


@dataclass(frozen=True)
class ReturnNode:
    why: ReturnReason
    detail: str = ""
    gave_way_for: tuple[str, ...] = ()  # Keys of the pods without a node for which it gives way: others need not.


@dataclass(frozen=True)
class Settle:
    """Nothing is left to do in the cluster: write how it ended."""

    outcome: Outcome


LastStep = LeaveToAutoscaler | ReturnNode | Settle  # A step after which this order has nothing left to do.
Step = Cordon | WritePhase | Prove | Compare | Restart | Evict | Await | LastStep


def log_fields(record: DrainRecord, now: datetime) -> dict[str, Any]:
    """Return what a drain took until now, as the fields of a log line; what is not known yet is left out."""
    # `drain_seconds` ends when what was moved had a node again; `deletion_seconds` is the autoscaler's time.
    begun, emptied = record.cordoned_at, record.drained_at
    took = {
        "drain_seconds": (emptied or now) - begun if begun else None,
        "deletion_seconds": now - emptied if emptied else None,
    }
    seconds = {name: round(value.total_seconds(), 3) for name, value in took.items() if value is not None}
    return {**seconds, "pods_evicted": sum(row.moved for row in record.pods.values())}
