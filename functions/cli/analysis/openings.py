"""When a closed gate opens by itself, and which budget or window it is: what a person asks next.

Only what the calendar and the clock settle has a time; what waits for drains in flight, or for a person, has none.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.core.policy import Budget, Rate, Schedule
from shared.core.policy.schedule import hits, last_hit
from shared.core.reasons import Blocker, Unremovable
from shared.core.records.state import Start
from shared.core.rules.budgets import Calendar, applies, freeze_in_force, limit_now, window_open
from shared.core.rules.gates import ProposedDrain
from shared.errors import BadInput

LOOK_AHEAD: Final = timedelta(days=15)
"""Further than a week and its exceptions nobody plans by this."""
_MOST_CHANGES: Final = 200


@dataclass(frozen=True, slots=True)
class Closed:
    """A gate that is closed: the blocker, what of the policy closes it, and until when (None: no clock says)."""

    blocker: Blocker
    which: str = ""
    until: datetime | None = None


def closed(blocker: Blocker, proposed: ProposedDrain) -> Closed:
    """Return what is known of a closed gate besides its reason."""
    known = _KNOWN.get(blocker.reason)
    return known(blocker, proposed) if known else Closed(blocker)


def _frozen(blocker: Blocker, proposed: ProposedDrain) -> Closed:
    freeze = freeze_in_force(proposed.policy.freezes, proposed.now)
    return Closed(blocker, until=freeze.end) if freeze else Closed(blocker)


def _breaker(blocker: Blocker, proposed: ProposedDrain) -> Closed:
    breaker = proposed.state.breakers.get(proposed.node.pool)
    return Closed(blocker, until=breaker.until) if breaker else Closed(blocker)


def _backing_off(blocker: Blocker, proposed: ProposedDrain) -> Closed:
    backoff = proposed.state.backoffs.get(proposed.node.uid)
    return Closed(blocker, until=backoff.until) if backoff else Closed(blocker)


def _windows(blocker: Blocker, proposed: ProposedDrain) -> Closed:
    windows = proposed.pool_policy.windows or ()
    which = ", ".join(map(written, windows)) or "no window at all"
    return Closed(blocker, which, _first(windows, proposed.now, lambda time: window_open(windows, Calendar(time))))


def _pool_budget(blocker: Blocker, proposed: ProposedDrain) -> Closed:
    pool = proposed.pool
    used = len(pool.in_use - {proposed.node.uid})
    return _budget(blocker, proposed, proposed.pool_policy.budgets, pool.nodes, used)


def _cluster_budget(blocker: Blocker, proposed: ProposedDrain) -> Closed:
    used = proposed.counts.in_use - (proposed.node.uid in proposed.pool.in_use)
    return _budget(blocker, proposed, proposed.policy.budgets, proposed.counts.nodes, used)


def _budget(blocker: Blocker, proposed: ProposedDrain, budgets: Sequence[Budget], nodes: int, used: int) -> Closed:
    """Name the budgets that allow too little now, and when the calendar alone lets one more go."""

    def lets_go(time: datetime) -> bool:
        allowed = limit_now(budgets, proposed.reason, nodes, Calendar(time))
        return allowed is None or used < allowed

    holding = [
        each
        for each in budgets
        if applies(each, proposed.reason)
        and proposed.counts.calendar.active(each.schedule)
        and each.nodes.of(nodes) <= used
    ]
    which = ", ".join(f"nodes: {each.nodes}{_while(each.schedule)}" for each in holding)
    schedules = [each.schedule for each in budgets if each.schedule]
    return Closed(blocker, which, _first(schedules, proposed.now, lets_go))


def _rate(blocker: Blocker, proposed: ProposedDrain) -> Closed:
    own = [start for start in proposed.counts.starts if start.pool == proposed.node.pool]
    rows = ((proposed.policy.rate, proposed.counts.starts, proposed.counts.nodes),
            (proposed.pool_policy.rate, own, proposed.pool.nodes))  # fmt: skip
    times = [_next_start(rate, starts, nodes, proposed.now) for rate, starts, nodes in rows if rate is not None]
    which = ", ".join(f"nodes: {rate.nodes} per {_span(rate.per)}" for rate, _, _ in rows if rate is not None)
    known = [time for time in times if time is not None]
    return Closed(blocker, which, max(known, default=None))


def _next_start(rate: Rate, starts: Iterable[Start], nodes: int, now: datetime) -> datetime | None:
    """Return when enough of the last period's starts have left it; None = now, or never."""
    recent = sorted(start.at for start in starts if start.at > now - rate.per)
    allowed = rate.nodes.of(nodes)
    if not allowed or len(recent) < allowed:
        return None
    return recent[len(recent) - allowed] + rate.per


def _addition(blocker: Blocker, proposed: ProposedDrain) -> Closed:
    own = proposed.pool_policy.time_since_last_addition is not None
    newest = proposed.pool.newest if own else proposed.counts.newest
    return Closed(blocker, until=newest + proposed.policy.addition_grace(proposed.node.pool) if newest else None)


def _gap(blocker: Blocker, proposed: ProposedDrain) -> Closed:
    last = proposed.state.last_scale_down
    return Closed(blocker, until=last + proposed.policy.time_gap if last else None)


_KNOWN: Final[Mapping[object, Callable[[Blocker, ProposedDrain], Closed]]] = {
    Unremovable.FROZEN: _frozen,
    Unremovable.BREAKER_OPEN: _breaker,
    Unremovable.BACKING_OFF: _backing_off,
    Unremovable.OUTSIDE_WINDOWS: _windows,
    Unremovable.BUDGET: _pool_budget,
    Unremovable.CLUSTER_BUDGET: _cluster_budget,
    Unremovable.RATE: _rate,
    Unremovable.RECENT_ADDITION: _addition,
    Unremovable.TIME_GAP: _gap,
}


def _first(schedules: Iterable[Schedule], now: datetime, holds: Callable[[datetime], bool]) -> datetime | None:
    """Return the first change of the schedules after now at which it holds."""
    changes = sorted(time for each in schedules for time in _changes(each, now))
    return next((time for time in changes[:_MOST_CHANGES] if holds(time)), None)


def _changes(schedule: Schedule, now: datetime) -> Iterator[datetime]:
    """Yield when the schedule begins or ends to be active in the time ahead; one that cannot be read never does."""
    try:
        before = last_hit(schedule, now)
        if before is not None and before + schedule.duration > now:
            yield before + schedule.duration
        for number, hit in enumerate(hits(schedule, now, now + LOOK_AHEAD)):
            if number >= _MOST_CHANGES:
                return
            yield from (hit, hit + schedule.duration)
    except BadInput:
        return


def written(schedule: Schedule) -> str:
    """Return a schedule as the policy has it."""
    return f'"{schedule.cron}" for {_span(schedule.duration)} ({schedule.time_zone})'


def _while(schedule: Schedule | None) -> str:
    return "" if schedule is None else f", {written(schedule)}"


def _span(length: timedelta) -> str:
    hours, minutes = divmod(int(length.total_seconds()) // 60, 60)
    return "".join(f"{number}{unit}" for number, unit in ((hours, "h"), (minutes, "m")) if number)
