"""How many nodes the policy lets go in each hour, and which of its words decides: the picture behind `policy windows`.

Every limit is asked of the core's own functions, at each instant at which it could change. Must not know the
terminal, and must not hold a rule of its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from functions.cli.policy.limits import NodeLimit, Sizes, node_limit
from shared.core.policy import Policy, Schedule
from shared.core.policy.schedule import hits, instant
from shared.core.reasons import DrainReason
from shared.core.rules.budgets import Calendar

HOURS: Final = 24
_STEP: Final = timedelta(minutes=15)
"""Every clock of the world is set to a multiple of it, and changed at one."""


@dataclass(frozen=True, slots=True)
class CalendarQuestion:
    """What the calendar shows: whose limits, for drains of which reason, from which day on, on whose clock."""

    policy: Policy
    sizes: Sizes
    zone: ZoneInfo
    first: date
    days: int
    reason: DrainReason = DrainReason.UNDERUTILIZED


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour of the clock: the most restrictive limit in it, and whether there are others."""

    limit: NodeLimit
    changes: bool = False


@dataclass(frozen=True, slots=True)
class Day:
    """24 hours of the clock; None where the clock skips one. A repeated hour is one hour here."""

    date: date
    hours: tuple[Hour | None, ...]


@dataclass
class _HourLimits:
    """The limits of each hour of one day, for one pool."""

    by_hour: dict[int, list[NodeLimit]] = field(default_factory=dict)

    def hours(self) -> tuple[Hour | None, ...]:
        return tuple(_hour(self.by_hour.get(number, [])) for number in range(HOURS))


def calendar(question: CalendarQuestion, pools: Sequence[str]) -> Mapping[str, tuple[Day, ...]]:
    """Return the days of each pool, as many as asked for."""
    rows: dict[str, list[Day]] = {pool: [] for pool in pools}
    for number in range(question.days):
        day = question.first + timedelta(days=number)
        for pool, limits in _day(question, day, pools).items():
            rows[pool].append(Day(day, limits.hours()))
    return {pool: tuple(days) for pool, days in rows.items()}


def zones(policy: Policy) -> tuple[str, ...]:
    """Return the time zones in which the policy's schedules are written."""
    return tuple(sorted({schedule.time_zone for schedule in schedules(policy)}))


def schedules(policy: Policy) -> frozenset[Schedule]:
    """Return all schedules of the policy's budgets and windows."""
    budgets = [*policy.budgets, *(budget for pool in policy.pools.values() for budget in pool.budgets)]
    windows = [window for pool in policy.pools.values() for window in pool.windows or ()]
    return frozenset((*windows, *(budget.schedule for budget in budgets if budget.schedule is not None)))


def _day(question: CalendarQuestion, day: date, pools: Sequence[str]) -> dict[str, _HourLimits]:
    found = {pool: _HourLimits() for pool in pools}
    for moment in instants(question, day):
        hour, now = moment.astimezone(question.zone).hour, Calendar(moment)
        for pool in pools:
            limit = node_limit(question.policy, pool, question.sizes, question.reason, now)
            found[pool].by_hour.setdefault(hour, []).append(limit)
    return found


def instants(question: CalendarQuestion, day: date) -> tuple[datetime, ...]:
    """Return the instants of a day at which an hour begins or a limit could change, in order."""
    begin, end = (instant(datetime.combine(each, time()), question.zone) for each in (day, day + timedelta(days=1)))
    edges = (each for each in _edges(question.policy, begin, end) if begin <= each < end)
    return tuple(sorted({*_hours(begin, end, question.zone), *edges}))


def _hours(begin: datetime, end: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Yield when each hour of the clock begins; after a change of the clock that need not be at its first minute."""
    shown, moment = -1, begin
    while moment < end:
        hour = moment.astimezone(zone).hour
        if hour != shown or moment.astimezone(zone).minute == 0:
            yield moment
        shown, moment = hour, moment + _STEP


def _edges(policy: Policy, begin: datetime, end: datetime) -> Iterator[datetime]:
    for schedule in schedules(policy):
        yield from hits(schedule, begin, end)
        for hit in hits(schedule, begin - schedule.duration, end - schedule.duration):
            yield hit + schedule.duration
    for freeze in policy.freezes:
        yield from (freeze.start.astimezone(UTC), freeze.end.astimezone(UTC))


def _hour(limits: Iterable[NodeLimit]) -> Hour | None:
    rows = list(limits)
    return Hour(min(rows, key=NodeLimit.rank), len(set(rows)) > 1) if rows else None
