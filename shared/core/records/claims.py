"""The claim's arithmetic on the cluster's document: publish, grant, settle, back off, count what was saved.

A published order is kept as the claim that it asks for until it is claimed, refused or expired: the planner orders no
node twice and gives no room twice. A removed node counts as saved until a node is added to its pool, at most a day.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from shared.core.cluster.autoscaling import ScaleDownRule
from shared.core.cluster.node import Node
from shared.core.cluster.workloads import mark
from shared.core.policy import DrainSettings, Policy
from shared.core.reasons import After, Reason, ReturnReason
from shared.core.records.orders import Order
from shared.core.records.state import Backoff, Breaker, Claim, ClusterState, Published, Reclaimed, Removed, Start

OVERRULED_FOR: Final = timedelta(hours=24)  # For a person who took the node back (docs/decisions/healing.md).
KEEP_EXPIRED: Final = timedelta(days=1)  # A back-off that passed is kept, so that a failure soon after doubles it.


def claim_for(order: Order, node: Node, policy: Policy, scale_down: ScaleDownRule, now: datetime) -> Claim:
    """Return the claim that an order asks for, with the settings the drain will end with."""
    return Claim(
        order_id=order.order_id,
        node=node.name,
        pool=node.pool,
        zone=node.zone,
        since=now,
        reason=order.reason,
        origin=order.origin,
        generation=order.generation,
        settings=policy.drain_for(scale_down.profile, scale_down.delay, only_empty=scale_down.only_empty),
        policy_hash=policy.hash,
        picture_at=order.picture_at,
    )


def grant(
    state: ClusterState, uid: str, claim: Claim, keep_starts: timedelta, pods: Mapping[str, int] | None = None
) -> ClusterState:
    """Return the document with the claim and without its order."""
    # `pods` are those that it moves, by namespace if counted.
    # Starts that are older than any rate are forgotten.
    recent = tuple(start for start in state.starts if start.at > claim.since - keep_starts)
    return replace(
        state,
        claims={**state.claims, uid: claim},
        published={key: order for key, order in state.published.items() if key != uid},
        last_scale_down=claim.since,
        starts=(*recent, Start(claim.since, claim.pool, dict(pods or {}))),
    )


def mark_drained(state: ClusterState, uid: str, order_id: str, replaced: datetime | None = None) -> ClusterState:
    """Return the document in which that order's claim is drained."""
    # `replaced` is when all that it moved ran again, if known.
    claim = state.claims.get(uid)
    if claim is None or claim.order_id != order_id:
        return state
    since = claim.replaced or replaced or UNSET
    marked = replace(claim, moving_pods={}, drained=True, replaced=since)
    return state if marked == claim else replace(state, claims={**state.claims, uid: marked})


def settle(
    state: ClusterState, uid: str, why: ReturnReason | None, now: datetime, gave_way_for: Iterable[str] = ()
) -> ClusterState:
    """Return the document without the node's claim, and with its back-off if the drain failed."""
    # Without a reason (`why` is None) the node is gone, and counts as reclaimed.
    claim = state.claims.get(uid)
    ended = replace(state, claims={key: held for key, held in state.claims.items() if key != uid})
    if claim is not None and why is None:
        total = state.removed.get(claim.pool, Removed()).plus(Removed(1, claim.cost_per_hour))
        reclaimed = with_removed(state.reclaimed, claim, now)
        return replace(ended, reclaimed=reclaimed, removed={**state.removed, claim.pool: total})
    if claim is None or why is None or why.row.after is After.NOTHING:
        return ended
    return back_off(ended, uid, claim.node, claim.settings, why, now, gave_way_for)


def settle_gone(state: ClusterState, orders: Mapping[str, str], now: datetime) -> ClusterState:
    """Return the document without the claims of nodes that are gone: those that these orders hold, by node UID."""
    for uid in [uid for uid, claim in state.claims.items() if orders.get(uid) == claim.order_id]:
        state = settle(state, uid, None, now)
    return state


def left_to_person(state: ClusterState, uid: str, node: str, why: ReturnReason, now: datetime) -> ClusterState | None:
    """Return the document in which a node that no claim holds is left to a person who wants it; None where it is so."""
    # Its claim was lost with the state; what the person did counts all the same, once.
    known = state.backoffs.get(uid)
    is_said = known is not None and known.why == why.value and now < known.until
    if why.row.after is not After.A_DAY or uid in state.claims or is_said:
        return None
    return back_off(state, uid, node, DrainSettings(), why, now)


def back_off(
    state: ClusterState,
    uid: str,
    node: str,
    settings: DrainSettings,
    why: Reason,
    now: datetime,
    gave_way_for: Iterable[str] = (),
) -> ClusterState:
    """Return the document with the node left alone: half an hour at first, doubled by each failure in a row."""
    before, delay = state.backoffs.get(uid), settings.backoff_first
    marks = tuple(mark(key) for key in gave_way_for)
    if why.row.after is After.A_DAY:
        delay, marks = OVERRULED_FOR, ()
    elif before is not None and now - before.until < settings.backoff_most:
        delay = min(before.delay * 2, settings.backoff_most)
    return replace(state, backoffs={**state.backoffs, uid: Backoff(node, now + delay, delay, why.value, marks)})


