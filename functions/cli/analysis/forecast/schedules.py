"""When anything opens or closes by itself: schedules, freezes, rates, gaps, back-offs. Times only, no judgement.

Must not ask what is allowed at such a time: `pace` asks the gates.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from shared.core.policy import Policy, Schedule
from shared.core.policy.schedule import hits, last_hit
from shared.core.rules.counts import NodeCounts

FAR: Final = timedelta(days=400)


class Schedules:
    """The schedules of a policy; each is looked up again only once it has changed."""

    def __init__(self, policy: Policy, pools: Iterable[str]) -> None:
        self._all = frozenset(_schedules(policy, pools))
        self._next: dict[Schedule, datetime] = {}

    def next_change(self, now: datetime) -> datetime | None:
        """Return when one of them next begins or ends; None where none does for a year."""
        for schedule in self._all:
            if self._next.get(schedule, now) <= now:
                self._next[schedule] = _next_change(schedule, now)
        return min(self._next.values(), default=None)


def _next_change(schedule: Schedule, now: datetime) -> datetime:
    begun = last_hit(schedule, now)
    begins = next(hits(schedule, now, now + FAR), now + FAR)
    if begun is None or begun + schedule.duration <= now:
        return begins
    return min(begins, begun + schedule.duration)


def _schedules(policy: Policy, pools: Iterable[str]) -> Iterator[Schedule]:
    settings = [policy.pool(name) for name in pools]
    for budgets in (policy.budgets, *(each.budgets for each in settings)):
        yield from (budget.schedule for budget in budgets if budget.schedule is not None)
    for each in settings:
        yield from each.windows or ()


def openings(counts: NodeCounts) -> Iterator[datetime]:
    """Yield when gates that are not scheduled may open, past times among them."""
    state, policy = counts.state, counts.policy
    if state.last_scale_down is not None:
        yield state.last_scale_down + policy.time_gap
    yield from (freeze.end for freeze in policy.freezes)
    yield from (breaker.until for breaker in state.breakers.values())
    yield from (backoff.until for backoff in state.backoffs.values())
    yield from _additions(counts)
    yield from (start.at + per for per in _periods(counts) for start in counts.starts)


def _additions(counts: NodeCounts) -> Iterator[datetime]:
    for name, pool in counts.pools.items():
        own = counts.policy.pool(name).time_since_last_addition is not None
        newest = pool.newest if own else counts.newest
        if newest is not None:
            yield newest + counts.policy.addition_grace(name)


def _periods(counts: NodeCounts) -> frozenset[timedelta]:
    policy = counts.policy
    rates = (policy.rate, policy.evictions_per_namespace, *(policy.pool(name).rate for name in counts.pools))
    return frozenset(rate.per for rate in rates if rate is not None)
