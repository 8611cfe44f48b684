"""How many nodes the policy lets go at each hour, which setting decides, and the bars that draw a day."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from string import ascii_lowercase
from typing import Final
from zoneinfo import ZoneInfo

from functions.cli.output.format import moment
from functions.cli.policy.words import in_words
from shared.core.policy import Budget, BudgetUntil, Policy, Rate, Schedule
from shared.core.policy.schedule import hits, instant
from shared.core.reasons import DrainReason
from shared.core.rules.budgets import Calendar, freeze_in_force, limit_now, starts_left, window_open

_HUNDRED: Final = 100
"""So many nodes make a percentage and its number the same."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many nodes the pools have, as far as it is known."""

    pools: Mapping[str, int] = field(default_factory=dict)
    total: int | None = None
    """Of the whole cluster."""


@dataclass(frozen=True, slots=True)
class NodeLimit:
    """At most so many nodes, and (of a pool of unknown size) at most that share; both None is no limit."""

    count: int | None
    percent: int | None
    why: str

    @property
    def none(self) -> bool:
        return self.count == 0

    @property
    def amount(self) -> str:
        share = "" if self.percent is None else f"{self.percent}%"
        number = "" if self.count is None else str(self.count)
        return "/".join(part for part in (number, share) if part) or "all"

    def rank(self) -> tuple[float, float]:
        """Return what sorts the most restrictive first; a share counts as that of a hundred nodes."""
        known = [each for each in (self.count, self.percent) if each is not None]
        return (min(known, default=float("inf")), -len(known))


def node_limit(policy: Policy, pool: str, sizes: Sizes, reason: DrainReason, calendar: Calendar) -> NodeLimit:
    """Return how many nodes of the pool may go at the calendar's moment: the smallest of all limits, first named."""
    limits = tuple(_limits(policy, pool, sizes, reason, calendar))
    counts = [each for each in limits if each.count is not None]
    shares = [each for each in limits if each.percent is not None]
    least = min(counts, key=lambda each: each.count or 0, default=None)
    share = min(shares, key=lambda each: each.percent or 0, default=None)
    if least is None or share is None:
        return least or share or NodeLimit(None, None, "nothing limits it")
    if least.none:
        return least
    return NodeLimit(least.count, share.percent, f"the smaller of {least.why} and {share.why}")


def _limits(policy: Policy, pool: str, sizes: Sizes, reason: DrainReason, calendar: Calendar) -> Iterator[NodeLimit]:
    """Yield every limit in force, in the order of the gates (`gates.CLAIM_GATES`)."""
    own = policy.pool(pool)
    freeze = freeze_in_force(policy.freezes, calendar.now)
    if freeze is not None:
        yield NodeLimit(0, None, f"freeze until {moment(freeze.end)}")
    if not window_open(own.windows, calendar):
        yield NodeLimit(0, None, "no window is open")
    nodes = sizes.pools.get(pool)
    yield from _budgets(own.budgets, "budget", nodes, reason, calendar)
    yield from _of_cluster(_budgets(policy.budgets, "cluster budget", sizes.total, reason, calendar))
    yield from _awaiting(policy, nodes)
    yield from _of_cluster(_rate(policy.rate, "cluster rate", sizes.total, calendar))
    yield from _rate(own.rate, "rate", nodes, calendar)


def _awaiting(policy: Policy, nodes: int | None) -> Iterator[NodeLimit]:
    """Yield the pool's part, which is never more than the cluster's."""
    limit = policy.awaiting_deletion
    if policy.budget_until is BudgetUntil.REPLACED:
        found = NodeLimit(limit.of(_HUNDRED if nodes is None else nodes), None, f"awaitingDeletion {limit}")
        yield _as_share(found) if nodes is None and limit.percent is not None else found


def _of_cluster(limits: Iterable[NodeLimit]) -> Iterator[NodeLimit]:
    """Leave out a share of a cluster of unknown size: it means no number for one pool."""
    return (each for each in limits if each.count is not None)


def _budgets(
    budgets: tuple[Budget, ...], word: str, nodes: int | None, reason: DrainReason, calendar: Calendar
) -> Iterator[NodeLimit]:
    if nodes is not None:
        yield from _decisive(budgets, word, nodes, reason, calendar)
        return
    yield from _decisive([each for each in budgets if each.nodes.percent is None], word, 0, reason, calendar)
    shares = [each for each in budgets if each.nodes.percent is not None]
    yield from (_as_share(each) for each in _decisive(shares, word, _HUNDRED, reason, calendar))


def _decisive(
    budgets: Iterable[Budget], word: str, nodes: int, reason: DrainReason, calendar: Calendar
) -> Iterator[NodeLimit]:
    """Yield the limit of these budgets, if there is one, with the first budget that sets it alone."""
    rows = tuple(budgets)
    limit = limit_now(rows, reason, nodes, calendar)
    if limit is not None:
        decides = next(each for each in rows if limit_now((each,), reason, nodes, calendar) == limit)
        yield NodeLimit(limit, None, f"{word} {in_words(decides)}")


def _rate(rate: Rate | None, word: str, nodes: int | None, calendar: Calendar) -> Iterator[NodeLimit]:
    if rate is None:
        return
    limit = starts_left(rate, (), _HUNDRED if nodes is None else nodes, calendar.now)
    found = NodeLimit(limit, None, f"{word} {in_words(rate)}")
    yield _as_share(found) if nodes is None and rate.nodes.percent is not None else found


