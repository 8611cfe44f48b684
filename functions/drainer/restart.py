"""Restarts a Deployment whose pods leave without a gap, and undoes that restart when the drain fails.

The Deployment is read in the same moment, the record is written before it is touched, and the write holds only on the
version that was read (docs/decisions/single-replicas.md).
"""

from typing import Any

from msgspec.structs import replace

from shared.core.cluster.workloads import Deployment
from shared.core.draining.drain import LOOK_EVERY, Restart, ReturnNode
from shared.core.draining.surging import (
    asked_of,
    is_taken_back,
    left_to_people,
    restarts,
    stamp_to_restore,
    take_back_by_hand,
    why_not_restart,
)
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase, Surge
from shared.errors import Gone, Retryable, Stale, Terminal
from shared.ports import Ports
from shared.store.compare_and_set import while_stale
from shared.store.drain_record import LeasedRecord


def restart(ports: Ports, leased: LeasedRecord, step: Restart, before: dict[str, Any]) -> ReturnNode | None:
    """Restart a Deployment, or find that this drain has; return how the drain ends if it is refused for good."""
    record, order_id = leased.record, leased.record.order.order_id
    try:
        found = ports.cluster.deployment(step.deployment)
    except Gone:  # what stood behind its pods is read again by and by
        leased.time.rest(LOOK_EVERY)
        return None
    surge = record.surges.get(step.deployment)
    if surge is not None and found.stamp == order_id:
        _record_restart(ports, leased, found.name)  # an answer was lost, or the step that asked
        return None
    if surge is not None and is_taken_back(found, surge, order_id):
        detail = f"{found.name}: somebody has undone the restart, or changed it meanwhile"
        return ReturnNode(ReturnReason.SURGE_FAILED, detail)
    if why_not_restart(found, step.pods):
        leased.time.rest(LOOK_EVERY)
        return None
    surges = {**record.surges, found.name: asked_of(found, leased.time.now())}
    leased.write(surges=surges, **before)  # before it is touched: fails when overtaken
    _log(ports, found.name, "asked", f"for {', '.join(pod.key for pod in step.pods)}")
    return _write(ports, leased, found, is_first=surge is None)


def _write(ports: Ports, leased: LeasedRecord, found: Deployment, *, is_first: bool) -> ReturnNode | None:
    try:
        ports.cluster.restart(found, leased.record.order.order_id)
    except (Stale, Gone):
        if is_first:  # else what an earlier attempt sent may be what changed it: it stays on record, to be undone
            others = {name: surge for name, surge in leased.record.surges.items() if name != found.name}
            leased.write(surges=others)
        leased.time.rest(LOOK_EVERY)  # the next look sees what changed, perhaps again and again
        return None
    except Terminal as fault:
        _log(ports, found.name, "refused", str(fault))
        return ReturnNode(ReturnReason.SURGE_REFUSED, str(fault))
    _record_restart(ports, leased, found.name)
    return None


def _record_restart(ports: Ports, leased: LeasedRecord, name: str) -> None:
    surges = leased.record.surges
    leased.write(surges={**surges, name: replace(surges[name], written=True, at=leased.time.now())})
    _log(ports, name, "restarted", "its controller ends the old pod once the new one is available")


def undo_restarts(ports: Ports, leased: LeasedRecord) -> str:
    """Undo the restarts of this drain, and return which of them only a person can undo, and how.

    A restart that is rolled out, or somebody else's by now, stays as it is. Raises Retryable, Stale: nothing recorded.
    """
    is_over = leased.record.phase is DrainPhase.SETTLED
    order_id = leased.record.order.order_id
    surges = {name: _undo(ports, name, surge, order_id, is_over=is_over) for name, surge in restarts(leased.record)}
    if surges and surges != leased.record.surges:
        (leased.amend if is_over else leased.remember)(surges=surges)
    return left_to_people(leased.record)


def _undo(ports: Ports, name: str, surge: Surge, order_id: str, *, is_over: bool) -> Surge:
    """Undo one, and return its new row in the record: by that a pass sees whether another look is worth a release."""

    def restore() -> Deployment | None:
        found = ports.cluster.deployment(name)
        stamp = stamp_to_restore(found, surge, order_id)
        if stamp is None:
            _log(ports, name, "left", "nothing of the restart hangs, or it is somebody else's by now")
            return found
        ports.cluster.restart(found, stamp)
        _log(ports, name, "undone", "the old pod's template is the newest again")
        return None

    try:
        found = while_stale(f"deployment {name}", restore)
    except Retryable as fault:
        _log(ports, name, "later", f"{fault}; the next passes try again", severity="WARNING")
        return surge
    except Terminal as fault:  # the node is returned all the same; a person has to undo the rest
        _log(ports, name, "stuck", f"{fault}; {take_back_by_hand(name)}", severity="WARNING")
        return replace(surge, stuck=True, refused=surge.refused + int(is_over))
    return replace(surge, stuck=False, looked_at=found.generation if found else None)


def _log(ports: Ports, name: str, answer: str, detail: str, severity: str = "INFO") -> None:
    message = f"{name}: {answer}, {detail}"
    ports.log.event("surge", message, severity=severity, workload=name, answer=answer, detail=detail)
