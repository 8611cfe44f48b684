"""When how many nodes may go, by the hour, and what decides it: for the report, and as `ebb policy calendar`.

Every hour's answer is the core's own (`limit_now`, `starts_left`, `window_open`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Final
from zoneinfo import ZoneInfo

from rich.console import Console

from functions.cli.analysis.openings import changes, schedules_of
from functions.cli.input.files import read_policy
from functions.cli.input.options import Output
from functions.cli.output.answers import print_document
from functions.cli.output.format import group, moment, some, span
from functions.cli.output.tables import BOLD
from functions.cli.output.terminal import facts, printing
from functions.cli.policy.words import in_words
from shared.adapters.process import system_time
from shared.core.policy import Budget, BudgetUntil, Limit, Policy, Rate
from shared.core.policy.schedule import instant, zone_of
from shared.core.reasons import DrainReason
from shared.core.rules.budgets import Calendar, freeze_in_force, limit_now, starts_left, window_open
from shared.errors import BadInput

_HUNDRED: Final = 100  # So many nodes make a percentage and its number the same.


@dataclass(frozen=True, slots=True)
class Sizes:
    pools: Mapping[str, int] = field(default_factory=dict)
    total: int | None = None


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
        known = [amount for amount in (self.count, self.percent) if amount is not None]
        return (min(known, default=float("inf")), -len(known))


def node_limit(policy: Policy, pool: str, sizes: Sizes, calendar: Calendar) -> NodeLimit:
    """Return how many nodes of the pool may go at the calendar's moment: the smallest of all limits, first named."""
    limits = (*_closed_limits(policy, pool, calendar), *_limits(policy, pool, sizes, calendar))
    least = min((limit for limit in limits if limit.count is not None), key=NodeLimit.rank, default=None)
    share = min((limit for limit in limits if limit.percent is not None), key=NodeLimit.rank, default=None)
    if least is None or share is None:
        return least or share or NodeLimit(None, None, "nothing limits it")
    if least.none:
        return least
    return NodeLimit(least.count, share.percent, f"the smaller of {least.why} and {share.why}")


def _closed_limits(policy: Policy, pool: str, calendar: Calendar) -> Iterator[NodeLimit]:
    freeze = freeze_in_force(policy.freezes, calendar.now)
    if freeze is not None:
        yield NodeLimit(0, None, f"freeze until {moment(freeze.end)}")
    if not window_open(policy.pool(pool).windows, calendar):
        yield NodeLimit(0, None, "no window is open")


def _limits(policy: Policy, pool: str, sizes: Sizes, calendar: Calendar) -> Iterator[NodeLimit]:
    """Yield every limit in force, in the order of the gates (`gates.CLAIM_GATES`)."""

    def of_budgets(word: str, budgets: Iterable[Budget], nodes: int | None) -> Iterator[NodeLimit]:
        for budget in budgets:
            limit = limit_now((budget,), DrainReason.UNDERUTILIZED, _assume_hundred(nodes), calendar)
            if limit is not None:
                yield _limit(f"{word} {in_words(budget)}", budget.nodes, limit, nodes)

    def of_rate(word: str, rate: Rate | None, nodes: int | None) -> Iterator[NodeLimit]:
        if rate is not None:
            limit = starts_left(rate, (), _assume_hundred(nodes), calendar.now)
            yield _limit(f"{word} {in_words(rate)}", rate.nodes, limit, nodes)

    own, waiting, nodes = policy.pool(pool), policy.awaiting_deletion, sizes.pools.get(pool)
    yield from of_budgets("budget", own.budgets, nodes)
    # A share of a cluster of unknown size means no number for one pool: it is left out unless it is none.
    yield from (one for one in of_budgets("cluster budget", policy.budgets, sizes.total) if one.count is not None)
    if policy.budget_until is BudgetUntil.REPLACED:
        yield _limit(f"awaitingDeletion {waiting}", waiting, waiting.of(_assume_hundred(nodes)), nodes)
    yield from (one for one in of_rate("cluster rate", policy.rate, sizes.total) if one.count is not None)
    yield from of_rate("rate", own.rate, nodes)


def _assume_hundred(nodes: int | None) -> int:
    return _HUNDRED if nodes is None else nodes


