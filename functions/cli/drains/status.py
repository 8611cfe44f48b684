"""What a running Ebb remembers, for a person, from the state alone."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from functions.cli.drains.drain import held_by, why_sentence
from functions.cli.output.format import span
from shared.core.draining.cordon import watchdog_ends
from shared.core.reasons import Outcome
from shared.core.records.claims import on_their_way, open_breakers
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.state import INTERVAL, Backoff, Breaker, Claim, ClusterState, PoolMarks, Wave, silence
from shared.ports import WAVE_KEY, State
from shared.store.compare_and_set import read_cluster, read_lenient, readable

RESULTS: Final = 10
NO_RECORD: Final = "no_record"
"""The phase of a claim whose drain's record is missing; healing gives its node back."""
PUBLISHED: Final = "published"
"""The phase of an order that no drainer has claimed yet; forgotten at its deadline."""
_LOOK_AT: Final = "check the planner's log and the Cloud Scheduler job"


@dataclass(frozen=True, slots=True)
class HeldNode:
    """One claim with its drain's record, or one order that is still on its way to the drainer."""

    uid: str
    claim: Claim
    phase: str
    held_by: tuple[str, ...] = ()
    deadline: datetime | None = None
    """When the node is uncordoned unless it is done: emptied by then, or once it is drained, deleted by then."""
    requested_by: str = ""


class MarkedPool(NamedTuple):
    """A pool's marks; `oldest` is the time of the first of them."""

    pool: str
    nodes: int
    oldest: datetime


@dataclass(frozen=True, slots=True)
class PastDrain:
    """One drain that ended. `sentence` is empty if the outcome is enough, `took` None if nothing was claimed."""

    record: DrainRecord
    ended_at: datetime
    took: timedelta | None
    moved: int
    sentence: str


def past_drains(records: Iterable[DrainRecord]) -> tuple[PastDrain, ...]:
    """Return the drains that ended, newest first; those that are under way are no history."""
    settled = (record for record in records if record.phase is DrainPhase.SETTLED)
    ended = (_past(record, record.updated_at) for record in settled if record.updated_at)
    return tuple(sorted(ended, key=lambda past: (past.ended_at, past.record.order.order_id), reverse=True))


def _past(record: DrainRecord, ended: datetime) -> PastDrain:
    is_claimed = record.outcome not in {Outcome.REFUSED, Outcome.WOULD_DRAIN}
    took = ended - record.begun_at if record.begun_at and is_claimed else None
    moved = sum(pod.moved for pod in record.pods.values())
    return PastDrain(record, ended, took, moved, why_sentence(record))


@dataclass(frozen=True, slots=True)
class InstallationStatus:
    """Everything at one time, the state's own."""

    cluster: str
    now: datetime
    state: ClusterState
    claims: tuple[HeldNode, ...]
    marks: tuple[MarkedPool, ...]
    drains: tuple[PastDrain, ...]
    """Those that ended, the last first."""
    unreadable: tuple[str, ...] = ()
    """Why documents were skipped, each with its name."""
    interval: timedelta = INTERVAL
    wave: Wave | None = None

    @property
    def outcomes(self) -> dict[str, int]:
        """How many drains ended with each outcome, the most frequent first."""
        found = Counter(past.record.outcome for past in self.drains)
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    @property
    def backoffs(self) -> list[tuple[str, Backoff]]:
        found = (row for row in self.state.backoffs.items() if row[1].until > self.now)
        return sorted(found, key=lambda row: (row[1].until, row[1].node))

    @property
    def breakers(self) -> list[tuple[str, Breaker]]:
        return sorted(open_breakers(self.state, self.now).items())

    @property
    def saved_nodes(self) -> int:
        return sum(pool.nodes for pool in self.state.reclaimed)

    @property
    def saved(self) -> int:
        """Micro-dollars per hour, on the low side: a node counts for a day at most, and until its pool gets one."""
        return sum(pool.cost_per_hour for pool in self.state.reclaimed)

    @property
    def warnings(self) -> tuple[str, ...]:
        skipped = tuple(f"Skipped, not read: {fault}" for fault in self.unreadable)
        return (*self._silence(), *skipped)

    def _silence(self) -> tuple[str, ...]:
        if self.state.last_pass is None:
            return (f"No pass ever completed in this state: {_LOOK_AT}.",)
        if self.now - self.state.last_pass < silence(self.interval):
            return ()
        return (f"No pass completed in the last {span(silence(self.interval))}; all marks were reset: {_LOOK_AT}.",)


def read_status(cluster: str, documents: State, interval: timedelta = INTERVAL) -> InstallationStatus:
    state, _, now = read_cluster(documents)
    pools, drains = documents.all("pools", PoolMarks), documents.all("drains", DrainRecord)
    wave = read_lenient(documents, WAVE_KEY)
    status = status_of(cluster, state, readable(pools), readable(drains), now, interval)
    living = wave.value if wave.value and now < wave.value.deadline else None
    faults = (*(row.fault for row in pools.values()), *(row.fault for row in drains.values()), wave.fault)
    return replace(status, wave=living, unreadable=tuple(filter(None, faults)))


def status_of(
    cluster: str,
    state: ClusterState,
    pools: Mapping[str, PoolMarks],
    drains: Mapping[str, DrainRecord],
    now: datetime,
    interval: timedelta = INTERVAL,
) -> InstallationStatus:
    marks = tuple(
        MarkedPool(pool, len(found.marks), min(mark.since for mark in found.marks.values()))
        for pool, found in sorted(pools.items())
        if found.marks
    )
    claims, ended = _claims(state, drains, now), past_drains(drains.values())
    return InstallationStatus(cluster, now, state, claims, marks, ended, interval=interval)


def _claims(state: ClusterState, drains: Mapping[str, DrainRecord], now: datetime) -> tuple[HeldNode, ...]:
    rows = [_held_node(uid, claim, drains.get(claim.order_id)) for uid, claim in state.claims.items()]
    rows += [
        HeldNode(uid, order.claim, PUBLISHED, (), order.expires_at) for uid, order in on_their_way(state, now).items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.claim.since, row.claim.node)))


def _held_node(uid: str, claim: Claim, record: DrainRecord | None) -> HeldNode:
    if record is None:
        return HeldNode(uid, claim, NO_RECORD)
    deadline = watchdog_ends(record, claim.settings) or record.deadline
    return HeldNode(uid, claim, record.phase.value, held_by(record), deadline, record.order.requested_by)
