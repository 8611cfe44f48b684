"""Repairs what earlier passes and drains left behind: settles what is gone, publishes what must go on or go back.

`healing.repairs` names the repairs; here the cause of each is looked for again on fresh reads before it is made.
A pass stops asking when calls fail one after another because nothing answers: that is one outage. What is wrong with
one object does not affect the next one's call.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from shared.core.draining.drain import log_fields
from shared.core.healing.healing_input import Repair, RepairKind
from shared.core.reasons import Outcome
from shared.core.records.claims import settle_gone
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.orders import DrainResult, Order, OrderKind, Origin, continuation
from shared.errors import Gone, Retryable, Stale
from shared.port_types import drain_key
from shared.ports import Ports
from shared.store.compare_and_set import change_cluster
from shared.store.drain_record import LeasedRecord, report_result

RELEASE_WITHIN: Final = timedelta(minutes=10)


@dataclass(frozen=True)
class Healed:
    """How many repairs were made, and how many could not be: those come again."""

    repaired: int = 0
    failed: int = 0
    gone: Mapping[str, str] = field(default_factory=dict)
    """Orders whose claims have ended because their nodes are gone, by node UID."""


def heal(ports: Ports, cluster: str, found: Sequence[Repair], now: datetime) -> Healed:
    """Make each repair; one that cannot be made is logged, and the others still are.

    Claims of nodes that are gone end together: a pass that finds thirty of them writes the cluster's document once.
    """
    attempts = _Attempts(ports)
    gone = [repair for repair in found if repair.kind is RepairKind.SETTLE and attempts.at(repair, _is_gone, ports)]
    ended = [repair for repair in gone if attempts.at(repair, _end_drain, ports, cluster, now)]
    orders = {repair.uid: repair.order_id for repair in ended}
    if orders:
        change_cluster(ports.state, ports.clock, lambda state, at: settle_gone(state, orders, at))
    others = [repair for repair in found if repair.kind is not RepairKind.SETTLE]
    repaired = sum(attempts.at(each, _REPAIRS[each.kind], ports, cluster, now) for each in others)
    return Healed(len(ended) + repaired, attempts.failed, orders)


class _Attempts:
    """Tries one repair after another; a failure is logged and counted, and the others go on."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._outages = Outages()
        self.failed = 0

    def at(self, repair: Repair, act: Callable[..., bool], *arguments: object) -> bool:
        """Return what the act returns, False when it failed. Raises Retryable when everything fails: an outage."""
        try:
            done = act(repair, *arguments)
        except Exception as fault:  # noqa: BLE001 - whatever is wrong with this one, the others are to be repaired
            self._count(repair, fault)
            return False
        self._outages.answered()
        return done

    def _count(self, repair: Repair, fault: Exception) -> None:
        self.failed += 1
        what = f"{repair.node}: not healed ({repair.kind.value}): {type(fault).__name__} {fault}"
        self._ports.log.event("run_summary", what, severity="ERROR", reason="not_healed")
        if self._outages.is_one(fault):
            raise fault


def _is_gone(repair: Repair, ports: Ports) -> bool:
    """Look once more for the very node of a claim."""
    try:
        return ports.cluster.node(repair.node).uid != repair.uid
    except Gone:
        return True


def _end_drain(repair: Repair, ports: Ports, cluster: str, now: datetime) -> bool:
    """End and report a drain whose node is gone; the claim goes last, so that after a crash it is reported again."""
    record = _settle_record(ports, repair)
    result = DrainResult(order_id=repair.order_id, cluster=cluster, node=repair.node, outcome=Outcome.REMOVED)
    stats = log_fields(record, now) if record else {}
    report_result(ports, result, Outcome.REMOVED.sentence, pool=repair.pool, **stats)
    return True


def _settle_record(ports: Ports, repair: Repair) -> DrainRecord | None:
    """Settle the record unless that has been done; return it, None where it is missing or cannot be read."""
    stored = LeasedRecord.seize(ports.state, ports.clock, repair.order_id, "planner")
    if stored is None:  # logged when the pass read it; the claim is what has to go
        return None
    if stored.record.phase is not DrainPhase.SETTLED:
        try:
            stored.settle(Outcome.REMOVED)
        except Stale as error:
            ports.log.event("healed", f"The drain's own step has just written: {error}", order_id=repair.order_id)
    return stored.record


def _continue(repair: Repair, ports: Ports, cluster: str, now: datetime) -> bool:
    """Publish the order again, one generation on, unless its step has come back to life."""
    del cluster
    record = ports.state.get(drain_key(repair.order_id)).value
    if record is None or _is_running(record, now):
        return False
    ports.orders.publish(continuation(record.order, record.generation))
    _log_repair(ports, repair, "The drain's step fell silent; its order was published again.")
    return True


def _is_running(record: DrainRecord, now: datetime) -> bool:
    return record.phase is DrainPhase.SETTLED or record.is_leased(now)


def _release(repair: Repair, ports: Ports, cluster: str, now: datetime) -> bool:
    """Publish a release; the drainer looks for its cause again before it undoes anything."""
    ports.orders.publish(
        Order(
            kind=OrderKind.RELEASE,
            order_id=repair.order_id,
            cluster=cluster,
            node=repair.node,
            node_uid=repair.uid,
            origin=Origin.PLANNER,
            issued_at=now,
            expires_at=now + RELEASE_WITHIN,
            not_before=repair.not_before,
            pod=repair.detail if repair.not_before else "",
            why=repair.why.value if repair.why else "",
        )
    )
    _log_repair(ports, repair, f"A release was published: {repair.why.sentence if repair.why else ''} {repair.detail}")
    return True


def _log_repair(ports: Ports, repair: Repair, message: str) -> None:
    ports.log.event(
        "healed",
        message.strip(),
        order_id=repair.order_id,
        node=repair.node,
        pool=repair.pool,
        reason=repair.why.value if repair.why else repair.kind.value,
    )


_REPAIRS: Final[dict[RepairKind, Callable[[Repair, Ports, str, datetime], bool]]] = {
    RepairKind.CONTINUE: _continue,
    RepairKind.RELEASE: _release,
}


AN_OUTAGE: Final = 3
"""So many calls without an answer, and none in between that succeeded: the others wait for the next pass."""


class Outages:
    """Counts the calls that got no answer since the last one that succeeded."""

    def __init__(self) -> None:
        self._in_a_row = 0

    def answered(self) -> None:
        """Note a call that succeeded."""
        self._in_a_row = 0

    def is_one(self, fault: Exception) -> bool:
        """Note a call that failed, and return whether this one makes it an outage."""
        self._in_a_row += isinstance(fault, Retryable)
        return isinstance(fault, Retryable) and self._in_a_row >= AN_OUTAGE