def _as_share(node_limit: NodeLimit) -> NodeLimit:
    """Return a limit of a hundred nodes as the percentage that it is; none of them is none of any number."""
    return node_limit if node_limit.none else NodeLimit(None, node_limit.count, node_limit.why)


HOURS: Final = 24
_STEP: Final = timedelta(minutes=15)
"""Every clock of the world is set to a multiple of these minutes, and changed at one."""


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


def calendar(question: CalendarQuestion, pools: Sequence[str]) -> Mapping[str, tuple[Day, ...]]:
    """Return the days of each pool, as many as asked for."""
    rows: dict[str, list[Day]] = {pool: [] for pool in pools}
    for number in range(question.days):
        day = question.first + timedelta(days=number)
        for pool, limits in _day(question, day, pools).items():
            rows[pool].append(Day(day, tuple(_hour(limits[hour]) for hour in range(HOURS))))
    return {pool: tuple(days) for pool, days in rows.items()}


def zones(policy: Policy) -> tuple[str, ...]:
    """Return the time zones in which the policy's schedules are written."""
    return tuple(sorted({schedule.time_zone for schedule in schedules(policy)}))


def schedules(policy: Policy) -> frozenset[Schedule]:
    """Return all schedules of the policy's budgets and windows."""
    budgets = [*policy.budgets, *(budget for pool in policy.pools.values() for budget in pool.budgets)]
    windows = [window for pool in policy.pools.values() for window in pool.windows or ()]
    return frozenset((*windows, *(budget.schedule for budget in budgets if budget.schedule is not None)))


def _day(question: CalendarQuestion, day: date, pools: Sequence[str]) -> dict[str, dict[int, list[NodeLimit]]]:
    """Return the limits of each hour of the day, by pool."""
    found: dict[str, dict[int, list[NodeLimit]]] = {pool: defaultdict(list) for pool in pools}
    for at in instants(question, day):
        hour, now = at.astimezone(question.zone).hour, Calendar(at)
        for pool in pools:
            found[pool][hour].append(node_limit(question.policy, pool, question.sizes, question.reason, now))
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


def _hour(limits: Sequence[NodeLimit]) -> Hour | None:
    return Hour(min(limits, key=NodeLimit.rank), len(set(limits)) > 1) if limits else None


_CELLS_IN_A_FILE: Final = 5
"""Characters an hour has where there is no terminal to fit into."""
_LEAST, _MOST = 3, 8
_LONG, _SHORT = "%a %d %b ", "%a %d "
_OPEN, _SHUT, _CHANGES = "─", "·", "*"
_OPEN_STYLE, _SHUT_STYLE = "green", "dim"
Piece = tuple[str, str]
"""Text and its style."""


@dataclass(frozen=True, slots=True)
class Bars:
    """The lines of one drawing: the hours above, then a label and its pieces for each day."""

    ruler: str
    rows: tuple[tuple[str, tuple[Piece, ...]], ...]


def bars(days: Sequence[Day], width: int | None) -> Bars:
    """Draw the days in so many characters; None = a file. A terminal narrower than 80 gets lines of 80."""
    label, hour = _layout(width)
    space = len(days[0].date.strftime(label)) if days else 0
    keys = letters(days)
    ruler = " " * space + "".join(f"{number:02}".ljust(hour) for number in range(HOURS)).rstrip()
    return Bars(ruler, tuple((day.date.strftime(label), tuple(_bar(day, keys, hour))) for day in days))


def letters(days: Sequence[Day]) -> dict[NodeLimit, str]:
    """Return a letter for each limit, in the order of their appearance."""
    found = dict.fromkeys(hour.limit for day in days for hour in day.hours if hour is not None)
    return {limit: _letter(number) for number, limit in enumerate(found)}


def _letter(number: int) -> str:
    round_, place = divmod(number, len(ascii_lowercase))
    return f"{ascii_lowercase[place]}{round_ or ''}"


def _layout(width: int | None) -> tuple[str, int]:
    """Return the form of a day's label and the width of an hour; one character closes the bar."""
    if width is None:
        return _LONG, _CELLS_IN_A_FILE
    roomy = (width - 12) // HOURS
    return (_LONG, min(roomy, _MOST)) if roomy > _LEAST else (_SHORT, _LEAST)


def _bar(day: Day, keys: Mapping[NodeLimit, str], width: int) -> Iterator[Piece]:
    for limit, run in groupby(day.hours, key=lambda hour: hour.limit if hour else None):
        hours = [hour for hour in run if hour is not None]
        if limit is None or not hours:
            skipped = day.hours.count(None)
            yield f"│{' ' * (skipped * width - 1)}", ""
        else:
            yield f"│{_stretch(limit, keys[limit], hours, width)}", _SHUT_STYLE if limit.none else _OPEN_STYLE
    yield "│", ""


def _stretch(limit: NodeLimit, key: str, hours: Sequence[Hour], width: int) -> str:
    """Return a run of hours: its number and letter where there is room, and a mark at the end of each mixed hour."""
    fill = _SHUT if limit.none else _OPEN
    marks = {(number + 1) * width - 2 for number, hour in enumerate(hours) if hour.changes}
    text = [_CHANGES if place in marks else fill for place in range(len(hours) * width - 1)]
    room = min(marks, default=len(text))
    for words in (f"{limit.amount} {key} ", f"{limit.amount} {key}", f"{limit.amount}{key}", key):
        if len(words) <= room:
            text[: len(words)] = words
            break
    return "".join(text)
