"""The drains of the last weeks: reason, requester, duration, outcome and savings, as a view and as a table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.drains.outcome import why_sentence
from functions.cli.output.format import clock, count, dollars, moment, monthly, rfc3339, shared_beginning, span
from shared.core.reasons import Outcome
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


_ROOM_BESIDE = 150
"""From here on who ordered a drain and what it ended with have columns of their own."""
_GAP = 2
_LEAST_WHY = 40


def show(console: Console, history: History) -> None:
    """Print the drains, how many ended how, and what is saved now."""
    console.print(f"{history.cluster}, {moment(history.now)}\n")
    if not history.drains:
        console.print("No drain has ended in the last 30 days.")
        return
    _show(console, history)
    counted = ", ".join(f"{outcome}: {number:,}" for outcome, number in history.outcomes.items())
    more = sum(history.outcomes.values()) - len(history.drains)
    console.print(f"\n{counted}{f'; {more:,} older ones are not shown' if more else ''}.")
    nodes = count(history.saved_nodes, "node")
    console.print(f"Still saved: {nodes} removed within a day and not come back, {monthly(history.saved)} a month.")


def _show(console: Console, history: History) -> None:
    """Print a line a drain; a name of a node loses what all share before it is broken."""
    names, rows = (
        [past.record.order.node for past in history.drains],
        [_cells(past, history) for past in history.drains],
    )
    beside = [_beside(past) for past in history.drains]
    wide = not console.is_terminal or (
        console.width >= _ROOM_BESIDE and _width(rows, names, [who for who, _ in beside]) + _LEAST_WHY <= console.width
    )
    begin = "" if wide or _width(rows, names) <= console.width else shared_beginning(names)
    if begin:
        console.print(f"Names of nodes begin with {begin}")
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for title in (*_TITLES, "node", *(("ordered", "why") if wide else ())):
        table.add_column(title, no_wrap=title in _TITLES, overflow="fold")
    for cells, name, (who, why) in zip(rows, names, beside, strict=True):
        shown = f"…{name.removeprefix(begin)}" if begin else name
        table.add_row(*map(Text, (*cells, shown, *((who, why) if wide else ()))))
        if not wide:
            table.add_row(*("" for _ in cells), Text("; ".join(filter(None, (who, why))), style="dim"))
    console.print(table)


_TITLES = ("ended", "outcome", "took", "pods")


def _cells(past: PastDrain, history: History) -> tuple[str, ...]:
    took = span(past.took) if past.took is not None else "-"
    return clock(past.ended_at, history.now), past.record.outcome, took, f"{past.moved:,}"


def _beside(past: PastDrain) -> tuple[str, str]:
    """Return who ordered it, or why, and what it ended with."""
    order, word = past.record.order, past.record.why
    why = " ".join(part for part in (f"{word}:" if word else "", past.sentence) if part)
    return order.requested_by or order.reason or order.kind.value, why


def _width(rows: Sequence[Sequence[str]], *columns: Sequence[str]) -> int:
    """Return the characters that lines of these cells and further columns take whole."""
    found = [*zip(_TITLES, *rows, strict=True), *columns]
    return sum(max(map(len, column)) for column in found) + _GAP * (len(found) - 1)
