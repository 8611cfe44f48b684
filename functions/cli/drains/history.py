"""The drains of the last weeks: what, why, for whom, how long, how it ended; and what is saved of it now.

All of it stands in the state: a drain's record is kept for 30 days. Must not judge.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from functions.cli.drains.outcome import why_sentence
from functions.cli.format import dollars, rfc3339
from shared.core.outcomes import Outcome
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.state import Reclaimed
from shared.ports import State
from shared.store.compare_and_set import read_cluster

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class PastDrain:
    """One drain that ended. `took` is the time from its first step to its end; None where nothing was claimed."""

    record: DrainRecord
    ended_at: datetime
    took: timedelta | None
    moved: int
    sentence: str


@dataclass(frozen=True, slots=True)
class History:
    """The drains, newest first, and the nodes that are gone and have not come back."""

    cluster: str
    now: datetime
    drains: tuple[PastDrain, ...]
    outcomes: Mapping[str, int]
    """Of all of them, those that are not shown included."""
    saved_nodes: int
    saved: int
    """Micro-dollars per hour, on the low side: a node counts for a day at most, and until one is added to its pool."""


def read_history(cluster: str, documents: State, most: int | None) -> History:
    """Read the state.

    Raises:
        Retryable, Terminal: the state does not answer, or the cluster's document was not written by this version.
    """
    state, _, now = read_cluster(documents)
    records = (each.value for each in documents.all("drains", DrainRecord).values() if each.value is not None)
    return history_of(cluster, records, state.reclaimed, now, most)


def history_of(
    cluster: str,
    records: Iterable[DrainRecord],
    reclaimed: Iterable[Reclaimed],
    now: datetime,
    most: int | None = None,
) -> History:
    """Return what a person reads of these records; drains that are under way are no history."""
    ended = sorted(
        (_past(each, each.updated_at) for each in records if each.phase is DrainPhase.SETTLED and each.updated_at),
        key=lambda each: (each.ended_at, each.record.order.order_id),
        reverse=True,
    )
    outcomes: dict[str, int] = {}
    for each in ended:
        outcomes[each.record.outcome] = outcomes.get(each.record.outcome, 0) + 1
    saved = tuple(reclaimed)
    return History(
        cluster,
        now,
        tuple(ended[:most]),
        dict(sorted(outcomes.items(), key=lambda item: (-item[1], item[0]))),
        sum(each.nodes for each in saved),
        sum(each.cost_per_hour for each in saved),
    )


def _past(record: DrainRecord, ended: datetime) -> PastDrain:
    is_claimed = record.outcome not in {Outcome.REFUSED, Outcome.WOULD_DRAIN}
    took = ended - record.begun_at if record.begun_at and is_claimed else None
    moved = sum(each.moved for each in record.pods.values())
    return PastDrain(record, ended, took, moved, why_sentence(record))


def document(history: History) -> dict[str, Any]:
    """Return the history as what json.dumps takes; every key is always there."""
    return {
        "schema": SCHEMA,
        "cluster": history.cluster,
        "read_at": rfc3339(history.now),
        "outcomes": dict(history.outcomes),
        "saved_nodes": history.saved_nodes,
        "saved_per_hour": float(round(dollars(history.saved), 4)),
        "drains": [_drain(each) for each in history.drains],
    }


def _drain(past: PastDrain) -> dict[str, Any]:
    record = past.record
    return {
        "order_id": record.order.order_id,
        "node": record.order.node,
        "reason": record.order.reason or None,
        "origin": record.order.origin,
        "requested_by": record.order.requested_by or None,
        "ended_at": rfc3339(past.ended_at),
        "seconds": None if past.took is None else round(past.took.total_seconds()),
        "pods_moved": past.moved,
        "outcome": record.outcome,
        "why": record.why or None,
        "detail": record.detail or None,
    }
