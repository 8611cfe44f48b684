"""Circuit breakers: a pool in which our work went wrong gets no new drain for a while.

Two things open one: a pod that we moved finds no place, and failures of drains in a row. Must not act; the
planner writes breakers into the cluster's document and says so as an alert.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from shared.core.demand import waiting
from shared.core.snapshot import Snapshot
from shared.core.state import Breaker, Claim, DrainRecord

OPEN_FOR: Final = timedelta(minutes=30)
"""As long as a first back-off: the pods' owners get time to settle."""


def stranded(
    snapshot: Snapshot, claims: Iterable[Claim], records: Mapping[str, DrainRecord], now: datetime
) -> Mapping[str, Breaker]:
    """Return a breaker for each pool of which a moved pod's replacement has waited too long.

    A replacement is known by its controller: a waiting pod of a workload from which a standing claim has evicted.
    """
    waits = {pod.spec.workload: pod for pod in waiting(snapshot) if pod.spec.workload}
    opened: dict[str, Breaker] = {}
    for claim in sorted(claims, key=lambda each: each.node):
        for workload in sorted(moved_by(records.get(claim.order_id))):
            pod = waits.get(workload)
            since = pod.unschedulable_since if pod else None
            if pod and since and now - since > claim.settings.pending_grace:
                opened.setdefault(claim.pool, Breaker(now + OPEN_FOR, f"{pod.key} found no place after a drain"))
    return opened


def moved_by(record: DrainRecord | None) -> frozenset[str]:
    """Return the workloads from which a drain has evicted pods."""
    rows = record.pods.values() if record else ()
    return frozenset(row.owner for row in rows if row.owner and row.answer in {"granted", "gone"})
