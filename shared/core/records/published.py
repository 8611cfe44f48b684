"""Orders on their way: published, and not yet claimed, refused or expired. To the planner they are in flight.

Each is kept as the claim that it asks for, so that budgets, minimums, rates, room and verdicts count it as they will
count the claim itself: no node is ordered twice, and no two passes give the same room away. The drainer does not
count them: whoever claims first has the budget. Must not judge.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

from msgspec.structs import replace

from shared.core.records.state import ClusterState, Published, Start


def with_published(state: ClusterState, orders: Mapping[str, Published]) -> ClusterState:
    """Return the document in which these orders, by node UID, are on their way; written before they are published."""
    return replace(state, published={**state.published, **orders}) if orders else state


def without_order(state: ClusterState, order_id: str) -> ClusterState:
    """Return the document without an order that was claimed or refused."""
    kept = {uid: each for uid, each in state.published.items() if each.claim.order_id != order_id}
    return state if len(kept) == len(state.published) else replace(state, published=kept)


def without_void(state: ClusterState, is_alive: Callable[[str], bool], begun: datetime, now: datetime) -> ClusterState:
    """Return the document without what no longer counts; the last thing that a pass that began at `begun` asks for.

    Orders of a pass that was not completed go: whether they were published nobody knows, and the next pass, this one,
    may have ordered their nodes again.
    """
    kept = {
        uid: each
        for uid, each in state.published.items()
        if is_alive(uid) and now < each.expires_at and (_completed(each, state) or each.claim.since >= begun)
    }
    return state if len(kept) == len(state.published) else replace(state, published=kept)


def on_their_way(state: ClusterState, now: datetime) -> Mapping[str, Published]:
    """Return the orders that count, by node UID: of a pass that was completed, not expired, on an unclaimed node."""
    return {
        uid: each
        for uid, each in state.published.items()
        if uid not in state.claims and now < each.expires_at and _completed(each, state)
    }


def as_planned(state: ClusterState, now: datetime) -> ClusterState:
    """Return the document as the planner counts by it: each order on its way as if it had been claimed when issued."""
    found = on_their_way(state, now)
    if not found:
        return state
    claims = {uid: each.claim for uid, each in found.items()}
    last = max(claim.since for claim in claims.values())
    return replace(
        state,
        claims={**state.claims, **claims},
        last_scale_down=max(state.last_scale_down or last, last),
        starts=(*state.starts, *(Start(each.claim.since, each.claim.pool, each.pods) for each in found.values())),
    )


def _completed(order: Published, state: ClusterState) -> bool:
    return state.last_pass is not None and order.claim.since <= state.last_pass
