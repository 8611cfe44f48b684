"""What earlier passes and drains left behind, and who repairs it.

Each finding rests on the picture and on what the state held before the picture began; whoever undoes
something repeats the finding on fresh reads first (docs/decisions/healing.md). Healing is never switched off.
Must not act: the planner settles or publishes.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as with_changes
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Final

from shared.core.cluster.annotation import holding_order, read_annotation
from shared.core.cluster.snapshot import Node, Pod, Snapshot
from shared.core.draining.cordon import uncordoned_by_autoscaler
from shared.core.draining.next_step import must_stop
from shared.core.healing.breakers import breakers_to_open
from shared.core.placement.demand import relieved
from shared.core.policy import Policy
from shared.core.reasons import Halt
from shared.core.records.state import Breaker, Claim, ClusterState, DrainPhase, DrainRecord

SILENT_AFTER: Final = timedelta(seconds=60)
"""A step that ended well has published its continuation by then."""


class RepairKind(StrEnum):
    """What repairs a finding."""

    SETTLE = "settle"
    """The node is gone: end the claim as removed."""
    CONTINUE = "continue"
    """The step fell silent: publish the order again with the next generation."""
    RELEASE = "release"
    """Publish a release: the drainer gives the node back."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing to repair. `why` is the halt that a release will record; None for the others."""

    kind: RepairKind
    uid: str
    node: str
    order_id: str
    why: Halt | None = None
    detail: str = ""
    pool: str = field(default="", compare=False)


@dataclass(frozen=True)
class HealingInput:
    """What healing looks at: one picture, the state as it stood before it, the records of the standing claims."""

    snapshot: Snapshot
    state: ClusterState
    records: Mapping[str, DrainRecord]
    """By order id; one that cannot be read is missing, and its claim is judged by what the node shows."""
    policy: Policy | None
    now: datetime
    failed_deletions: Mapping[str, datetime] = field(default_factory=dict)
    """When the autoscaler last failed to delete a node whose cordon is gone and whose taint is ours, by node name."""
    scale_ups: Mapping[str, datetime] = field(default_factory=dict)
    """When the autoscaler last started to add a node for a pod, by namespace/name."""

    @cached_property
    def breakers(self) -> Mapping[str, Breaker]:
        """Breakers that open in this pass, by pool."""
        return breakers_to_open(self.snapshot, self.state, self.records, self.scale_ups, self.now)

    @cached_property
    def relieved(self) -> Mapping[str, Pod]:
        """Held nodes that would take a waiting pod, by node name."""
        claimed = (self.node(uid, claim) for uid, claim in self.state.claims.items())
        return relieved(self.snapshot, [node for node in claimed if node is not None and not self.upgrades(node.pool)])

    def node(self, uid: str, claim: Claim) -> Node | None:
        """Return the very node that was claimed, not one reborn under its name."""
        node = self.snapshot.node_by_name.get(claim.node)
        return node if node is not None and node.uid == uid else None

    def upgrades(self, pool: str) -> bool:
        """Whether GKE upgrades the pool: it cordons nodes with the same flag as we do, and empties them."""
        known = self.snapshot.pools.get(pool)
        return known is not None and known.upgrading

    def settled_before(self, claim: Claim) -> bool:
        """Whether the claim was granted before the picture began."""
        return claim.since < self.snapshot.began_at


def find_repairs(inputs: HealingInput) -> tuple[Repair, ...]:
    """Return what is to be repaired, claims first, then orphan taints; each node at most once."""
    return (*_claim_repairs(inputs), *_orphan_repairs(inputs))


def _claim_repairs(inputs: HealingInput) -> Iterator[Repair]:
    for uid, claim in sorted(inputs.state.claims.items()):
        if not inputs.settled_before(claim):
            continue
        for rule in _CLAIM_RULES:
            repair = rule(inputs, uid, claim)
            if repair is not None:
                yield with_changes(repair, pool=claim.pool)
                break


def _removed(inputs: HealingInput, uid: str, claim: Claim) -> Repair | None:
    if inputs.node(uid, claim) is not None:
        return None
    return Repair(RepairKind.SETTLE, uid, claim.node, claim.order_id)


def _stopped(inputs: HealingInput, uid: str, claim: Claim) -> Repair | None:
    """A drained node has no step that would notice a pause: the pass does."""
    word = must_stop(inputs.policy, claim.pool, paused=inputs.state.paused)
    if not word:
        return None
    return Repair(RepairKind.RELEASE, uid, claim.node, claim.order_id, Halt.PAUSED, word)


def _demand(inputs: HealingInput, uid: str, claim: Claim) -> Repair | None:
    """Demand has returned: the room that this node is goes first (before any new node is bought)."""
    pod = inputs.relieved.get(claim.node)
    if pod is None:
        return None
    return Repair(RepairKind.RELEASE, uid, claim.node, claim.order_id, Halt.DEMAND, pod.key)


