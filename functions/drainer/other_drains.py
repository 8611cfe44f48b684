"""What the other drains have moved, read only where one of them may have to give its node back. Must not judge."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from functions.drainer import shared_snapshots
from functions.drainer.session import DrainSession
from shared.core.draining.observation import Observation, OtherDrain, OtherDrains
from shared.core.records.state import Claim
from shared.documents import drain_key
from shared.errors import Unreadable
from shared.store.compare_and_set import read_cluster


def with_others(session: DrainSession, observed: Observation) -> Observation:
    """Return the observation with the other drains in it, and what stands behind the pods that they have moved.

    Raises:
        Retryable: a document or a workload cannot be read.
    """
    state, _, _ = read_cluster(session.ports.state)
    drains = tuple(_others(session, state.claims))
    theirs = {controller for each in drains for controller in each.record.before}
    seen, _ = shared_snapshots.workloads(session.ports, theirs - observed.workloads.keys(), session.time.now())
    others = OtherDrains(drains, tuple(state.backoffs.values()))
    return replace(observed, others=others, workloads={**seen, **observed.workloads})


def _others(session: DrainSession, claims: Mapping[str, Claim]) -> Iterator[OtherDrain]:
    """Read the records of the other claims; one that cannot be read has nobody who could give its node back."""
    for uid, claim in claims.items():
        if uid == session.record.node_uid:
            continue
        try:
            record = session.ports.state.get(drain_key(claim.order_id)).value
        except Unreadable:
            continue
        if record is not None:
            yield OtherDrain(claim.since, record)
