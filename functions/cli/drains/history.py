"""The drains of the last weeks: reason, requester, duration, outcome and savings, as a view and as a table."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from rich.console import Console

from functions.cli.drains.status import PastDrain, past_drains
from functions.cli.output.format import clock, count, dollars, moment, monthly, rfc3339, shared_beginning, span
from functions.cli.output.tables import DIM, Column, Table, draw
from functions.cli.output.terminal import IN_A_FILE
from shared.core.records.drain_record import DrainRecord
from shared.core.records.state import Reclaimed
from shared.ports import State
from shared.store.compare_and_set import read_cluster

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
    ended = past_drains(records)
    outcomes = Counter(each.record.outcome for each in ended)
    saved = tuple(reclaimed)
    return History(
        cluster,
        now,
        ended[:most],
        dict(sorted(outcomes.items(), key=lambda item: (-item[1], item[0]))),
        sum(each.nodes for each in saved),
        sum(each.cost_per_hour for each in saved),
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


_ROOM_BESIDE: Final = 150
"""From here on who ordered a drain and what it ended with have columns of their own."""
_LEAST_WHY: Final = 40
_TITLES: Final = ("ended", "outcome", "took", "pods", "node")


def show(console: Console, history: History) -> None:
    """Print the drains, how many ended how, and what is saved now."""
    console.print(f"{history.cluster}, {moment(history.now)}\n")
    if not history.drains:
        console.print("No drain has ended in the last 30 days.")
        return
    width = console.width if console.is_terminal else IN_A_FILE
    draw(console, _table(history, width))
    counted = ", ".join(f"{outcome}: {number:,}" for outcome, number in history.outcomes.items())
    more = sum(history.outcomes.values()) - len(history.drains)
    console.print(f"\n{counted}{f'; {more:,} older ones are not shown' if more else ''}.")
    nodes = count(history.saved_nodes, "node")
    console.print(f"Still saved: {nodes} removed within a day and not come back, {monthly(history.saved)} a month.")


def _table(history: History, width: int) -> Table:
    """Return a row a drain; a name of a node loses what all share before it is broken."""
    rows = [_row(past, history.now) for past in history.drains]
    wide = Table.of((*map(Column, _TITLES), Column("ordered"), Column("why", wraps=True)), rows)
    if width >= _ROOM_BESIDE and Table(wide.columns[:-1]).width + wide.gap + _LEAST_WHY <= width:
        return wide
    beside = ["; ".join(filter(None, row[-2:])) for row in rows]
    node, below = Column("node", wraps=True), Column("", below=True, style=DIM)
    whole = Table.of(
        (*map(Column, _TITLES[:-1]), node, below), [(*row[:5], why) for row, why in zip(rows, beside, strict=True)]
    )
    begin = "" if whole.width <= width else shared_beginning([row[4] for row in rows])
    if not begin:
        return whole
    short = replace(whole.columns[4], cells=tuple(f"…{row[4].removeprefix(begin)}" for row in rows))
    return replace(
        whole, columns=(*whole.columns[:4], short, whole.columns[5]), lead=f"Names of nodes begin with {begin}"
    )


def _row(past: PastDrain, now: datetime) -> tuple[str, ...]:
    """Return what happened, who ordered it or why, and what it ended with."""
    order, word = past.record.order, past.record.why
    took = span(past.took) if past.took is not None else "-"
    why = " ".join(part for part in (f"{word}:" if word else "", past.sentence) if part)
    whose = order.requested_by or order.reason or order.kind.value
    return clock(past.ended_at, now), past.record.outcome, took, f"{past.moved:,}", order.node, whose, why