def _breaker(inputs: HealingInput, uid: str, claim: Claim) -> Repair | None:
    """A pod that we moved is stranded: what is not emptied yet is given back, its room helps at once."""
    record, breaker = inputs.records.get(claim.order_id), inputs.breakers.get(claim.pool)
    if breaker is None or record is None or record.phase is DrainPhase.DRAINED:
        return None
    return Repair(RepairKind.RELEASE, uid, claim.node, claim.order_id, Halt.BREAKER, breaker.why)


def _silent(inputs: HealingInput, uid: str, claim: Claim) -> Repair | None:
    record = inputs.records.get(claim.order_id)
    if record is None:
        return Repair(
            RepairKind.RELEASE, uid, claim.node, claim.order_id, Halt.ORPHAN, "no record of the drain can be read"
        )
    if record.phase in {DrainPhase.DRAINED, DrainPhase.SETTLED} or not _is_silent(record, inputs.now):
        return None
    return Repair(RepairKind.CONTINUE, uid, claim.node, claim.order_id, detail=f"silent in phase {record.phase.value}")


def _is_silent(record: DrainRecord, now: datetime) -> bool:
    """Whether no step is at work, nor can be on its way any more."""
    if record.lease is not None and record.lease.is_held(now):
        return False
    return record.updated_at is None or now - record.updated_at >= SILENT_AFTER


def _settled_record(inputs: HealingInput, uid: str, claim: Claim) -> Repair | None:
    """The record says it ended, the claim still stands: the step died between the two writes."""
    record = inputs.records.get(claim.order_id)
    if record is None or record.phase is not DrainPhase.SETTLED:
        return None
    return Repair(RepairKind.RELEASE, uid, claim.node, claim.order_id, Halt.ORPHAN, "the drain had already ended")


def _taken_back(inputs: HealingInput, uid: str, claim: Claim) -> Repair | None:
    """A person removed our taint or the cordon of a drained node."""
    node, record = inputs.node(uid, claim), inputs.records.get(claim.order_id)
    if node is None or record is None or record.phase is not DrainPhase.DRAINED:
        return None
    if node.drain_taint == claim.order_id and (node.unschedulable or _cleared_by_autoscaler(inputs, node, record)):
        return None
    return Repair(RepairKind.RELEASE, uid, claim.node, claim.order_id, Halt.OVERRULED)


def _cordon_lost(inputs: HealingInput, uid: str, claim: Claim) -> Repair | None:
    """The autoscaler failed to delete a drained node and cleared its cordon, which is to be set again."""
    node, record = inputs.node(uid, claim), inputs.records.get(claim.order_id)
    if node is None or record is None or record.phase is not DrainPhase.DRAINED or node.unschedulable:
        return None
    if not _cleared_by_autoscaler(inputs, node, record):
        return None
    return Repair(RepairKind.CONTINUE, uid, claim.node, claim.order_id, detail="uncordoned by the autoscaler")


def _cleared_by_autoscaler(inputs: HealingInput, node: Node, record: DrainRecord) -> bool:
    return uncordoned_by_autoscaler(node, inputs.failed_deletions.get(node.name), record.cordoned_at)


def _watchdog(inputs: HealingInput, uid: str, claim: Claim) -> Repair | None:
    record = inputs.records.get(claim.order_id)
    if record is None or record.phase is not DrainPhase.DRAINED or record.drained_at is None:
        return None
    if inputs.now - record.drained_at < claim.settings.watchdog or inputs.upgrades(claim.pool):
        return None
    return Repair(RepairKind.RELEASE, uid, claim.node, claim.order_id, Halt.WATCHDOG)


def _unwatched(inputs: HealingInput, uid: str, claim: Claim) -> Repair | None:
    """The step that noted the node as drained was lost before it wrote so into the claim: nobody sees what it moved."""
    record = inputs.records.get(claim.order_id)
    if record is None or record.phase is not DrainPhase.DRAINED or claim.drained is True:
        return None
    if not _is_silent(record, inputs.now):
        return None
    return Repair(RepairKind.CONTINUE, uid, claim.node, claim.order_id, detail="silent before its claim was drained")


def _orphan_repairs(inputs: HealingInput) -> Iterator[Repair]:
    """Our taint or annotation without a living claim: also the whole cluster's nodes after the state was lost."""
    for node in inputs.snapshot.nodes:
        order_id = holding_order(node)
        if order_id is None or node.uid in inputs.state.claims or taken_since(node, inputs.snapshot.began_at):
            continue
        yield Repair(RepairKind.RELEASE, node.uid, node.name, order_id, Halt.ORPHAN, pool=node.pool)


def taken_since(node: Node, began_at: datetime) -> bool:
    """Whether our annotation is as young as the picture: its claim may be younger than the state we read."""
    note = read_annotation(node)
    return note is not None and note.since >= began_at


ClaimRule = Callable[[HealingInput, str, Claim], Repair | None]
_CLAIM_RULES: Final[tuple[ClaimRule, ...]] = (
    # what has already ended
    _removed,
    _settled_record,
    # what must be given back now
    _stopped,
    _demand,
    _breaker,
    # what must go on, or has gone on too long: the watchdog before the cordon, or failing deletions would put it off,
    # and before a drained node's next step, or lost messages would
    _silent,
    _taken_back,
    _watchdog,
    _unwatched,
    _cordon_lost,
)
