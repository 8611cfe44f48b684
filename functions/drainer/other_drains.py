"""The records of other drains, read only where it matters what those have moved."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from functions.drainer import reads
from functions.drainer.session import DrainSession
from shared.core.cluster.snapshot import Snapshot
from shared.core.draining.observation import Observation, OtherDrain, OtherDrains
from shared.core.records.drain_record import DrainRecord
from shared.core.records.state import Claim
from shared.errors import Retryable, Terminal, Unreadable
from shared.port_types import drain_key
from shared.store.compare_and_set import read_cluster

MOST_READS: Final = 10
"""Records that are read at once."""


def read_records(session: DrainSession, claims: Sequence[Claim]) -> list[tuple[Claim, DrainRecord | Unreadable | None]]:
    """Return each claim with its drain's record, or with what keeps it from being read. Raises Retryable."""

    def read(claim: Claim) -> DrainRecord | Unreadable | None:
        try:
            return session.ports.state.get(drain_key(claim.order_id)).value
        except Unreadable as fault:
            return fault

    found = session.ports.together(read, claims, MOST_READS) if claims else []
    return list(zip(claims, found, strict=True))


def with_others(session: DrainSession, observed: Observation) -> Observation:
    """Return the observation with the other drains in it, and what stands behind the pods that they have moved.

    Raises:
        Retryable: a document or a workload cannot be read.
    """
    state, _, _ = read_cluster(session.ports.state)
    drains = tuple(_others(session, state.claims))
    theirs = {controller for each in drains for controller in each.record.before}
    seen, _ = reads.workloads(session.ports, theirs - observed.workloads.keys(), session.time.now())
    picture = _picture(session, observed.claim) if drains else None
    others = OtherDrains(drains, tuple(state.backoffs.values()), picture)
    return replace(observed, others=others, workloads={**seen, **observed.workloads})


def _picture(session: DrainSession, claim: Claim | None) -> Snapshot | None:
    """Return a whole picture of this instance since the claim; None where it has none and cannot read one now.

    All drains choose alike only if each has one, so an instance that has none reads it once, although a pod waits.
    """
    try:
        return reads.snapshot_since(session, claim.since) if claim else None
    except (Retryable, Terminal):
        return None


def _others(session: DrainSession, claims: Mapping[str, Claim]) -> Iterator[OtherDrain]:
    """Read the records of the other claims; one that cannot be read has nobody who could give its node back."""
    others = [claim for uid, claim in claims.items() if uid != session.record.node_uid]
    for claim, record in read_records(session, others):
        if isinstance(record, DrainRecord):
            yield OtherDrain(claim.since, record)
