"""What earlier passes and drains left behind, and who mends it.

Each finding rests on the picture and on what the state held before the picture began; whoever undoes
something repeats the finding on fresh reads first (design §5). Healing is never switched off.
Must not act: the planner settles or publishes.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from shared.core import names
from shared.core.draining import must_stop
from shared.core.policy import Policy
from shared.core.reasons import Halt
from shared.core.snapshot import Node, Snapshot
from shared.core.state import Claim, ClusterState, DrainPhase, DrainRecord


class Cure(StrEnum):
    """What mends a finding."""

    SETTLE = "settle"
    """The node is gone: end the claim as removed."""
    CONTINUE = "continue"
    """The step fell silent: publish the order again with the next generation."""
    RELEASE = "release"
    """Publish a release: the drainer gives the node back."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend. `why` is the halt that a release will record; None for the others."""

    cure: Cure
    uid: str
    node: str
    order_id: str
    why: Halt | None = None
    detail: str = ""


@dataclass(frozen=True)
class Ward:
    """What healing looks at: one picture, the state as it stood before it, the records of the standing claims."""

    snapshot: Snapshot
    state: ClusterState
    records: Mapping[str, DrainRecord]
    """By order id."""
    policy: Policy | None
    now: datetime

    def node(self, uid: str, claim: Claim) -> Node | None:
        """Return the very node that was claimed, not one reborn under its name."""
        node = self.snapshot.node_by_name.get(claim.node)
        return node if node is not None and node.uid == uid else None

    def settled_before(self, claim: Claim) -> bool:
        """Whether the claim was granted before the picture began."""
        return claim.since < self.snapshot.began_at


def findings(ward: Ward) -> tuple[Finding, ...]:
    """Return what is to be mended, claims first, then orphan taints; each node at most once."""
    return (*_sick_claims(ward), *_orphans(ward))


def _sick_claims(ward: Ward) -> Iterator[Finding]:
    for uid, claim in sorted(ward.state.claims.items()):
        if not ward.settled_before(claim):
            continue
        for rule in _CLAIM_RULES:
            finding = rule(ward, uid, claim)
            if finding is not None:
                yield finding
                break


def _removed(ward: Ward, uid: str, claim: Claim) -> Finding | None:
    if ward.node(uid, claim) is not None:
        return None
    return Finding(Cure.SETTLE, uid, claim.node, claim.order_id)


def _stopped(ward: Ward, uid: str, claim: Claim) -> Finding | None:
    """A drained node has no step that would notice a pause: the pass does."""
    word = must_stop(ward.policy, claim.pool, paused=ward.state.paused)
    if not word:
        return None
    return Finding(Cure.RELEASE, uid, claim.node, claim.order_id, Halt.PAUSED, word)


def _silent(ward: Ward, uid: str, claim: Claim) -> Finding | None:
    record = ward.records.get(claim.order_id)
    if record is None:
        return Finding(Cure.RELEASE, uid, claim.node, claim.order_id, Halt.ORPHAN, "the claim has no record")
    if record.phase in {DrainPhase.DRAINED, DrainPhase.SETTLED}:
        return None
    if record.lease is not None and record.lease.lives(ward.now):
        return None
    return Finding(Cure.CONTINUE, uid, claim.node, claim.order_id, detail=f"silent in phase {record.phase.value}")


def _settled_record(ward: Ward, uid: str, claim: Claim) -> Finding | None:
    """The record says it ended, the claim still stands: the step died between the two writes."""
    record = ward.records.get(claim.order_id)
    if record is None or record.phase is not DrainPhase.SETTLED:
        return None
    return Finding(Cure.RELEASE, uid, claim.node, claim.order_id, Halt.ORPHAN, "the drain had already ended")


def _taken_back(ward: Ward, uid: str, claim: Claim) -> Finding | None:
    """A person removed our taint or the cordon of a drained node."""
    node, record = ward.node(uid, claim), ward.records.get(claim.order_id)
    if node is None or record is None or record.phase is not DrainPhase.DRAINED:
        return None
    if node.drain_taint == claim.order_id and node.unschedulable:
        return None
    return Finding(Cure.RELEASE, uid, claim.node, claim.order_id, Halt.OVERRULED)


def _watchdog(ward: Ward, uid: str, claim: Claim) -> Finding | None:
    record = ward.records.get(claim.order_id)
    if record is None or record.phase is not DrainPhase.DRAINED or record.drained_at is None:
        return None
    if ward.now - record.drained_at < claim.settings.watchdog:
        return None
    return Finding(Cure.RELEASE, uid, claim.node, claim.order_id, Halt.WATCHDOG)


def _orphans(ward: Ward) -> Iterator[Finding]:
    """Our taint without a living claim: also the whole cluster's nodes after the state was lost."""
    for node in ward.snapshot.nodes:
        order_id = node.drain_taint
        if order_id is None or node.uid in ward.state.claims or taken_since(node, ward.snapshot.began_at):
            continue
        yield Finding(Cure.RELEASE, node.uid, node.name, order_id, Halt.ORPHAN)


def taken_since(node: Node, began_at: datetime) -> bool:
    """Whether our annotation is as young as the picture: its claim may be younger than the state we read."""
    try:
        since = datetime.fromisoformat(msgspec.json.decode(node.annotations[names.OUR_ANNOTATION])["since"])
    except (KeyError, TypeError, ValueError, msgspec.DecodeError):
        return False
    return since >= began_at


ClaimRule = Callable[[Ward, str, Claim], Finding | None]
_CLAIM_RULES: Final[tuple[ClaimRule, ...]] = (_removed, _settled_record, _stopped, _silent, _taken_back, _watchdog)
