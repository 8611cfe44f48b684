"""Circuit breakers: a pool in which our work went wrong gets no new drain for a while."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.snapshot import Snapshot
from shared.core.draining.replacements import claims_on_their_way_out, for_one_pod, is_late, waiting_for_a_place
from shared.core.placement.demand import waiting_pods
from shared.core.reasons import After, ReturnReason
from shared.core.records.claims import open_breakers
from shared.core.records.drain_record import DrainRecord
from shared.core.records.orders import Origin
from shared.core.records.state import Breaker, Claim, ClusterState

OPEN_FOR: Final = timedelta(minutes=30)  # As long as a first back-off: the pods' owners get time to settle.
MOST_FAILURES: Final = 3
FAILURES_WITHIN: Final = timedelta(hours=1)
FAILED_DRAINS: Final = frozenset(why.value for why in ReturnReason if why.row.after is After.FAILURE)
"""Reasons that show that draining in this pool does not work just now."""


def breaker_over(claim: Claim, state: ClusterState, now: datetime) -> Breaker | None:
    """Return the breaker that stands open over a claim and ends it: one whose half hour began after it was granted."""
    # That of failed drains begins with the newest of them, before a pass opens it. A person may order a drain past an
    # open breaker (`manual.mayIgnore`); the planner orders none.
    breaker = open_breakers(state, now).get(claim.pool)
    if breaker is None or (claim.origin is not Origin.PLANNER and claim.since >= breaker.until - OPEN_FOR):
        return None
    return breaker


def after_failures(snapshot: Snapshot, state: ClusterState, now: datetime) -> Mapping[str, Breaker]:
    """Return a breaker for each pool in which three nodes failed to drain within an hour."""
    failures: dict[str, list[datetime]] = {}
    for node in snapshot.nodes:
        backoff = state.backoffs.get(node.uid)
        if backoff is not None and backoff.why in FAILED_DRAINS and now - backoff.since < FAILURES_WITHIN:
            failures.setdefault(node.pool, []).append(backoff.since)
    many = {pool: max(times) for pool, times in failures.items() if len(times) >= MOST_FAILURES}
    return {
        pool: Breaker(newest + OPEN_FOR, f"{len(failures[pool])} drains failed within an hour")
        for pool, newest in many.items()
        if now < newest + OPEN_FOR
    }


def after_scale_ups(
    snapshot: Snapshot,
    claims: Iterable[Claim],
    records: Mapping[str, DrainRecord],
    scale_ups: Mapping[str, datetime],
    now: datetime,
) -> Mapping[str, Breaker]:
    grown = {pod.spec.workload: (pod.key, scale_ups[pod.key]) for pod in snapshot.pods if pod.key in scale_ups}
    found: dict[str, Breaker] = {}
    for claim in sorted(claims, key=lambda claim: claim.node):
        for workload in sorted(evicted_workloads(records.get(claim.order_id)) & grown.keys()):
            pod, at = grown[workload]
            if at > claim.since:
                found.setdefault(claim.pool, Breaker(now + OPEN_FOR, f"a node was added for {pod} after a drain"))
    return found


def after_stranded_pods(
    snapshot: Snapshot, claims: Iterable[Claim], records: Mapping[str, DrainRecord], now: datetime
) -> Mapping[str, Breaker]:
    """Return a breaker for each pool of which a moved pod's replacement has waited too long."""
    # A replacement is a pod of a workload from which a standing claim has evicted, that waits only since that claim.
    waits = waiting_pods(snapshot)
    held = for_one_pod(claims_on_their_way_out(snapshot.pods), snapshot.storage)
    found: dict[str, Breaker] = {}
    for claim in sorted(claims, key=lambda claim: claim.node):
        record = records.get(claim.order_id)
        moved, held_at = evicted_workloads(record), record.claims_held_at if record else None
        ours = (waiting_for_a_place(pod, held, held_at) for pod in waits if pod.spec.workload in moved)
        since = (pod for pod in ours if pod.unschedulable_since and pod.unschedulable_since >= claim.since)
        late = (pod for pod in since if is_late(pod, claim.settings.pending_grace, now))
        pod = min(late, key=lambda our: our.key, default=None)
        if pod is not None:
            found.setdefault(claim.pool, Breaker(now + OPEN_FOR, f"{pod.key} found no place after a drain"))
    return found


def evicted_workloads(record: DrainRecord | None) -> frozenset[str]:
    rows = record.pods.values() if record else ()
    return frozenset(row.owner for row in rows if row.owner and row.moved)
