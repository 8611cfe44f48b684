"""What is shut for good, as far as a forecast looks: gates that neither time nor the end of a drain opens.

Known from the start, so that nodes behind them are not waited for. Must not ask what only pace keeps.
"""

from collections.abc import Iterable
from datetime import datetime

from shared.core.policy import Budget, Schedule
from shared.core.policy.schedule import active, hits
from shared.core.reasons import DrainReason, Reason, Unremovable
from shared.core.rules.budgets import applies
from shared.core.rules.counts import NodeCounts


class Shut:
    """The gates of one forecast that no pass up to its horizon finds open."""

    def __init__(self, counts: NodeCounts, horizon: datetime) -> None:
        self._counts, self._horizon = counts, horizon
        self._known: dict[tuple[str, DrainReason], Reason | None] = {}

    def __call__(self, pool: str, reason: DrainReason) -> Reason | None:
        """Return what keeps the pool's nodes for good; None where only time does."""
        key = pool, reason
        if key not in self._known:
            self._known[key] = self._of_all() or self._of_pool(pool, reason)
        return self._known[key]

    def _of_all(self) -> Reason | None:
        policy, now = self._counts.policy, self._counts.now
        if policy.paused or self._counts.state.paused:
            return Unremovable.PAUSED
        lasting = any(each.start <= now and each.end > self._horizon for each in policy.freezes)
        return Unremovable.FROZEN if lasting else None

    def _of_pool(self, pool: str, reason: DrainReason) -> Reason | None:
        counts, policy = self._counts, self._counts.policy
        own, nodes = policy.pool(pool), counts.pool(pool).nodes
        if own.windows is not None and not any(map(self._opens, own.windows)):
            return Unremovable.OUTSIDE_WINDOWS
        if _allow_none(own.budgets, reason, nodes):
            return Unremovable.BUDGET
        if _allow_none(policy.budgets, reason, counts.nodes):
            return Unremovable.CLUSTER_BUDGET
        rates = ((own.rate, nodes), (policy.rate, counts.nodes))
        spent = any(rate is not None and not rate.nodes.of(of_nodes) for rate, of_nodes in rates)
        return Unremovable.RATE if spent else None

    def _opens(self, window: Schedule) -> bool:
        now = self._counts.now
        return active(window, now) or next(hits(window, now, self._horizon), None) is not None


def _allow_none(budgets: Iterable[Budget], reason: DrainReason, nodes: int) -> bool:
    always = (each for each in budgets if each.schedule is None and applies(each, reason))
    return nodes > 0 and any(each.nodes.of(nodes) == 0 for each in always)
