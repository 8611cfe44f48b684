"""What healing looks at, what it may ask for, and a standing claim as its rules see it.

A circuit breaker stands over a pool in which our work went wrong: it gets no new drain for a while.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Final

from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.draining.cordon import may_be_taken, waits_long
from shared.core.draining.replacements import claims_on_their_way_out, for_one_pod, is_late, waiting_for_a_place
from shared.core.placement.demand import RoomWanted, as_returned, nodes_for_buffers, nodes_to_return, waiting_pods
from shared.core.policy import Policy
from shared.core.reasons import After, ReturnReason
from shared.core.records.claims import open_breakers
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.orders import Origin
from shared.core.records.state import Breaker, Claim, ClusterState

OPEN_FOR: Final = timedelta(minutes=30)  # As long as a first back-off: the pods' owners get time to settle.
MOST_FAILURES: Final = 3
FAILURES_WITHIN: Final = timedelta(hours=1)
FAILED_DRAINS: Final = frozenset(why.value for why in ReturnReason if why.row.after is After.FAILURE)
"""Reasons that show that draining in this pool does not work just now."""


def breaker_over(claim: Claim, state: ClusterState, now: datetime) -> Breaker | None:
    """Return the breaker that stands open over a claim and ends it: one whose half hour began after it was granted."""
    # That of failed drains begins with the newest of them, before a pass opens it. A person may order a drain past an
    # open breaker (`manual.mayIgnore`); the planner orders none.
    breaker = open_breakers(state, now).get(claim.pool)
    if breaker is None or (claim.origin is not Origin.PLANNER and claim.since >= breaker.until - OPEN_FOR):
        return None
    return breaker


def after_failures(snapshot: Snapshot, state: ClusterState, now: datetime) -> Mapping[str, Breaker]:
    """Return a breaker for each pool in which three nodes failed to drain within an hour."""
    failures: dict[str, list[datetime]] = {}
    for node in snapshot.nodes:
        backoff = state.backoffs.get(node.uid)
        if backoff is not None and backoff.why in FAILED_DRAINS and now - backoff.since < FAILURES_WITHIN:
            failures.setdefault(node.pool, []).append(backoff.since)
    many = {pool: max(times) for pool, times in failures.items() if len(times) >= MOST_FAILURES}
    return {
        pool: Breaker(newest + OPEN_FOR, f"{len(failures[pool])} drains failed within an hour")
        for pool, newest in many.items()
        if now < newest + OPEN_FOR
    }


def after_scale_ups(
    snapshot: Snapshot,
    claims: Iterable[Claim],
    records: Mapping[str, DrainRecord],
    scale_ups: Mapping[str, datetime],
    now: datetime,
) -> Mapping[str, Breaker]:
    grown = {pod.spec.workload: (pod.key, scale_ups[pod.key]) for pod in snapshot.pods if pod.key in scale_ups}
    found: dict[str, Breaker] = {}
    for claim in sorted(claims, key=lambda claim: claim.node):
        for workload in sorted(evicted_workloads(records.get(claim.order_id)) & grown.keys()):
            pod, at = grown[workload]
            if at > claim.since:
                found.setdefault(claim.pool, Breaker(now + OPEN_FOR, f"a node was added for {pod} after a drain"))
    return found


def after_stranded_pods(
    snapshot: Snapshot, claims: Iterable[Claim], records: Mapping[str, DrainRecord], now: datetime
) -> Mapping[str, Breaker]:
    """Return a breaker for each pool of which a moved pod's replacement has waited too long."""
    # A replacement is a pod of a workload from which a standing claim has evicted, that waits only since that claim.
    waits = waiting_pods(snapshot)
    held = for_one_pod(claims_on_their_way_out(snapshot.pods), snapshot.storage)
    found: dict[str, Breaker] = {}
    for claim in sorted(claims, key=lambda claim: claim.node):
        record = records.get(claim.order_id)
        moved, held_at = evicted_workloads(record), record.claims_held_at if record else None
        ours = (waiting_for_a_place(pod, held, held_at) for pod in waits if pod.spec.workload in moved)
        since = (pod for pod in ours if pod.unschedulable_since and pod.unschedulable_since >= claim.since)
        late = (pod for pod in since if is_late(pod, claim.settings.pending_grace, now))
        pod = min(late, key=lambda our: our.key, default=None)
        if pod is not None:
            found.setdefault(claim.pool, Breaker(now + OPEN_FOR, f"{pod.key} found no place after a drain"))
    return found


def evicted_workloads(record: DrainRecord | None) -> frozenset[str]:
    rows = record.pods.values() if record else ()
    return frozenset(row.owner for row in rows if row.owner and row.moved)


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
