"""What healing looks at, what it may ask for, and a standing claim as its rules see it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.draining.cordon import may_be_taken, waits_long
from shared.core.healing.breakers import after_failures, after_scale_ups, after_stranded_pods, evicted_workloads
from shared.core.placement.demand import RoomWanted, as_returned, nodes_for_buffers, nodes_to_return
from shared.core.policy import Policy
from shared.core.reasons import ReturnReason
from shared.core.records.claims import open_breakers
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.state import Breaker, Claim, ClusterState


class RepairKind(StrEnum):
    SETTLE = "settle"  # The node is gone: end the claim as removed.
    CONTINUE = "continue"  # The step fell silent: publish the order again with the next generation.
    RELEASE = "release"  # Publish a release: the drainer gives the node back.
    FAULT = "fault"  # A rule failed by a fault of Ebb: nothing can be done but to log it.


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing to repair. `why` is the reason that a release will record; None for the others."""

    kind: RepairKind
    uid: str
    node: str
    order_id: str
    why: ReturnReason | None = None
    detail: str = ""
    pool: str = field(default="", compare=False)
    not_before: datetime | None = None  # Until then the cause may end by itself.


@dataclass(frozen=True)
class HealingInput:
    """What healing looks at: one snapshot, the state as it stood before it, the records of the standing claims."""

    snapshot: Snapshot
    state: ClusterState
    records: Mapping[str, DrainRecord]  # By order id; a claim without one is judged by its node.
    policy: Policy | None
    now: datetime
    begun_deletions: Mapping[str, datetime] = field(default_factory=dict)
    """When the autoscaler last began to delete a node whose cordon is gone and whose taint is ours, by node name."""
    scale_ups: Mapping[str, datetime] = field(default_factory=dict)  # When a node was added for a pod, by its key.

    @cached_property
    def stranded(self) -> Mapping[str, Breaker]:
        return after_stranded_pods(self.snapshot, self.state.claims.values(), self.records, self.now)

    @cached_property
    def breakers(self) -> Mapping[str, Breaker]:
        """Breakers that open in this pass, by pool; one that stands open does not open again."""
        bought = after_scale_ups(self.snapshot, self.state.claims.values(), self.records, self.scale_ups, self.now)
        found = {**after_failures(self.snapshot, self.state, self.now), **bought, **self.stranded}
        standing = open_breakers(self.state, self.now)
        return {pool: breaker for pool, breaker in found.items() if pool not in standing}

    @cached_property
    def wanted(self) -> Mapping[str, RoomWanted]:
        """Held nodes that would take a waiting pod, by node name."""
        drains = (self.records.get(claim.order_id) for claim in self.state.claims.values())
        moved = frozenset[str]().union(*map(evicted_workloads, drains))
        found = nodes_to_return(self.snapshot, self._held, moved)
        return {**self._wanted_for_long(found, moved), **found} if self._in_upgrades else found

    def _wanted_for_long(self, found: Mapping[str, RoomWanted], moved: Collection[str]) -> Mapping[str, RoomWanted]:
        """Return the same of pods that wait as long as an upgrade may take a node, with those nodes returned."""
        free = {name for name, room in found.items() if room.not_before is None}
        nodes = tuple(as_returned(node) if node.name in free else node for node in self.snapshot.nodes)
        long = tuple(pod for pod in self.snapshot.pods if pod.node or waits_long(pod, self.now))
        held = [node for node in (*self._held, *self._in_upgrades) if node.name not in free]
        return nodes_to_return(replace(self.snapshot, nodes=nodes, pods=long), held, moved)

    @cached_property
    def wanted_by_buffers(self) -> Mapping[str, str]:
        """Held nodes on which capacity buffers would have room that they have nowhere else."""
        # The buffer, by node name.
        # Pods that wait come first: a node that is returned for one is no buffer's yet.
        served = all(room.not_before is not None for room in self.wanted.values())
        return nodes_for_buffers(self.snapshot, self._held) if served else {}

    @cached_property
    def _held(self) -> tuple[Node, ...]:
        """Held nodes that would be room again at once."""
        return tuple(node for node in self._claimed if not self.may_be_taken(node))

    @cached_property
    def _in_upgrades(self) -> tuple[Node, ...]:
        """Held nodes that would be room again, or are being emptied by an upgrade: nothing shows which."""
        return tuple(node for node in self._claimed if self.may_be_taken(node))

    @cached_property
    def _claimed(self) -> tuple[Node, ...]:
        """Held nodes; where others are seen to work on one, our cordon keeps pods away for them, too."""
        claimed = (self.node(uid, claim) for uid, claim in self.state.claims.items())
        return tuple(node for node in claimed if node is not None and not node.lifecycle and not node.outside)

    def node(self, uid: str, claim: Claim) -> Node | None:
        """Return the very node that was claimed, not one reborn under its name."""
        node = self.snapshot.node_by_name.get(claim.node)
        return node if node is not None and node.uid == uid else None

    def may_be_taken(self, node: Node) -> bool:
        return may_be_taken(node, self.snapshot.pools.get(node.pool), self.snapshot.nodes)


@dataclass(frozen=True)
class StandingClaim:
    inputs: HealingInput
    uid: str
    claim: Claim

    @property
    def node(self) -> Node | None:
        return self.inputs.node(self.uid, self.claim)

    @property
    def record(self) -> DrainRecord | None:
        return self.inputs.records.get(self.claim.order_id)

    @property
    def drained_record(self) -> DrainRecord | None:
        return self.record if self.record is not None and self.record.phase is DrainPhase.DRAINED else None

    def repair(self, kind: RepairKind, why: ReturnReason | None = None, detail: str = "") -> Repair:
        return Repair(kind, self.uid, self.claim.node, self.claim.order_id, why, detail, pool=self.claim.pool)

    def release(self, why: ReturnReason, detail: str = "", not_before: datetime | None = None) -> Repair:
        return replace(self.repair(RepairKind.RELEASE, why, detail), not_before=not_before)
