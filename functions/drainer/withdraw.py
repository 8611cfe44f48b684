"""Requests to evict that are still open when their node is given back: withdrawn, or a pod would go for nothing.

After the node is free, for that must not wait for anything; repeated until it is done. Must not decide when.
"""

from typing import Final

from msgspec.structs import replace as changed

from functions.drainer.session import DrainSession
from shared.core.records.drain_record import PodProgress
from shared.core.records.evictions import EvictionAnswer
from shared.errors import Retryable, Stale, Terminal

_TRIES: Final = 3
_WITHDRAWN: Final = {"answer": EvictionAnswer.LATER.value, "detail": "withdrawn", "refused": True}


def withdraw_requests(session: DrainSession) -> None:
    """Withdraw what the drain's record says was requested; what was open has moved no pod.

    Raises:
        Retryable: one could not be withdrawn; the drain's ending is repeated. Stale: another step has overtaken this.
    """
    rows = session.record.pods
    open_ = {key: row for key, row in rows.items() if row.requested and _withdraw(session, key, row.uid)}
    if open_:
        session.leased.write(session.time.now(), pods={**rows, **{key: _as_withdrawn(open_[key]) for key in open_}})


def withdraw_all_on(session: DrainSession, node: str) -> None:
    """Withdraw what may have been requested by a drain of which no record is left. Raises Retryable."""
    for pod in session.ports.cluster.pods_on(node):
        if pod.spec.eviction_responders:
            _withdraw(session, pod.key, pod.uid)


def _as_withdrawn(row: PodProgress) -> PodProgress:
    return changed(row, **_WITHDRAWN)


def _withdraw(session: DrainSession, key: str, uid: str) -> bool:
    """Whether one stood; who may no longer withdraw it says so, and the ending goes on."""
    namespace = key.partition("/")[0]
    try:
        stood = _last_read(session, namespace, uid)
    except Terminal as refused:
        message = f"{key}: the request to evict it could not be withdrawn: {refused}"
        session.log_event("eviction", message, severity="WARNING", pod=key, answer="not_withdrawn", detail=str(refused))
        return False
    if stood:
        message = f"{key}: the request to evict it is withdrawn"
        session.log_event("eviction", message, pod=key, answer="withdrawn", detail="its node is given back")
    return stood


def _last_read(session: DrainSession, namespace: str, uid: str) -> bool:
    """A controller writes into a request as well: once more on what it has written."""
    for _ in range(_TRIES):
        try:
            return session.ports.cluster.withdraw(namespace, uid)
        except Stale:
            continue
    raise Retryable("EvictionRequest", f"the one for pod {uid} changed {_TRIES} times while it was withdrawn")
