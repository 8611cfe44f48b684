"""What one drain remembers from step to step: the document `clusters/{key}/drains/{order id}`.

The eviction API's answers are stored and logged as words that do not change; an unknown word is of a newer version.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec

from shared.core.policy import PodRules
from shared.core.reasons import Outcome, ReturnReason, reason_of_word
from shared.core.records.orders import Order
from shared.core.records.state import Lease


class DrainPhase(StrEnum):
    """How far a drain has come; each is written before the act that follows it begins."""

    ACCEPTED = "accepted"
    CLAIMED = "claimed"
    CORDONED = "cordoned"
    DRAINED = "drained"
    HALTING = "halting"
    SETTLED = "settled"


class PodProgress(msgspec.Struct, frozen=True, kw_only=True):
    """The eviction API's last answer for one pod."""

    uid: str
    answer: str  # A word of `EvictionAnswer`, or of a newer version.
    detail: str = ""
    refused: bool = False  # Of `later`: the API server was too busy to begin; otherwise the answer was lost.
    owner: str = ""  # `namespace/kind/name` of its controller: whose replacement is watched.
    attempts: int = 1
    at: datetime

    @property
    def moved(self) -> bool:
        return self.answer in LET_GO

    @property
    def may_leave(self) -> bool:
        """Whether the pod goes by our hand, or may: not after a refusal that is certain."""
        return self.answer not in STAYS and not self.refused

    def held_by_budget(self, uid: str, now: datetime) -> tuple[str, timedelta] | None:
        """Return which PodDisruptionBudget has held that pod since the last answer, and for how long; None if none."""
        return (self.detail, now - self.at) if self.uid == uid and self.answer == EvictionAnswer.BUDGET else None


class Replicas(msgspec.Struct, frozen=True, array_like=True):
    """How many replicas of a workload have a node, and how many are available."""

    bound: int
    available: int
    workload: str = ""  # Its name outlives a Deployment's ReplicaSet; empty in records of older versions.


class Surge(msgspec.Struct, frozen=True, kw_only=True):
    """A Deployment that is restarted for the drain, as it stood before."""

    uid: str
    before: str = ""  # The stamp that its template had: of an earlier drain, or none.
    template: str = ""  # The digest of its template, by which it is known whether somebody else has changed it since.
    at: datetime  # When the restart was asked for, and then when it was written.
    written: bool = False  # Whether it is known to stand there; otherwise the answer was lost, if it was asked for.
    generation: int = 0  # The Deployment's generation when the restart was asked for; 0 in records of older versions.
    looked_at: int | None = None  # The generation at which nothing of ours was left to undo.
    refused: int = 0  # How many releases after the drain's end were refused to undo it for good.
    stuck: bool = False  # Whether the last look was refused to undo it: a person has to.


class Objection(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that stood in an order's way: the reason's word, what it is about, details."""

    reason: str
    object: str = ""
    detail: str = ""


class DrainRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The document `clusters/{key}/drains/{order id}`."""

    order: Order
    phase: DrainPhase = DrainPhase.ACCEPTED
    node_uid: str = ""
    generation: int = 0
    lease: Lease | None = None
    begun_at: datetime | None = None
    cordoned_at: datetime | None = None
    cordoned_again_at: datetime | None = None  # When it was last set again, after the autoscaler had cleared it.
    deadline: datetime | None = None
    max_grace: timedelta = timedelta(minutes=8)  # From the claim's settings: the cap on each pod's grace period.
    rules: PodRules | None = None  # The policy's when the drain was begun; None: it could not be read.
    emptied_at: datetime | None = None  # Since when no look has seen a pod that is to move.
    claims_held_at: datetime | None = None  # When a replacement last waited for a ReadWriteOncePod claim in use.
    drained_at: datetime | None = None
    pods: dict[str, PodProgress] = {}  # By namespace/name.
    before: dict[str, Replicas | None] = {}
    """By controller (`PodClass.workload`), how each workload stood before its first eviction, written before that is
    asked for: what may have been moved is known even if the answer was lost. None: nobody counts its replicas."""
    surges: dict[str, Surge] = {}
    """By `namespace/Deployment/name`, what is restarted so that its pods leave without a gap; written before that is
    asked for."""
    buffers: dict[str, int] = {}
    """By namespace/name, for how many chunks of each capacity buffer there was room before the first eviction, by the
    autoscaler's own count."""
    outcome: str = ""
    why: str = ""  # The reason's word, for a refusal or a return.
    detail: str = ""
    gave_way_for: tuple[str, ...] = ()  # Keys of the waiting replacements for which the node is returned.
    objections: tuple[Objection, ...] = ()  # Of an order that was refused; `why` is the first of them.
    remark: str = ""  # What else the sender of the order should know.
    updated_at: datetime | None = None
    expire_at: datetime | None = None  # The store deletes the record some time after this (TTL, 30 days).

    @property
    def return_reason(self) -> ReturnReason | None:
        """Why the drain returns or has returned its node; None where it does not, or for another version's word."""
        found = reason_of_word(self.why, ReturnReason)
        return found if isinstance(found, ReturnReason) else None

    @property
    def cordon_set_at(self) -> datetime | None:
        """When the cordon that stands, or that somebody has cleared, was set."""
        return self.cordoned_again_at or self.cordoned_at

    def is_leased(self, now: datetime) -> bool:
        return self.lease is not None and self.lease.is_held(now)

    def is_silent(self, now: datetime, for_at_least: timedelta) -> bool:
        """Whether no step is at work, and none has written for so long."""
        wrote = self.updated_at
        return not self.is_leased(now) and (wrote is None or now - wrote >= for_at_least)


class EvictionAnswer(StrEnum):
    GRANTED = "granted"
    GONE = "gone"  # 404, or another pod has the name
    BUDGET = "budget"  # 429 with a DisruptionBudget cause: try again later
    LATER = "later"  # other 429, 5xx, timeouts: back off
    CONFLICT = "conflict"  # 409: look again
    TERMINATING = "terminating"  # 403 with cause NamespaceTerminating: await its end
    SEVERAL_PDBS = "several_pdbs"  # 500 "more than one PodDisruptionBudget": never
    FORBIDDEN = "forbidden"  # any other 403, 422, or a webhook's denial: never


ASKED: Final = "asked"  # In a record: it is being asked for; in a later step, that its answer was lost.
LET_GO: Final[frozenset[str]] = frozenset({EvictionAnswer.GRANTED, EvictionAnswer.GONE})  # It leaves or has left.
REFUSED_FOR_GOOD: Final[frozenset[str]] = frozenset({EvictionAnswer.SEVERAL_PDBS, EvictionAnswer.FORBIDDEN})
"""No repetition changes these."""
NO_OBJECTION: Final[frozenset[str]] = frozenset(EvictionAnswer) - REFUSED_FOR_GOOD - {EvictionAnswer.BUDGET}
"""Tried with dryRun, these do not foretell a failure; the real eviction will be asked again."""
STAYS: Final = REFUSED_FOR_GOOD | {EvictionAnswer.BUDGET, EvictionAnswer.CONFLICT, EvictionAnswer.TERMINATING}
"""The pod stays where it is, or ends with its namespace; after any other answer it may be leaving by our hand."""


def has_returned(record: DrainRecord | None) -> bool:
    """Whether the drain is over and its node was not removed by it: an autoscaler may take the node later."""
    return record is not None and record.phase is DrainPhase.SETTLED and record.outcome != Outcome.REMOVED.value
