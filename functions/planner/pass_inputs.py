"""What one pass rests on: the snapshot, the state as it stood before it, marks and drain records.

What only advises, and each document by itself, may be unreadable without ending the pass: that is logged, and healing
goes by what the node shows.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from shared.core.cluster.snapshot import Snapshot
from shared.core.healing.repairs import hanging, in_turn
from shared.core.policy import Policy
from shared.core.records.claims import as_planned
from shared.core.records.drain_record import DrainRecord
from shared.core.records.state import ClusterState, PoolMarks, Wave
from shared.errors import Unreadable
from shared.port_types import PoolsReading, StoredDocument, drain_key
from shared.ports import Log, Ports
from shared.settings import Settings
from shared.store.compare_and_set import read_cluster, read_wave
from shared.store.snapshots import deletion_begun_at, read_optional, snapshot_of, warn_of_unread


@dataclass(frozen=True)
class PassInputs:
    """What one pass rests on."""

    snapshot: Snapshot
    state: ClusterState
    """As it stood before the snapshot; once the pass has healed, without what that ended."""
    records: Mapping[str, DrainRecord]
    """Of the claims that stand, and of drains that have left a restart hanging, by order id; one that cannot be read is
    missing."""
    marks: Mapping[str, PoolMarks]
    policy: Policy | None
    now: datetime
    wave: StoredDocument[Wave]
    """The wave's document."""

    @cached_property
    def planned(self) -> ClusterState:
        """The state as the planner counts by it: an order on its way counts as a claim."""
        return as_planned(self.state, self.now)


def read_inputs(
    ports: Ports, settings: Settings, policy: Policy | None, pools: PoolsReading, *, whole: bool = True
) -> PassInputs:
    """Read the cluster (or its nodes and pods alone), and before it and after it the state.

    Raises:
        Retryable: something did not answer.
        Terminal: a person has to fix something first.
    """
    before, _, began_at = read_cluster(ports.state)
    cluster_reading = ports.cluster.read(whole=whole)
    warn_of_unread(ports.log, "run_summary", cluster_reading)
    interval = timedelta(seconds=settings.interval_seconds)
    left = in_turn(hanging(cluster_reading.workloads.values(), before), began_at, interval)
    marks, records, wave = _read_marks(ports), _read_records(ports, before, left), read_wave(ports.state)
    if wave.fault:
        _log_skipped(ports.log, wave.fault)
    _, _, now = read_cluster(ports.state)
    return PassInputs(
        snapshot=snapshot_of(settings.cluster, cluster_reading, pools, began_at, now),
        state=before,
        records=records,
        marks=marks,
        policy=policy,
        now=now,
        wave=wave,
    )


def _read_marks(ports: Ports) -> dict[str, PoolMarks]:
    """Return the pools' marks; those of a document that does not decode begin again."""
    found = ports.state.all("pools", PoolMarks)
    for each in found.values():
        if each.fault:
            _log_skipped(ports.log, each.fault)
    return {pool: each.value or PoolMarks() for pool, each in found.items()}


def _read_records(ports: Ports, state: ClusterState, left: Iterable[str]) -> dict[str, DrainRecord]:
    """Read the records of the drains that stand, and of those that have left a restart hanging: hardly ever any."""
    asked = (*(claim.order_id for claim in state.claims.values()), *left)
    found = {order_id: record_of(ports, order_id) for order_id in asked}
    return {order: record for order, record in found.items() if record is not None}


def record_of(ports: Ports, order_id: str) -> DrainRecord | None:
    """Return a drain's record; None if there is none, or if this version cannot read it, which is logged."""
    try:
        return ports.state.get(drain_key(order_id)).value
    except Unreadable as fault:
        _log_skipped(ports.log, str(fault))
        return None


def _log_skipped(log: Log, fault: str) -> None:
    log.event("run_summary", f"Skipped, not read: {fault}", severity="ERROR", reason="unreadable")


def begun_deletions(ports: Ports, snapshot: Snapshot) -> dict[str, datetime]:
    """Return when the autoscaler began to delete nodes whose cordon is gone and whose taint is ours: few, or none."""
    cleared = [node.name for node in snapshot.nodes if node.drain_taint is not None and not node.unschedulable]
    times = {name: deletion_begun_at(ports, "run_summary", name) for name in cleared}
    return {name: at for name, at in times.items() if at is not None}


def scale_ups(ports: Ports, state: ClusterState) -> Mapping[str, datetime]:
    """Ask for which pods the autoscaler lately added nodes; only drains that stand could have caused one."""
    nothing: Mapping[str, datetime] = {}
    if not state.claims:
        return nothing
    what = "for which pods the autoscaler adds nodes"
    return read_optional(ports.log, "run_summary", what, ports.cluster.scale_ups, nothing)
