"""How many nodes of a pool went and have not come back since the policy came into force, and who removed them.

One row for each pool. The node that went last comes back first: a morning brings back what the night has removed, and
an upgrade or a preemption, which replaces nodes, takes nothing from older drains.
"""

from datetime import datetime

import msgspec
from msgspec.structs import replace

from shared.core.records.state import Removed


class PoolFigures(msgspec.Struct, frozen=True):
    created: tuple[datetime, ...] = ()  # When each of its nodes was made.
    cost: int = 0  # What the bill would fall by without these nodes, per hour.
    removed: Removed = Removed()  # All that drains have removed so far.
    saved: Removed = Removed()  # What of that is no older than a day and counts as saved, now or from then on.


class PoolCount(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A pool as the last pass has left it."""

    nodes: int = 0
    price: int = 0  # Of one node by the bill, per hour.
    removed: Removed = Removed()  # All that drains had removed by then.
    first: int = 0  # Its nodes when the policy came into force, with those that counted as saved.
    runs: tuple[int, ...] = ()  # Of nodes that are away, oldest first: so many by drains, or below zero by others.
    own: Removed = Removed()  # Those by drains.

    @property
    def smaller(self) -> int:
        """By how many nodes the pool is smaller than at first: what came later and went again is no saving."""
        return max(0, self.first - self.nodes)

    @property
    def by_drains(self) -> int:
        return self.own.at_most(self.smaller).cost_per_hour

    @property
    def by_others(self) -> int:
        return max(0, self.smaller - self.own.nodes) * self.price

    def after(self, now: PoolFigures) -> "PoolCount":
        """Return the pool after a pass; nodes that came are newer than all that went since the last one."""
        new = self.newly_removed(now)
        others = self.nodes - len(now.created) - new.nodes
        runs = _without_last(_with(_with(self.runs, new.nodes), min(0, -others)), max(0, -others))
        own = self.own.plus(new).at_most(sum(run for run in runs if run > 0))
        return replace(begin(now, self.price), first=self.first, runs=runs, own=own)

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
    first, runs = nodes + saved.nodes, _with((), saved.nodes)
    return PoolCount(nodes=nodes, price=price, removed=now.removed, first=first, runs=runs, own=saved)


def _with(runs: tuple[int, ...], run: int) -> tuple[int, ...]:
    if run and runs and (runs[-1] > 0) == (run > 0):
        return (*runs[:-1], runs[-1] + run)
    return (*runs, run) if run else runs


def _without_last(runs: tuple[int, ...], came: int) -> tuple[int, ...]:
    while runs and came >= abs(runs[-1]):
        came -= abs(runs[-1])
        runs = runs[:-1]
    return (*runs[:-1], runs[-1] + (-came if runs[-1] > 0 else came)) if runs else runs
