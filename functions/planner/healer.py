"""Mends what earlier passes and drains left behind: settles what is gone, publishes what must go on or go back.

Which findings there are is `core.healing`'s; here each is looked for again on fresh reads before it is acted on.
Must not write to the cluster.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from shared.cas import change_cluster
from shared.core.account import account, taken
from shared.core.claims import settled
from shared.core.healing import Cure, Finding
from shared.core.orders import Kind, Order, Origin
from shared.core.reasons import Outcome
from shared.core.state import ClusterState, DrainPhase, DrainRecord
from shared.errors import Gone, Stale
from shared.ports import Ports, drain_key

RELEASE_WITHIN: Final = timedelta(minutes=10)


def heal(ports: Ports, cluster: str, found: Sequence[Finding], now: datetime) -> int:
    """Mend each finding and return how many were acted on. Raises Retryable on an outage.

    Claims of nodes that are gone end together: a pass that finds thirty of them writes the cluster's document once.
    """
    gone = [finding for finding in found if finding.cure is Cure.SETTLE and _is_gone(ports, finding)]
    if gone:
        _settle(ports, gone, now)
    others = [finding for finding in found if finding.cure is not Cure.SETTLE]
    return len(gone) + sum(_CURES[finding.cure](ports, cluster, finding, now) for finding in others)


def _is_gone(ports: Ports, finding: Finding) -> bool:
    """Look once more for the very node of a claim."""
    try:
        return ports.cluster.node(finding.node).uid != finding.uid
    except Gone:
        return True


def _settle(ports: Ports, gone: Sequence[Finding], now: datetime) -> None:
    """End the drains of nodes that are gone; the claims go last, so that a crash is found, and told, again."""
    for finding in gone:
        _tell_removed(ports, finding, _settle_record(ports, finding, now), now)
    orders = {finding.uid: finding.order_id for finding in gone}

    def change(state: ClusterState, at: datetime) -> ClusterState:
        for uid in [uid for uid, claim in state.claims.items() if orders.get(uid) == claim.order_id]:
            state = settled(state, uid, None, at)
        return state

    change_cluster(ports.state, ports.clock, change)


def _tell_removed(ports: Ports, finding: Finding, record: DrainRecord | None, now: datetime) -> None:
    ports.log.event(
        "drain_result",
        Outcome.REMOVED.sentence,
        order_id=finding.order_id,
        node=finding.node,
        pool=finding.pool,
        outcome=Outcome.REMOVED.value,
        **(taken(account(record, now)) if record else {}),
    )
    ports.orders.report({"order_id": finding.order_id, "node": finding.node, "outcome": Outcome.REMOVED.value})


def _settle_record(ports: Ports, finding: Finding, now: datetime) -> DrainRecord | None:
    stored = ports.state.get(drain_key(finding.order_id))
    if stored.value is None or stored.value.phase is DrainPhase.SETTLED:
        return stored.value
    ended = replace(stored.value, phase=DrainPhase.SETTLED, outcome=Outcome.REMOVED.value, lease=None, updated_at=now)
    try:
        ports.state.put(drain_key(finding.order_id), ended, stored.version)
    except Stale as error:
        ports.log.event("healed", f"The drain's own step has just written: {error}", order_id=finding.order_id)
    return stored.value


def _continue(ports: Ports, cluster: str, finding: Finding, now: datetime) -> bool:
    """Publish the order again, one generation on, unless its step has come back to life."""
    del cluster
    record = ports.state.get(drain_key(finding.order_id)).value
    if record is None or _lives(record, now):
        return False
    ports.orders.publish(replace(record.order, generation=record.generation + 1))
    _tell(ports, finding, "The drain's step fell silent; its order was published again.")
    return True


def _lives(record: DrainRecord, now: datetime) -> bool:
    ended = record.phase is DrainPhase.SETTLED
    return ended or (record.lease is not None and record.lease.lives(now))


def _release(ports: Ports, cluster: str, finding: Finding, now: datetime) -> bool:
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


_CURES: Final[dict[Cure, Callable[[Ports, str, Finding, datetime], bool]]] = {
    Cure.CONTINUE: _continue,
    Cure.RELEASE: _release,
}
