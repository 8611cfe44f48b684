"""What one pass rests on: the snapshot, the state as it stood before it and drain records; then repaired.

What only advises, and each document by itself, may be unreadable without ending the pass: healing goes by the nodes.
`healing.repairs` names the repairs; here the cause of each is looked for again on fresh reads before it is made.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from shared.core.cluster.snapshot import Snapshot
from shared.core.draining.drain import log_fields
from shared.core.healing.healing_input import HealingInput, Repair, RepairKind
from shared.core.healing.repairs import find_repairs, hanging, in_turn
from shared.core.policy import Policy
from shared.core.reasons import Outcome
from shared.core.records.claims import as_planned, settle_gone, with_breakers
from shared.core.records.drain_record import DrainPhase, DrainRecord, has_returned
from shared.core.records.orders import DrainResult, Order, OrderKind, Origin, continuation
from shared.core.records.state import Breaker, ClusterState
from shared.errors import Gone, Retryable, Stale, Unreadable
from shared.ports import Log, PoolsReading, Ports, drain_key
from shared.settings import Settings
from shared.store.compare_and_set import change_cluster, read_cluster
from shared.store.drain_record import LeasedRecord, report_result
from shared.store.snapshots import deletion_begun_at, read_optional, snapshot_of, warn_of_unread


@dataclass(frozen=True)
class PassInputs(HealingInput):
    """What healing looks at; `records` also has drains that have left a restart hanging, for their turn to be undone.

    Once the pass has healed, `state` is without what that ended.
    """

    @cached_property
    def planned(self) -> ClusterState:
        """The state as the planner counts by it: an order on its way counts as a claim."""
        return as_planned(self.state, self.now)


def read_inputs(
    ports: Ports, settings: Settings, policy: Policy | None, pools: PoolsReading, *, whole: bool = True
) -> PassInputs:
    """Read the cluster (or its nodes and pods alone), and the state before and after it. Raises Retryable, Terminal."""
    before, _, began_at = read_cluster(ports.state)
    cluster_reading = ports.cluster.read(whole=whole)
    warn_of_unread(ports.log, "run_summary", cluster_reading)
    interval = timedelta(seconds=settings.interval_seconds)
    left = in_turn(hanging(cluster_reading.workloads.values(), before), began_at, interval)
    records = _read_records(ports, before, left)
    _, _, now = read_cluster(ports.state)
    return PassInputs(
        snapshot=snapshot_of(settings.cluster, cluster_reading, pools, began_at, now),
        state=before,
        records=records,
        policy=policy,
        now=now,
    )


def _read_records(ports: Ports, state: ClusterState, left: Iterable[str]) -> dict[str, DrainRecord]:
    """Read the records of the drains that stand, and of those that have left a restart hanging: hardly ever any."""
    asked = (*(claim.order_id for claim in state.claims.values()), *left)
    found = {order_id: _record_of(ports, order_id) for order_id in asked}
    return {order: record for order, record in found.items() if record is not None}


def _record_of(ports: Ports, order_id: str) -> DrainRecord | None:
    """Return a drain's record; None if there is none, or if this version cannot read it, which is logged."""
    try:
        return ports.state.get(drain_key(order_id)).value
    except Unreadable as fault:
        log_skipped(ports.log, str(fault))
        return None


def log_skipped(log: Log, fault: str) -> None:
    log.event("run_summary", f"Skipped, not read: {fault}", severity="ERROR", reason="unreadable")


def _begun_deletions(ports: Ports, snapshot: Snapshot) -> dict[str, datetime]:
    """Return when the autoscaler began to delete nodes whose cordon is gone and whose taint is ours: few, or none."""
    cleared = [node.name for node in snapshot.nodes if node.drain_taint is not None and not node.unschedulable]
    times = {name: deletion_begun_at(ports, "run_summary", name) for name in cleared}
    return {name: at for name, at in times.items() if at is not None}


def _scale_ups(ports: Ports, state: ClusterState) -> Mapping[str, datetime]:
    """Ask for which pods the autoscaler lately added nodes; only drains that stand could have caused one."""
    nothing: Mapping[str, datetime] = {}
    if not state.claims:
        return nothing
    what = "for which pods the autoscaler adds nodes"
    return read_optional(ports.log, "run_summary", what, ports.cluster.scale_ups, nothing)


RELEASE_WITHIN: Final = timedelta(minutes=10)


@dataclass(frozen=True)
class Healed:
    """How many repairs were made, and how many could not be: those come again."""

    repaired: int = 0
    failed: int = 0
    gone: Mapping[str, str] = field(default_factory=dict)
    """Orders whose claims have ended because their nodes are gone, by node UID."""


def heal(ports: Ports, settings: Settings, inputs: PassInputs) -> tuple[Healed, PassInputs]:
    """Repair first: a breaker that cannot be written ends the pass, but not the return of nodes.

    Return what the pass rests on from here, too: a claim that ends here leaves the budgets in this very pass, and a
    breaker that opens holds its pool in it.
    """
    begun, bought = _begun_deletions(ports, inputs.snapshot), _scale_ups(ports, inputs.state)
    found = dataclasses.replace(inputs, begun_deletions=begun, scale_ups=bought)
    healed = _Repairs(ports, settings.cluster, inputs.now).make(find_repairs(found))
    if found.breakers:
        _open_breakers(ports, found.breakers)
    after = with_breakers(settle_gone(inputs.state, healed.gone, inputs.now), found.breakers, inputs.now)
    return healed, dataclasses.replace(inputs, state=after)


