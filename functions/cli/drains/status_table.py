"""Status and history on a terminal and as JSON. JSON keys are a contract; times are RFC 3339 in UTC, or null."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from functions.cli.drains.status import RESULTS, HeldNode, InstallationStatus, PastDrain
from functions.cli.output.format import clock, count, json_dollars, moment, monthly, rfc3339, span
from functions.cli.output.tables import BOLD, DIM, Column, Table, draw
from functions.cli.output.terminal import facts
from shared.core.records.state import Wave

_ROOM_FOR_ALL: Final = 110
"""Narrower than this the pool's column goes: it is part of a node's name."""


def show(console: Console, status: InstallationStatus) -> None:
    paused = Text(_pause_line(status), style="bold yellow" if status.state.paused else "")
    last = status.state.last_pass
    passed = f"{moment(last)}, {_ago(status.now, last)}" if last else "never"
    about = ("Cluster", status.cluster), ("Time", moment(status.now)), ("Last pass", passed)
    console.print(facts((*about, ("Paused", paused), *_wave_row(status)), style=BOLD))
    for warning in status.warnings:
        console.print(f"warning: {warning}", style="bold yellow")
    for title, table in _tables(status, wide=not console.is_terminal or console.width >= _ROOM_FOR_ALL):
        console.print()
        if not table.columns[0].cells:
            console.print(f"{title}: none", style=DIM)
            continue
        console.print(title, style=BOLD)
        draw(console, table)


def _wave_row(status: InstallationStatus) -> Iterator[tuple[str, str]]:
    wave = status.wave
    if wave and wave.nodes:
        began, ends = clock(wave.began, status.now), clock(wave.deadline, status.now)
        yield "Wave", f"{count(len(wave.nodes), 'node')} since {began}, until {ends} at the latest"
    if wave and wave.costly:
        yield "Costly", f"pods avoid {count(len(wave.costly), 'node')}, which cost more for their size than others"


def _ago(now: datetime, then: datetime) -> str:
    """Return `2m5s ago`; from an hour on without seconds, which nobody counts then."""
    passed = max(timedelta(0), now - then)
    if passed >= timedelta(hours=1):
        passed -= passed % timedelta(minutes=1)
    return f"{span(passed)} ago"


def _pause_line(status: InstallationStatus) -> str:
    if not status.state.paused:
        return "no; ebb pause --reason TEXT stops all drains (the policy may pause, too)"
    reason = status.state.pause_reason
    return f"yes{f': {reason}' if reason else ''} (ebb resume ends it)"


def _tables(status: InstallationStatus, *, wide: bool) -> Iterator[tuple[str, Table]]:
    """Yield a table for each thing that is remembered; the last column of each may take several lines."""

    def at(time: datetime | None) -> str:
        return clock(time, status.now) if time else ""

    rows = (
        (row.claim.node, row.claim.pool, at(row.claim.since), row.phase, at(row.deadline), ", ".join(row.held_by))
        for row in status.claims
    )
    claims = wrap_last(("node", "pool", "since", "phase", "until", "held by"), rows)
    yield "Claims", claims if wide else claims.without_columns(("pool",))
    marks = ((row.pool, f"{row.nodes:,}", f"{at(row.oldest)}, {_ago(status.now, row.oldest)}") for row in status.marks)
    yield "Marks", wrap_last(("pool", "nodes", "oldest"), marks)
    backoffs = ((row.node, at(row.until), row.why) for _, row in status.backoffs)
    yield "Back-offs", wrap_last(("node", "until", "why"), backoffs)
    breakers = ((pool, at(row.until), row.why) for pool, row in status.breakers)
    yield "Breakers", wrap_last(("pool", "until", "why"), breakers)
    results = (
        (at(row.ended_at), row.record.outcome, row.record.order.node, _why(row)) for row in status.drains[:RESULTS]
    )
    yield "Last results", wrap_last(("ended", "outcome", "node", "why"), results, below=not wide)


def wrap_last(titles: Sequence[str], rows: Iterable[Sequence[str]], *, below: bool = False) -> Table:
    """Return a table whose last column may take several lines; `below` puts it under the one before."""
    *firsts, last = titles
    why = Column(last, wraps=True, below=below, style=DIM if below else "")
    return Table.of([*map(Column, firsts), why], rows)


def _why(row: PastDrain) -> str:
    word = f"{row.record.why}: {row.sentence}" if row.record.why else ""
    by = f"by {row.record.order.requested_by}" if row.record.order.requested_by else ""
    return " · ".join(part for part in (word, by) if part)


SCHEMA: Final = 1


def document(status: InstallationStatus) -> dict[str, Any]:
    state, last = status.state, status.state.last_pass
    return {
        "schema": SCHEMA,
        "cluster": status.cluster,
        "read_at": rfc3339(status.now),
        "paused": state.paused,
        "pause_reason": state.pause_reason,
        "last_pass": rfc3339(last),
        "last_pass_seconds_ago": None if last is None else int((status.now - last).total_seconds()),
        "warnings": list(status.warnings),
        "claims": [_claim(row) for row in status.claims],
        "marks": [{"pool": row.pool, "nodes": row.nodes, "oldest": rfc3339(row.oldest)} for row in status.marks],
        "backoffs": [
            {"node": row.node, "node_uid": uid, "until": rfc3339(row.until), "why": row.why}
            for uid, row in status.backoffs
        ],
        "breakers": [{"pool": pool, "until": rfc3339(row.until), "why": row.why} for pool, row in status.breakers],
        "results": [_result(row) for row in status.drains[:RESULTS]],
        "wave": _wave(status.wave),
    }


def _wave(wave: Wave | None) -> dict[str, Any] | None:
    if wave is None:
        return None
    nodes, costly = ([{"node": node.name, "node_uid": node.uid} for node in of] for of in (wave.nodes, wave.costly))
    times = {"began": rfc3339(wave.began), "deadline": rfc3339(wave.deadline)}
    return {"id": wave.id, **times, "nodes": nodes, "costly": costly}


def _claim(row: HeldNode) -> dict[str, Any]:
    claim = row.claim
    return {
        "node": claim.node,
        "node_uid": row.uid,
        "pool": claim.pool,
        "zone": claim.zone,
        "order_id": claim.order_id,
        "reason": claim.reason,
        "origin": claim.origin,
        "requested_by": row.requested_by,
        "since": rfc3339(claim.since),
        "phase": row.phase,
        "held_by": list(row.held_by),
        "deadline": rfc3339(row.deadline),
    }


def _result(row: PastDrain) -> dict[str, Any]:
    record = row.record
    return {
        "node": record.order.node,
        "order_id": record.order.order_id,
        "ended_at": rfc3339(row.ended_at),
        "outcome": record.outcome,
        "reason": record.why,
        "sentence": row.sentence,
        "detail": record.detail,
        "origin": record.order.origin,
        "requested_by": record.order.requested_by,
        "dry_run": record.order.dry_run,
    }


def history_document(history: InstallationStatus, most: int | None) -> dict[str, Any]:
    """Return the history as what json.dumps takes; every key is always there."""
    return {
        "schema": SCHEMA,
        "cluster": history.cluster,
        "read_at": rfc3339(history.now),
        "outcomes": history.outcomes,
        "saved_nodes": history.saved_nodes,
        "saved_per_hour": json_dollars(history.saved),
        "drains": [_past_drain(past) for past in history.drains[:most]],
    }


def _past_drain(past: PastDrain) -> dict[str, Any]:
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


def show_history(console: Console, history: InstallationStatus, most: int | None) -> None:
    console.print(f"{history.cluster}, {moment(history.now)}\n")
    if not history.drains:
        console.print("No drain has ended in the last 30 days.")
        return
    rows = [_past_row(past, history.now) for past in history.drains[:most]]
    whole = wrap_last((*_TITLES, *_MORE), rows)
    if whole.without_columns({"why"}).width + _LEAST_WHY <= console.width:
        draw(console, whole)
    else:
        narrow = [(*row[:3], f"{row[3]}, {row[4]} pods; {'; '.join(filter(None, row[5:]))}") for row in rows]
        draw(console, wrap_last((*_TITLES, ""), narrow, below=True))
    counted = ", ".join(f"{outcome}: {number:,}" for outcome, number in history.outcomes.items())
    more = len(history.drains) - len(rows)
    console.print(f"\n{counted}{f'; {more:,} older ones are not shown' if more else ''}.")
    nodes = count(history.saved_nodes, "node")
    console.print(f"Still saved: {nodes} removed within a day and not come back, {monthly(history.saved)} a month.")


def _past_row(past: PastDrain, now: datetime) -> tuple[str, ...]:
    order, word = past.record.order, past.record.why
    took = span(past.took) if past.took is not None else "-"
    why = " ".join(part for part in (f"{word}:" if word else "", past.sentence) if part)
    whose = order.requested_by or order.reason or order.kind.value
    return clock(past.ended_at, now), past.record.outcome, order.node, took, f"{past.moved:,}", whose, why
