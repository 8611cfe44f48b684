"""Repairs what earlier passes and drains left behind: settles what is gone, publishes what must go on or go back.

Which findings there are is `core.healing`'s; here each is looked for again on fresh reads before it is acted on.
Must not write to the cluster.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from shared.core.draining.drain_stats import account, taken
from shared.core.healing.repairs import Cure, Finding
from shared.core.reasons import Outcome
from shared.core.records.claims import settled
from shared.core.records.orders import Kind, Order, Origin, continued
from shared.core.records.result import DrainResult
from shared.core.records.state import ClusterState, DrainPhase, DrainRecord
from shared.errors import Gone, Retryable, Stale, Unreadable
from shared.ports import Ports, drain_key
from shared.store.compare_and_set import change_cluster

RELEASE_WITHIN: Final = timedelta(minutes=10)
AN_OUTAGE: Final = 3
"""So many outages in a row are one outage: the pass ends, rather than wait for each finding's call in turn."""


@dataclass(frozen=True)
class Healed:
    """How many findings were acted on, and how many could not be: those are found again."""

    repaired: int = 0
    failed: int = 0


def heal(ports: Ports, cluster: str, found: Sequence[Finding], now: datetime) -> Healed:
    """Repair each finding; one that cannot be repaired is said, and the others still are.

    Claims of nodes that are gone end together: a pass that finds thirty of them writes the cluster's document once.
    """
    attempts = _Attempts(ports)
    gone = [finding for finding in found if finding.cure is Cure.SETTLE and attempts.at(finding, _is_gone, ports)]
    ended = [finding for finding in gone if attempts.at(finding, _end, ports, cluster, now)]
    if ended:
        _settle_claims(ports, ended)
    others = [finding for finding in found if finding.cure is not Cure.SETTLE]
    repaired = sum(attempts.at(each, _CURES[each.cure], ports, cluster, now) for each in others)
    return Healed(len(ended) + repaired, attempts.failed)


class _Attempts:
    """Tries one finding after another; what fails is said and counted, and the others do not wait for it."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._outages = 0
        self.failed = 0

    def at(self, finding: Finding, act: Callable[..., bool], *arguments: object) -> bool:
        """Return what the act returns, False when it failed. Raises Retryable when everything fails: an outage."""
        try:
            done = act(finding, *arguments)
        except Exception as fault:  # noqa: BLE001 - whatever is wrong with this one, the others are to be repaired
            self._count(finding, fault)
            return False
        self._outages = 0
        return done

    def _count(self, finding: Finding, fault: Exception) -> None:
        self.failed += 1
        self._outages += isinstance(fault, Retryable)
        what = f"{finding.node}: not healed ({finding.cure.value}): {type(fault).__name__} {fault}"
        self._ports.log.event("run_summary", what, severity="ERROR", reason="not_healed")
        if isinstance(fault, Retryable) and self._outages >= AN_OUTAGE:
            raise fault


def _is_gone(finding: Finding, ports: Ports) -> bool:
    """Look once more for the very node of a claim."""
    try:
        return ports.cluster.node(finding.node).uid != finding.uid
    except Gone:
        return True


def _end(finding: Finding, ports: Ports, cluster: str, now: datetime) -> bool:
    """End the record of a drain whose node is gone, and tell; the claim goes last, so that a crash is told again."""
    _tell_removed(ports, cluster, finding, _settle_record(ports, finding, now), now)
    return True


def _settle_claims(ports: Ports, gone: Sequence[Finding]) -> None:
    orders = {finding.uid: finding.order_id for finding in gone}

    def change(state: ClusterState, at: datetime) -> ClusterState:
        for uid in [uid for uid, claim in state.claims.items() if orders.get(uid) == claim.order_id]:
            state = settled(state, uid, None, at)
        return state

    change_cluster(ports.state, ports.clock, change)


def _tell_removed(ports: Ports, cluster: str, finding: Finding, record: DrainRecord | None, now: datetime) -> None:
    ports.log.event(
        "drain_result",
        Outcome.REMOVED.sentence,
        order_id=finding.order_id,
        node=finding.node,
        pool=finding.pool,
        outcome=Outcome.REMOVED.value,
        **(taken(account(record, now)) if record else {}),
    )
    ports.orders.report(
        DrainResult(order_id=finding.order_id, cluster=cluster, node=finding.node, outcome=Outcome.REMOVED)
    )


def _settle_record(ports: Ports, finding: Finding, now: datetime) -> DrainRecord | None:
    try:
        stored = ports.state.get(drain_key(finding.order_id))
    except Unreadable:  # said when the pass read it; the claim is what has to go
        return None
    if stored.value is None or stored.value.phase is DrainPhase.SETTLED:
        return stored.value
    ended = replace(stored.value, phase=DrainPhase.SETTLED, outcome=Outcome.REMOVED.value, lease=None, updated_at=now)
    try:
        ports.state.put(drain_key(finding.order_id), ended, stored.version)
    except Stale as error:
        ports.log.event("healed", f"The drain's own step has just written: {error}", order_id=finding.order_id)
    return stored.value


def _continue(finding: Finding, ports: Ports, cluster: str, now: datetime) -> bool:
    """Publish the order again, one generation on, unless its step has come back to life."""
    del cluster
    record = ports.state.get(drain_key(finding.order_id)).value
    if record is None or _lives(record, now):
        return False
    ports.orders.publish(continued(record.order, record.generation))
    _tell(ports, finding, "The drain's step fell silent; its order was published again.")
    return True


def _lives(record: DrainRecord, now: datetime) -> bool:
    ended = record.phase is DrainPhase.SETTLED
    return ended or (record.lease is not None and record.lease.lives(now))


def _release(finding: Finding, ports: Ports, cluster: str, now: datetime) -> bool:
    """Publish a release; the drainer repeats the finding before it undoes anything."""
    ports.orders.publish(
        Order(
            kind=Kind.RELEASE,
            order_id=finding.order_id,
            cluster=cluster,
            node=finding.node,
            node_uid=finding.uid,
            origin=Origin.PLANNER,
            issued_at=now,
            expires_at=now + RELEASE_WITHIN,
            why=finding.why.value if finding.why else "",
        )
    )
    _tell(ports, finding, f"A release was published: {finding.why.sentence if finding.why else ''} {finding.detail}")
    return True


def _tell(ports: Ports, finding: Finding, message: str) -> None:
    ports.log.event(
        "healed",
        message.strip(),
        order_id=finding.order_id,
        node=finding.node,
        pool=finding.pool,
        reason=finding.why.value if finding.why else finding.cure.value,
    )


_CURES: Final[dict[Cure, Callable[[Finding, Ports, str, datetime], bool]]] = {
    Cure.CONTINUE: _continue,
    Cure.RELEASE: _release,
}