def _limit(why: str, setting: Limit, limit: int, nodes: int | None) -> NodeLimit:
    """Return a number; of an unknown number of nodes a share, where it is one and not none."""
    is_share = nodes is None and setting.percent is not None and limit > 0
    return NodeLimit(None, limit, why) if is_share else NodeLimit(limit, None, why)


HOURS: Final = 24
_STEP: Final = timedelta(minutes=15)
"""Every clock of the world is set to a multiple of these minutes, and changed at one."""


@dataclass(frozen=True, slots=True)
class CalendarQuestion:
    """What the calendar shows: whose limits, from which day on, on whose clock; of drains of underutilized nodes."""

    policy: Policy
    sizes: Sizes
    zone: ZoneInfo
    first: date
    days: int


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
    dates = [question.first + timedelta(days=number) for number in range(question.days)]
    moments = {date_: tuple(map(Calendar, instants(question, date_))) for date_ in dates}
    return {pool: tuple(_day(question, pool, *row) for row in moments.items()) for pool in pools}


def _day(question: CalendarQuestion, pool: str, date_: date, moments: Iterable[Calendar]) -> Day:
    limits: dict[int, list[NodeLimit]] = {hour: [] for hour in range(HOURS)}
    for calendar_now in moments:
        hour = calendar_now.now.astimezone(question.zone).hour
        limits[hour].append(node_limit(question.policy, pool, question.sizes, calendar_now))
    return Day(
        date_, tuple(Hour(min(own, key=NodeLimit.rank), len(set(own)) > 1) if own else None for own in limits.values())
    )


def instants(question: CalendarQuestion, day: date) -> tuple[datetime, ...]:
    """Return the instants of a day at which an hour begins or a limit could change, in order."""
    midnights = (datetime.combine(date_, time()) for date_ in (day, day + timedelta(days=1)))
    begin, end = (instant(midnight, question.zone) for midnight in midnights)
    edges = (at for at in _edges(question.policy, begin, end) if begin <= at < end)
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
    for schedule in schedules_of(policy, policy.pools):
        yield from changes(schedule, begin, end)
    for freeze in policy.freezes:
        yield from (freeze.start.astimezone(UTC), freeze.end.astimezone(UTC))


def zones(policy: Policy) -> tuple[str, ...]:
    return tuple(sorted({schedule.time_zone for schedule in schedules_of(policy, policy.pools)}))


def zone_to_show(policy: Policy, named: str | None = None) -> ZoneInfo:
    """Return the clock asked for, the only one that the policy's schedules use, or UTC. BadInput: there is no such."""
    used = zones(policy)
    try:
        return zone_of(named or (used[0] if len(used) == 1 else "UTC"))
    except BadInput as error:
        raise BadInput(f"--time-zone: {error}.") from error


def document(question: CalendarQuestion, pools: Sequence[str], off: Iterable[str]) -> dict[str, Any]:
    """Return the calendar as JSON values (docs/report.md, `calendar`): an outside contract. Equal pools are one row."""
    equal = group((days, pool) for pool, days in calendar(question, pools).items())
    rows = [_pools_document(names, days) for days, names in equal.items()]
    return {"time_zone": question.zone.key, "pools": rows, "off": list(off), "notes": list(notes(question))}


def _pools_document(names: list[str], days: Sequence[Day]) -> dict[str, Any]:
    limits = dict.fromkeys(hour.limit for day in days for hour in day.hours if hour is not None)
    keys = {limit: _letter(number) for number, limit in enumerate(limits)}
    legend = [{"letter": key, "nodes": limit.amount, "why": limit.why} for limit, key in keys.items()]
    rows = [{"day": f"{day.date:%a} {day.date.day} {day.date:%b}", "runs": list(_runs(day, keys))} for day in days]
    return {"names": names, "always": len(keys) == 1, "legend": legend, "days": rows}


def _letter(number: int) -> str:
    round_, place = divmod(number, len(ascii_lowercase))
    return f"{ascii_lowercase[place]}{round_ or ''}"


def _runs(day: Day, keys: Mapping[NodeLimit, str]) -> Iterator[dict[str, Any]]:
    """Yield runs of equal hours; a run without a letter is one that the clock skips."""
    begin = 0
    for hour, run in groupby(day.hours):
        hours = len(list(run))
        limit, changes = (hour.limit, hour.changes) if hour else (None, False)
        yield {
            "from": begin,
            "hours": hours,
            "letter": keys[limit] if limit else "",
            "nodes": limit.amount if limit else "",
            "none": limit is not None and limit.none,
            "changes": changes,
        }
        begin += hours


