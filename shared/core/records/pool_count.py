"""How many nodes of a pool went and have not come back since the policy came into force, and who removed them.

One row for each pool: a node that comes takes one off. What drains removed is never more than what is away. It falls
with that alone, not with each node that comes: an upgrade or a preemption replaces nodes, and nothing has come back.
"""

from datetime import datetime

import msgspec
from msgspec.structs import replace

from shared.core.records.state import Removed


class PoolFigures(msgspec.Struct, frozen=True):
    """What one pass knows of a pool."""

    created: tuple[datetime, ...] = ()
    """When each of its nodes was made."""
    cost: int = 0
    """Of these nodes at list prices, per hour."""
    removed: Removed = Removed()
    """All that drains have removed so far."""
    saved: Removed = Removed()
    """What of that still counts as saved."""


class PoolCount(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A pool as the last pass has left it."""

    nodes: int = 0
    price: int = 0
    """Of one node at list prices, per hour."""
    removed: Removed = Removed()
    """All that drains had removed by then."""
    away: int = 0
    """Nodes that went, by anybody, and have not come back."""
    own: Removed = Removed()
    """Those of them that drains removed."""

    @property
    def by_others(self) -> int:
        return (self.away - self.own.nodes) * self.price

    def after(self, now: PoolFigures) -> "PoolCount":
        """Return the pool after a pass."""
        away = max(0, self.away + self.nodes - len(now.created))
        own = self.own.plus(self.newly_removed(now)).at_most(away)
        return replace(begin(now, self.price), away=away, own=own)

    def newly_removed(self, now: PoolFigures) -> Removed:
        """Return what drains have removed since; nothing if the state that counts it was lost."""
        nodes = now.removed.nodes - self.removed.nodes
        return Removed(nodes, now.removed.cost_per_hour - self.removed.cost_per_hour) if nodes > 0 else Removed()

    def gone(self, now: PoolFigures, newest: datetime) -> int:
        """Return how many nodes have gone since; of those that came and went in between, only what drains removed."""
        added = sum(created > newest for created in now.created)
        return max(self.nodes + added - len(now.created), self.newly_removed(now).nodes)


def begin(now: PoolFigures, price: int = 0) -> PoolCount:
    """Return a pool of which only what still counts as saved is away. An empty one has the last price."""
    nodes, saved = len(now.created), now.saved
    price = now.cost // nodes if nodes else price
    return PoolCount(nodes=nodes, price=price, removed=now.removed, away=saved.nodes, own=saved)
