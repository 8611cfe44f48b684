"""`ebb status --output json`: the status with keys that tools may rely on. Times are RFC 3339 in UTC, or null.

Must not leave a key out where there is nothing to say: it is null, or an empty list.
"""

from datetime import datetime
from typing import Any, Final

from functions.cli.drains.status import EndedDrain, HeldNode, InstallationStatus
from functions.cli.format import rfc3339

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
    }


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