SCHEMA: Final = 1
_YEARS_SHOWN: Final = range(1970, 2200)  # Zone rules and calendars are sure of these.


def print_calendar(
    path: Path, days: int, at: datetime | None, pool: str | None, time_zone: str | None, output: Output
) -> None:
    """Print the calendar of a policy file. BadInput: an option names what is not there; BadPolicy: with every fault."""
    policy = read_policy(path)
    zone = zone_to_show(policy, time_zone)
    question, shown = CalendarQuestion(policy, Sizes(), zone, _first_day(at, zone), days), _pools_to_show(policy, pool)
    off = [name for name, pool in policy.pools.items() if not pool.enabled]
    found = document(question, shown, off)
    if output is not Output.TABLE:
        print_document({"schema": SCHEMA, "first": question.first.isoformat(), **found}, output)
        return
    with printing() as console:
        console.print(
            f"{path.name}: how many underutilized nodes may be in disruption at once, by the hour in {zone.key}; "
            "ebb plan shows what else limits this moment (minimums, time gap, drains in flight)."
        )
        for note in (*found["notes"], *_about_pools(off, shown)):
            console.print(note)
        for pools in found["pools"]:
            show_pools(console, pools)


def _first_day(at: datetime | None, zone: ZoneInfo) -> date:
    begin = at or system_time()
    if begin.year not in _YEARS_SHOWN:
        raise BadInput(f"--at: write a time from {_YEARS_SHOWN[0]} to {_YEARS_SHOWN[-1]}.")
    return begin.astimezone(zone).date()


def _pools_to_show(policy: Policy, named: str | None) -> tuple[str, ...]:
    if named is not None:
        if named not in policy.pools:
            pools = some(sorted(policy.pools), 5) or "none"
            raise BadInput(f"--pool: the policy names no pool {named!r}; its pools: {pools}.")
        return (named,)
    return tuple(name for name, pool in policy.pools.items() if pool.enabled)


def notes(question: CalendarQuestion) -> Iterator[str]:
    policy, used = question.policy, zones(question.policy)
    if policy.dry_run or policy.paused:
        field = "paused" if policy.paused else "dryRun"
        yield f"{field} is true: nothing is drained at any time. This is what holds once it is false."
    if len(used) > 1:
        yield f"Schedules are written for {', '.join(used)}; the hours are those of {question.zone.key}."
    shares = [str(budget.nodes) for budget in policy.budgets if budget.nodes.percent is not None]
    if policy.rate is not None and policy.rate.nodes.percent is not None:
        shares.append(f"{policy.rate.nodes} in any {span(policy.rate.per)}")
    if shares and question.sizes.total is None:
        yield (
            f"The cluster's own limits ({', '.join(shares)}) are shares of all its nodes and not counted; "
            "ebb report counts them for a cluster."
        )


def _about_pools(off: Sequence[str], shown: Sequence[str]) -> Iterator[str]:
    if off:
        yield f"Pools that are not enabled, where Ebb drains nothing: {some(off, 5)}."
    if not shown:
        yield "No pool is enabled, so there is nothing to show."


def show_pools(console: Console, pools: Mapping[str, Any]) -> None:
    """Print a line for each day with its runs of equal hours, and what each letter means; `pools` is of the JSON."""
    console.print(f"\n{'pool' if len(pools['names']) == 1 else 'pools'} {', '.join(pools['names'])}", style=BOLD)
    console.print(facts((day["day"], ", ".join(map(_run_in_words, day["runs"]))) for day in pools["days"]))
    legend = [(f"{limit['letter']}  {limit['nodes']}", limit["why"]) for limit in pools["legend"]]
    if any(run["changes"] for day in pools["days"] for run in day["runs"]):
        legend.append(("*", "changes within the hour; the most restrictive is shown"))
    console.print(facts(legend))


def _run_in_words(run: Mapping[str, Any]) -> str:
    """Return `09-17 10% b`; an hour that the clock skips has no letter."""
    limit = f"{run['nodes']} {run['letter']}" if run["letter"] else "skipped by the clock"
    return f"{run['from']:02}-{run['from'] + run['hours']:02} {limit}{'*' if run['changes'] else ''}"
