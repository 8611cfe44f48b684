"""What stays saved: nodes that drains removed and that have not come back, for the log and its metrics alone.

Nobody can know how long a removed node would have stayed. The estimate is on the low side: a removed node counts
from its removal until a node is added to its pool, whatever for, and at most a day. Must not decide anything.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from shared.core.cluster.node import Node
from shared.core.records.state import Claim, Reclaimed

COUNTS_FOR: Final = timedelta(days=1)
"""By then the daily rise and fall has passed once, and the autoscaler alone might have come to the same size."""
LONGEST_GAP: Final = timedelta(hours=1)
"""A pass accounts for the time since the last one, at most this: nobody looked meanwhile."""


def with_removed(reclaimed: tuple[Reclaimed, ...], claim: Claim, now: datetime) -> tuple[Reclaimed, ...]:
    """Return what is reclaimed once the claim's node is gone, in one entry for each pool and hour."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    same = next((each for each in reclaimed if (each.pool, each.hour) == (claim.pool, hour)), None)
    before = same or Reclaimed(claim.pool, hour, 0, 0)
    grown = replace(before, nodes=before.nodes + 1, cost_per_hour=before.cost_per_hour + claim.cost_per_hour)
    return (*(each for each in reclaimed if each is not same), grown)


def still_saved(
    reclaimed: tuple[Reclaimed, ...], nodes: Iterable[Node], since: datetime | None, now: datetime
) -> tuple[Reclaimed, ...]:
    """Return what is still saved: without what is a day old, and without a node for each added since the last pass."""
    young = [each for each in reclaimed if now - each.hour < COUNTS_FOR]
    added = [node.pool for node in nodes if since is not None and node.created > since]
    left: list[Reclaimed] = []
    for entry in young:
        back = min(entry.nodes, added.count(entry.pool))
        for _ in range(back):
            added.remove(entry.pool)
        if entry.nodes > back:
            left.append(_without(entry, back))
    return tuple(left)


def _without(entry: Reclaimed, nodes: int) -> Reclaimed:
    kept = entry.nodes - nodes
    return replace(entry, nodes=kept, cost_per_hour=entry.cost_per_hour * kept // entry.nodes)


def hours_since(last_pass: datetime | None, now: datetime) -> float:
    """Return the hours that a pass accounts for."""
    gap = now - last_pass if last_pass is not None else timedelta(0)
    return min(max(gap, timedelta(0)), LONGEST_GAP).total_seconds() / 3600
