"""The status on a terminal and as JSON. JSON keys are a contract; times are RFC 3339 in UTC, or null."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from functions.cli.drains.status import EndedDrain, HeldNode, InstallationStatus
from functions.cli.output.format import clock, count, moment, rfc3339, span
from shared.core.records.state import Wave

_ROOM_FOR_ALL: Final = 110
"""Narrower than this the pool's column goes: it is part of a node's name."""
_GAP: Final = 2
_UNDER: Final = 13
"""Under the outcome, after the time."""


def show(console: Console, status: InstallationStatus) -> None:
    """Print the whole status."""
    console.print(_head(status))
    for warning in status.warnings:
        console.print(f"warning: {warning}", style="bold yellow")
    wide = not console.is_terminal or console.width >= _ROOM_FOR_ALL
    parts = (
        ("Claims", _claims(status, wide=wide)),
        ("Marks", _marks(status)),
        ("Back-offs", _backoffs(status)),
        ("Breakers", _breakers(status)),
    )
    for title, table in parts:
        _part(console, title, table if table.row_count else None)
    _part(console, "Last results", _results(status, wide=wide) if status.results else None)


def _part(console: Console, title: str, what: RenderableType | None) -> None:
    console.print()
    if what is None:
        console.print(f"{title}: none", style="dim")
        return
    console.print(title, style="bold")
    console.print(what)


def _head(status: InstallationStatus) -> Table:
    head = Table.grid(padding=(0, _GAP, 0, 0))
    head.add_column(no_wrap=True, style="bold")
    head.add_column(overflow="fold")
    head.add_row("Cluster", Text(status.cluster))
    head.add_row("Time", moment(status.now))
    head.add_row("Last pass", _last_pass(status))
    head.add_row("Paused", _paused(status))
    if status.wave:
        began, ends = clock(status.wave.began, status.now), clock(status.wave.deadline, status.now)
        head.add_row("Wave", f"{count(len(status.wave.nodes), 'node')} since {began}, until {ends} at the latest")
    return head


def _last_pass(status: InstallationStatus) -> str:
    return "never" if status.last_pass is None else f"{moment(status.last_pass)}, {_ago(status.now, status.last_pass)}"


def _ago(now: datetime, then: datetime) -> str:
    """Return `2m5s ago`; from an hour on without seconds, which nobody counts then."""
    passed = max(timedelta(0), now - then)
    if passed >= timedelta(hours=1):
        passed -= passed % timedelta(minutes=1)
    return f"{span(passed)} ago"


def _paused(status: InstallationStatus) -> Text:
    if not status.paused:
        return Text("no; ebb pause --reason TEXT stops all drains (the policy may pause, too)")
    reason = f": {status.pause_reason}" if status.pause_reason else ""
    return Text(f"yes{reason} (ebb resume ends it)", style="bold yellow")


def _claims(status: InstallationStatus, *, wide: bool) -> Table:
    titles = ("node", "pool", "since", "phase", "until", "held by")
    table = _table(title for title in titles if wide or title != "pool")
    for row in status.claims:
        pool = (row.claim.pool,) if wide else ()
        times = clock(row.claim.since, status.now), row.phase, _deadline(row, status.now)
        table.add_row(*_texts(row.claim.node, *pool, *times, ", ".join(row.held_by)))
    return table


def _deadline(row: HeldNode, now: datetime) -> str:
    return clock(row.deadline, now) if row.deadline else ""


def _marks(status: InstallationStatus) -> Table:
    table = _table(("pool", "nodes", "oldest"))
    for row in status.marks:
        oldest = f"{clock(row.oldest, status.now)}, {_ago(status.now, row.oldest)}"
        table.add_row(*_texts(row.pool, f"{row.nodes:,}", oldest))
    return table


def _backoffs(status: InstallationStatus) -> Table:
    table = _table(("node", "until", "why"))
    for _, row in status.backoffs:
        table.add_row(*_texts(row.node, clock(row.until, status.now), row.why))
    return table


def _breakers(status: InstallationStatus) -> Table:
    table = _table(("pool", "until", "why"))
    for pool, row in status.breakers:
        table.add_row(*_texts(pool, clock(row.until, status.now), row.why))
    return table


def _results(status: InstallationStatus, *, wide: bool) -> RenderableType:
    if wide:
        table = _table(("ended", "outcome", "node", "why"))
        for row in status.results:
            table.add_row(*_texts(*_ended(row, status.now), _why(row)))
        return table
    lines: list[RenderableType] = []
    for row in status.results:
        lines.append(Text("  ".join(_ended(row, status.now))))
        if why := _why(row):
            lines.append(Padding(Text(why, style="dim"), (0, 0, 0, _UNDER)))
    return Group(*lines)


def _ended(row: EndedDrain, now: datetime) -> tuple[str, str, str]:
    return f"{clock(row.ended_at, now):>11}", f"{row.record.outcome:<11}", row.record.order.node


def _why(row: EndedDrain) -> str:
    word = f"{row.record.why}: {row.sentence}" if row.record.why else ""
    by = f"by {row.record.order.requested_by}" if row.record.order.requested_by else ""
    return " · ".join(part for part in (word, by) if part)


def _table(titles: Iterable[str]) -> Table:
    """Return a table whose last column takes what room is left and wraps; the others keep their words whole."""
    names: Sequence[str] = tuple(titles)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for name in names[:-1]:
        table.add_column(name, no_wrap=True, overflow="fold")
    table.add_column(names[-1], overflow="fold")
    return table


def _texts(*cells: str) -> tuple[Text, ...]:
    return tuple(Text(cell) for cell in cells)


SCHEMA: Final = 1


def document(status: InstallationStatus) -> dict[str, Any]:
    """Return the status as what json.dumps takes."""
    ago = None if status.last_pass is None else int((status.now - status.last_pass).total_seconds())
    return {
        "schema": SCHEMA,
        "cluster": status.cluster,
        "read_at": rfc3339(status.now),
        "paused": status.paused,
        "pause_reason": status.pause_reason,
        "last_pass": _time(status.last_pass),
        "last_pass_seconds_ago": ago,
        "warnings": list(status.warnings),
        "claims": [_claim(row) for row in status.claims],
        "marks": [{"pool": row.pool, "nodes": row.nodes, "oldest": rfc3339(row.oldest)} for row in status.marks],
        "backoffs": [
            {"node": row.node, "node_uid": uid, "until": rfc3339(row.until), "why": row.why}
            for uid, row in status.backoffs
        ],
        "breakers": [{"pool": pool, "until": rfc3339(row.until), "why": row.why} for pool, row in status.breakers],
        "results": [_result(row) for row in status.results],
        "wave": _wave(status.wave),
    }


def _wave(wave: Wave | None) -> dict[str, Any] | None:
    if wave is None:
        return None
    nodes = [{"node": each.name, "node_uid": each.uid} for each in wave.nodes]
    return {"id": wave.id, "began": rfc3339(wave.began), "deadline": rfc3339(wave.deadline), "nodes": nodes}


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
        "deadline": _time(row.deadline),
    }


def _result(row: EndedDrain) -> dict[str, Any]:
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


def _time(time: datetime | None) -> str | None:
    return None if time is None else rfc3339(time)
