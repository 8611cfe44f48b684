"""The commitments of a pass where the policy has `cluster.commitments.read`: read once an hour, kept for a day.

A list that cannot be read ends no pass: the last one is used for 24 hours, then list prices.
"""

import dataclasses
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from functions.planner.read_and_repair import PassInputs
from shared.core.cluster.node import region_of
from shared.core.records.commitments import CommitmentBasis, CommitmentReading, count_commitments, unknown_types
from shared.errors import Stale
from shared.ports import COMMITMENTS_KEY, Ports
from shared.store.compare_and_set import read_lenient


@dataclass(frozen=True, slots=True)
class UsedCommitments:
    """What the bill of a pass rests on; None where the planner reads no commitments."""

    basis: CommitmentBasis | None = None
    read_at: datetime | None = None
    unknown: str = ""  # The sentence on types of commitments that Ebb does not know.

    @property
    def fields(self) -> dict[str, Any]:
        at = self.read_at.isoformat().replace("+00:00", "Z") if self.read_at else None
        return {"commitments": self.basis and self.basis.value, "commitments_read_at": at}


def with_commitments(ports: Ports, inputs: PassInputs) -> tuple[PassInputs, UsedCommitments]:
    policy, region, now = inputs.policy, region_of(inputs.snapshot.nodes), inputs.now
    if policy is None or not policy.commitments.read:
        return inputs, UsedCommitments()
    reading, version = _last_reading(ports)
    if reading.is_due(now):
        reading = _read(ports, reading, now)
        _keep(ports, reading, version)
    paid = reading.applied_to(policy.commitments, region, now)
    unknown = unknown_types(count_commitments(reading.rows, region))
    policy = dataclasses.replace(policy, commitments=paid)
    return dataclasses.replace(inputs, policy=policy), UsedCommitments(reading.basis(now), reading.read_at, unknown)


def _last_reading(ports: Ports) -> tuple[CommitmentReading, str | None]:
    """Return the document and its version; an empty one where there is none, or none that can be read."""
    try:
        found = read_lenient(ports.state, COMMITMENTS_KEY)
    except Exception as fault:  # noqa: BLE001 - commitments only inform: whatever it is, it ends no pass
        _warn(ports, f"The last list of commitments could not be read, so it is asked for again: {fault}")
        return CommitmentReading(), None
    return found.value or CommitmentReading(), found.version


def _keep(ports: Ports, reading: CommitmentReading, version: str | None) -> None:
    """Write the document; one that cannot be written is read from Google again in the next pass."""
    try:
        ports.state.put(COMMITMENTS_KEY, reading, version)
    except Stale:  # another planner has read them meanwhile: its list is as good
        return
    except Exception as fault:  # noqa: BLE001 - as above
        _warn(ports, f"The list of commitments could not be kept, so the next pass asks for it again: {fault}")


def _read(ports: Ports, last: CommitmentReading, now: datetime) -> CommitmentReading:
    """Read the list; one that cannot be read leaves the last one, and a line in the log."""
    try:
        return CommitmentReading(rows=ports.commitments.read(), read_at=now, tried_at=now)
    except Exception as fault:  # noqa: BLE001 - as above
        failed = replace(last, tried_at=now, fault=str(fault))
        _warn(ports, _sentence(failed, now))
        return failed


def _warn(ports: Ports, sentence: str) -> None:
    ports.log.event("policy_warning", sentence, severity="WARNING", reason="commitments_unread")


def _sentence(failed: CommitmentReading, now: datetime) -> str:
    kept = f"those read at {failed.read_at:%Y-%m-%d %H:%M} UTC count" if failed.read_at else ""
    if failed.basis(now) is CommitmentBasis.LIST_PRICES:
        kept = "nodes count at their list prices"
    return f"The commitments could not be read, so {kept}: {failed.fault}"
