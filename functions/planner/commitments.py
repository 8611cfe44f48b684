"""The commitments of a pass where the policy has `cluster.commitments.read`: read once an hour, kept for a day.

A list that cannot be read changes nothing but figures and order: the last one is used for 24 hours, then list prices.
"""

import dataclasses
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from shared.core.policy import Policy
from shared.core.records.commitments import CommitmentBasis, CommitmentReading, counted, unknown_types
from shared.errors import EbbError, Stale
from shared.port_types import COMMITMENTS_KEY
from shared.ports import Ports


@dataclass(frozen=True, slots=True)
class UsedCommitments:
    """What the bill of a pass rests on; None where the planner reads no commitments."""

    basis: CommitmentBasis | None = None
    read_at: datetime | None = None
    unknown: str = ""
    """The sentence on types of commitments that Ebb does not know."""

    @property
    def fields(self) -> dict[str, Any]:
        """Return them as the log has them."""
        at = self.read_at.isoformat().replace("+00:00", "Z") if self.read_at else None
        return {"commitments": self.basis and self.basis.value, "commitments_read_at": at}


def with_commitments(
    ports: Ports, policy: Policy | None, region: str, now: datetime
) -> tuple[Policy | None, UsedCommitments]:
    """Return the policy with the commitments in force, and what they rest on.

    Raises:
        Retryable: the state does not answer.
    """
    if policy is None or not policy.commitments.read:
        return policy, UsedCommitments()
    found = ports.state.all(COMMITMENTS_KEY.collection, COMMITMENTS_KEY.type).get(COMMITMENTS_KEY.id)
    reading = (found and found.value) or CommitmentReading()
    if reading.is_due(now):
        reading = _read(ports, reading, now)
        with suppress(Stale):  # another planner has read them meanwhile: its list is as good
            ports.state.put(COMMITMENTS_KEY, reading, found.version if found else None)
    paid = reading.applied_to(policy.commitments, region, now)
    unknown = unknown_types(counted(reading.rows, region))
    return dataclasses.replace(policy, commitments=paid), UsedCommitments(reading.basis(now), reading.read_at, unknown)


def _read(ports: Ports, last: CommitmentReading, now: datetime) -> CommitmentReading:
    """Read the list; one that cannot be read leaves the last one, and a line in the log."""
    try:
        return CommitmentReading(rows=ports.commitments.read(), read_at=now, tried_at=now)
    except EbbError as fault:
        failed = replace(last, tried_at=now, fault=str(fault))
        ports.log.event("policy_warning", _sentence(failed, now), severity="WARNING", reason="commitments_unread")
        return failed


def _sentence(failed: CommitmentReading, now: datetime) -> str:
    kept = f"those read at {failed.read_at:%Y-%m-%d %H:%M} UTC count" if failed.read_at else ""
    if failed.basis(now) is CommitmentBasis.LIST_PRICES:
        kept = "nodes count at their list prices"
    return f"The commitments could not be read, so {kept}: {failed.fault}"
