"""The drains of the last weeks: reason, requester, duration, outcome and savings, as a view and as a table."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from rich.console import Console

from functions.cli.drains.status import PastDrain, past_drains
from functions.cli.drains.status_table import wrap_last
from functions.cli.drains.week import months_document, show_months
from functions.cli.output.format import clock, count, dollars, moment, monthly, rfc3339, span
from functions.cli.output.tables import draw
from shared.core.records.drain_record import DrainRecord
from shared.core.records.ledger import Ledger
from shared.core.records.state import Reclaimed
from shared.port_types import LEDGER_KEY
from shared.ports import State
from shared.store.compare_and_set import read_cluster, read_lenient

SCHEMA: Final = 1


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
    ledger: Ledger | None = None


def read_history(cluster: str, documents: State, most: int | None) -> History:
    """Read the state.

    Raises:
        Retryable, Terminal: the state does not answer, or the cluster's document was not written by this version.
    """
    state, _, now = read_cluster(documents)
    records = (row.value for row in documents.all("drains", DrainRecord).values() if row.value is not None)
    ledger = read_lenient(documents, LEDGER_KEY).value
    return replace(history_of(cluster, records, state.reclaimed, now, most), ledger=ledger)


def history_of(
    cluster: str,
    records: Iterable[DrainRecord],
    reclaimed: Iterable[Reclaimed],
    now: datetime,
    most: int | None = None,
) -> History:
    """Return what a person reads of these records; drains that are under way are no history."""
    ended = past_drains(records)
    outcomes = Counter(past.record.outcome for past in ended)
    saved = tuple(reclaimed)
    return History(
        cluster,
        now,
        ended[:most],
        dict(sorted(outcomes.items(), key=lambda item: (-item[1], item[0]))),
        sum(pool.nodes for pool in saved),
        sum(pool.cost_per_hour for pool in saved),
    )


def document(history: History) -> dict[str, Any]:
    """Return the history as what json.dumps takes; every key is always there."""
    return {
        "schema": SCHEMA,
        "cluster": history.cluster,
        "read_at": rfc3339(history.now),
        "outcomes": dict(history.outcomes),
        "saved_nodes": history.saved_nodes,
        "saved_per_hour": float(round(dollars(history.saved), 4)),
        "months": months_document(history.ledger),
        "drains": [_drain(past) for past in history.drains],
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


_LEAST_WHY: Final = 40
"""With less room a drain has a second line: how long it took, who ordered it and what it ended with."""
_TITLES: Final = ("ended", "outcome", "node")
_MORE: Final = ("took", "pods", "ordered", "why")


def show(console: Console, history: History) -> None:
    """Print the drains, how many ended how, and what is saved now."""
    console.print(f"{history.cluster}, {moment(history.now)}\n")
    if not history.drains:
        console.print("No drain has ended in the last 30 days.")
        show_months(console, history.ledger)
        return
    rows = [_row(past, history.now) for past in history.drains]
    whole = wrap_last((*_TITLES, *_MORE), rows)
    if whole.without_columns({"why"}).width + _LEAST_WHY <= console.width:
        draw(console, whole)
    else:
        narrow = [(*row[:3], f"{row[3]}, {row[4]} pods; {'; '.join(filter(None, row[5:]))}") for row in rows]
        draw(console, wrap_last((*_TITLES, ""), narrow, below=True))
    counted = ", ".join(f"{outcome}: {number:,}" for outcome, number in history.outcomes.items())
    more = sum(history.outcomes.values()) - len(history.drains)
    console.print(f"\n{counted}{f'; {more:,} older ones are not shown' if more else ''}.")
    nodes = count(history.saved_nodes, "node")
    console.print(f"Still saved: {nodes} removed within a day and not come back, {monthly(history.saved)} a month.")
    show_months(console, history.ledger)


def _row(past: PastDrain, now: datetime) -> tuple[str, ...]:
    """Return what happened, who ordered it or why, and what it ended with."""
    order, word = past.record.order, past.record.why
    took = span(past.took) if past.took is not None else "-"
    why = " ".join(part for part in (f"{word}:" if word else "", past.sentence) if part)
    whose = order.requested_by or order.reason or order.kind.value
    return clock(past.ended_at, now), past.record.outcome, order.node, took, f"{past.moved:,}", whose, why