def without_past(state: ClusterState, alive: Collection[str], now: datetime) -> ClusterState:
    """Return the document without back-offs of nodes that are gone or long past, and without breakers that closed."""
    rows = state.backoffs.items()
    kept = {uid: backoff for uid, backoff in rows if uid in alive and now - backoff.until < KEEP_EXPIRED}
    return replace(state, backoffs=kept, breakers=open_breakers(state, now))


def with_breakers(state: ClusterState, opened: Mapping[str, Breaker], now: datetime) -> ClusterState:
    """Return the document with these breakers open, by pool; one that is open already stays as it is."""
    return replace(state, breakers={**opened, **open_breakers(state, now)}) if opened else state


def open_breakers(state: ClusterState, now: datetime) -> dict[str, Breaker]:
    return {pool: breaker for pool, breaker in state.breakers.items() if now < breaker.until}


def longest_rate(policy: Policy) -> timedelta:
    own = (pool.rate for pool in (*policy.pools.values(), policy.other_pools))
    rates = (policy.rate, policy.evictions_per_namespace, *own)
    return max((rate.per for rate in rates if rate), default=timedelta(0))


def with_published(state: ClusterState, orders: Mapping[str, Published]) -> ClusterState:
    """Return the document in which these orders, by node UID, are on their way; written before they are published."""
    return replace(state, published={**state.published, **orders}) if orders else state


def without_order(state: ClusterState, order_id: str) -> ClusterState:
    kept = {uid: order for uid, order in state.published.items() if order.claim.order_id != order_id}
    return state if len(kept) == len(state.published) else replace(state, published=kept)


def without_void(state: ClusterState, is_alive: Callable[[str], bool], begun: datetime, now: datetime) -> ClusterState:
    """Return the document without what no longer counts; the last thing that a pass that began at `begun` asks for."""
    # Orders of a pass that was not completed go: nobody knows if they were published, and this one may order again.
    kept = {
        uid: order
        for uid, order in state.published.items()
        if is_alive(uid) and now < order.expires_at and (_is_completed(order, state) or order.claim.since >= begun)
    }
    return state if len(kept) == len(state.published) else replace(state, published=kept)


def on_their_way(state: ClusterState, now: datetime) -> Mapping[str, Published]:
    """Return the orders that count, by node UID: of a pass that was completed, not expired, on an unclaimed node."""
    return {
        uid: order
        for uid, order in state.published.items()
        if uid not in state.claims and now < order.expires_at and _is_completed(order, state)
    }


def as_planned(state: ClusterState, now: datetime) -> ClusterState:
    """Return the document as the planner counts by it: each order on its way as if it had been claimed when issued."""
    found = on_their_way(state, now)
    if not found:
        return state
    claims = {uid: published.claim for uid, published in found.items()}
    last = max(claim.since for claim in claims.values())
    return replace(
        state,
        claims={**state.claims, **claims},
        last_scale_down=max(state.last_scale_down or last, last),
        starts=(*state.starts, *(Start(name.claim.since, name.claim.pool, name.pods) for name in found.values())),
    )


def _is_completed(order: Published, state: ClusterState) -> bool:
    return state.last_pass is not None and order.claim.since <= state.last_pass


COUNTS_FOR: Final = timedelta(days=1)  # The autoscaler alone might have reached the same size by then.
LONGEST_GAP: Final = timedelta(hours=1)  # A pass accounts for no more since the last one: nobody looked meanwhile.


def with_removed(reclaimed: tuple[Reclaimed, ...], claim: Claim, now: datetime) -> tuple[Reclaimed, ...]:
    """Return what is reclaimed once the claim's node is gone, in one entry for each pool and hour."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    same = next((entry for entry in reclaimed if (entry.pool, entry.hour) == (claim.pool, hour)), None)
    before = same or Reclaimed(claim.pool, hour, 0, 0)
    covered = 0 if claim.covered_per_hour is UNSET else claim.covered_per_hour
    grown = replace(
        before,
        nodes=before.nodes + 1,
        cost_per_hour=before.cost_per_hour + claim.cost_per_hour,
        covered_per_hour=before.covered_per_hour + covered,
    )
    return (*(entry for entry in reclaimed if entry is not same), grown)


def still_saved(
    reclaimed: tuple[Reclaimed, ...], nodes: Iterable[Node], since: datetime | None, now: datetime
) -> tuple[Reclaimed, ...]:
    """Return what is still saved: without what is a day old, and without a node for each added since the last pass."""
    young = [entry for entry in reclaimed if now - entry.hour < COUNTS_FOR]
    added = Counter(node.pool for node in nodes if since is not None and node.created > since)
    left: list[Reclaimed] = []
    for entry in young:
        back = min(entry.nodes, added[entry.pool])
        added[entry.pool] -= back
        if (kept := entry.nodes - back) > 0:
            cost, covered = (amount * kept // entry.nodes for amount in (entry.cost_per_hour, entry.covered_per_hour))
            left.append(replace(entry, nodes=kept, cost_per_hour=cost, covered_per_hour=covered))
    return tuple(left)


def hours_since(last_pass: datetime | None, now: datetime) -> float:
    gap = now - last_pass if last_pass is not None else timedelta(0)
    return min(max(gap, timedelta(0)), LONGEST_GAP).total_seconds() / 3600