def _open_breakers(ports: Ports, opened: Mapping[str, Breaker]) -> None:
    change_cluster(ports.state, ports.clock, lambda state, now: with_breakers(state, opened, now))
    for pool, breaker in opened.items():
        message = f"No new drain in pool {pool} until {breaker.until.isoformat()}: {breaker.why}."
        ports.log.event("breaker", message, severity="ERROR", pool=pool, reason="breaker_open")


AN_OUTAGE: Final = 3
"""So many calls without an answer, and none in between that succeeded: the others wait for the next pass."""


class Outages:
    """Counts the calls that got no answer since the last one that succeeded."""

    def __init__(self) -> None:
        self._in_a_row = 0

    def note_success(self) -> None:
        self._in_a_row = 0

    def is_one(self, fault: Exception) -> bool:
        """Note a call that failed, and return whether this one makes it an outage."""
        self._in_a_row += isinstance(fault, Retryable)
        return isinstance(fault, Retryable) and self._in_a_row >= AN_OUTAGE


@dataclass
class _Repairs:
    """Makes one repair after another; a failure is logged and counted, and the others go on."""

    ports: Ports
    cluster: str
    now: datetime
    failed: int = 0
    outages: Outages = field(default_factory=Outages)

    def make(self, found: Sequence[Repair]) -> Healed:
        """Make each repair that can be made; claims of nodes that are gone end together, in one write."""
        gone = [repair for repair in found if repair.kind is RepairKind.SETTLE and self._attempt(self._is_gone, repair)]
        ended = [repair for repair in gone if self._attempt(self._end_drain, repair)]
        orders = {repair.uid: repair.order_id for repair in ended}
        if orders:
            change_cluster(self.ports.state, self.ports.clock, lambda state, at: settle_gone(state, orders, at))
        acts = {RepairKind.CONTINUE: self._continue, RepairKind.RELEASE: self._release, RepairKind.FAULT: _fail}
        others = [repair for repair in found if repair.kind is not RepairKind.SETTLE]
        repaired = sum(self._attempt(acts[repair.kind], repair) for repair in others)
        return Healed(len(ended) + repaired, self.failed, orders)

    def _attempt(self, act: Callable[[Repair], bool], repair: Repair) -> bool:
        """Return what the act returns, False when it failed. Raises Retryable when everything fails: an outage."""
        try:
            done = act(repair)
        except Exception as fault:  # whatever is wrong with this one, the others are to be repaired
            self.failed += 1
            what = f"{repair.node}: not healed ({repair.kind.value}): {type(fault).__name__} {fault}"
            self.ports.log.event("run_summary", what, severity="ERROR", reason="not_healed")
            if self.outages.is_one(fault):
                raise
            return False
        self.outages.note_success()
        return done

    def _is_gone(self, repair: Repair) -> bool:
        try:
            return self.ports.cluster.node(repair.node).uid != repair.uid
        except Gone:
            return True

    def _end_drain(self, repair: Repair) -> bool:
        """End and report a drain whose node is gone; the claim goes last: after a crash it is reported again."""
        record = self._settle_record(repair)
        if has_returned(record):  # since the pass read it: the next one ends the claim as that drain
            return False
        outcome = Outcome.REMOVED
        result = DrainResult(order_id=repair.order_id, cluster=self.cluster, node=repair.node, outcome=outcome)
        stats = log_fields(record, self.now) if record else {}
        report_result(self.ports, result, outcome.sentence, pool=repair.pool, **stats)
        return True

    def _settle_record(self, repair: Repair) -> DrainRecord | None:
        """Settle the record unless that has been done; return it, None where it is missing or cannot be read."""
        ports = self.ports
        stored = LeasedRecord.seize(ports.state, ports.clock, repair.order_id, "planner")
        if stored is None:  # logged when the pass read it; the claim is what has to go
            return None
        if stored.record.phase is not DrainPhase.SETTLED:
            try:
                stored.settle(Outcome.REMOVED)
            except Stale as error:
                ports.log.event("healed", f"The drain's own step has just written: {error}", order_id=repair.order_id)
        return stored.record

    def _continue(self, repair: Repair) -> bool:
        """Publish the order again, one generation on, unless its step has come back to life."""
        record = self.ports.state.get(drain_key(repair.order_id)).value
        if record is None or record.phase is DrainPhase.SETTLED or record.is_leased(self.now):
            return False
        self.ports.orders.publish(continuation(record.order, record.generation))
        self._log(repair, "The drain's step fell silent; its order was published again.")
        return True

    def _release(self, repair: Repair) -> bool:
        """Publish a release; the drainer looks for its cause again before it undoes anything."""
        self.ports.orders.publish(
            Order(
                kind=OrderKind.RELEASE,
                order_id=repair.order_id,
                cluster=self.cluster,
                node=repair.node,
                node_uid=repair.uid,
                origin=Origin.PLANNER,
                issued_at=self.now,
                expires_at=self.now + RELEASE_WITHIN,
                not_before=repair.not_before,
                pod=repair.detail if repair.not_before else "",
                why=repair.why.value if repair.why else "",
            )
        )
        self._log(repair, f"A release was published: {repair.why.sentence if repair.why else ''} {repair.detail}")
        return True

    def _log(self, repair: Repair, message: str) -> None:
        about = {"order_id": repair.order_id, "node": repair.node, "pool": repair.pool}
        reason = repair.why.value if repair.why else repair.kind.value
        self.ports.log.event("healed", message.strip(), reason=reason, **about)


def _fail(repair: Repair) -> bool:
    """Count a rule that failed among what was not healed."""
    raise RuntimeError(repair.detail)
