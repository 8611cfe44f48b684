"""`ebb policy windows`: days down, hours across; how many nodes of each pool may go, and what decides it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.input.files import read_policy
from functions.cli.output.format import count, some, span
from functions.cli.output.terminal import printing
from functions.cli.policy.calendar import Bars, CalendarQuestion, Day, Sizes, bars, calendar, letters, zones
from shared.adapters.clock import system_time
from shared.core.policy import Policy
from shared.core.policy.schedule import zone_of
from shared.core.reasons import DrainReason
from shared.errors import BadInput

WHOSE: Final = {
    DrainReason.UNDERUTILIZED: "underutilized nodes",
    DrainReason.EMPTY: "empty nodes",
    DrainReason.EXPIRED: "expired nodes",
}

_YEARS_SHOWN: Final = range(1970, 2200)
"""Zone rules and calendars are sure of these."""


@dataclass(frozen=True, slots=True)
class WindowsOptions:
    """What a person typed."""

    days: int = 7
    at: datetime | None = None
    nodes: tuple[str, ...] = ()
    pool: str | None = None
    zone: str | None = None
    reason: DrainReason = DrainReason.UNDERUTILIZED


def print_windows(path: Path, options: WindowsOptions) -> None:
    """Print the calendar of a policy file.

    Raises:
        BadInput: the file cannot be read, or an option names what is not there.
        BadPolicy: with every fault.
    """
    policy = read_policy(path)
    question = _question(policy, options)
    with printing() as console:
        show(console, path.name, question, _pools_to_show(policy, options.pool))


def _question(policy: Policy, options: WindowsOptions) -> CalendarQuestion:
    zone = _zone(policy, options.zone)
    moment = options.at or system_time()
    if moment.year not in _YEARS_SHOWN:
        raise BadInput(f"--at: write a time from {_YEARS_SHOWN[0]} to {_YEARS_SHOWN[-1]}.")
    first = moment.astimezone(zone).date()
    return CalendarQuestion(policy, sizes(policy, options.nodes), zone, first, options.days, options.reason)


def _zone(policy: Policy, named: str | None) -> ZoneInfo:
    """Return the clock to show: the one that was asked for, the only one that the policy's schedules use, or UTC."""
    used = zones(policy)
    try:
        return zone_of(named or (used[0] if len(used) == 1 else "UTC"))
    except BadInput as error:
        raise BadInput(f"--time-zone: {error}.") from error


def sizes(policy: Policy, given: Sequence[str]) -> Sizes:
    """Read `POOL=N`; the cluster's size is known when every pool of the policy was given.

    Raises:
        BadInput: one is no such pair, or names a pool that the policy does not.
    """
    pairs = [pair for each in given for pair in each.split(",")]
    found = dict(_pair(policy, pair) for pair in pairs)
    return Sizes(found, sum(found.values()) if found.keys() == policy.pools.keys() else None)


def _pair(policy: Policy, text: str) -> tuple[str, int]:
    pool, _, number = text.rpartition("=")
    if not pool or not (number.isascii() and number.isdigit() and len(number) < 7):  # noqa: PLR2004 - as in the policy
        raise BadInput(f"--nodes: {text!r} is not POOL=N; write for example default-pool=30.")
    _require_pool(policy, pool, "--nodes")
    return pool, int(number)


def _require_pool(policy: Policy, pool: str, option: str) -> None:
    if pool not in policy.pools:
        named = some(sorted(policy.pools), 5) or "none"
        raise BadInput(f"{option}: the policy names no pool {pool!r}; its pools: {named}.")


def _pools_to_show(policy: Policy, named: str | None) -> tuple[str, ...]:
    if named is not None:
        _require_pool(policy, named, "--pool")
        return (named,)
    return tuple(name for name, pool in policy.pools.items() if pool.enabled)


def show(console: Console, name: str, question: CalendarQuestion, pools: Sequence[str]) -> None:
    """Print what always holds, then drawing and legend of each pool; pools with equal days share one."""
    for note in notes(name, question, pools):
        console.print(note, soft_wrap=not console.is_terminal)
    width = console.width if console.is_terminal else None
    days = calendar(question, pools)
    for names in _alike(days, question.sizes):
        console.print()
        console.print(_title(names, question), style="bold")
        _draw(console, bars(days[names[0]], width), days[names[0]])


def _alike(days: Mapping[str, tuple[Day, ...]], known: Sizes) -> Iterator[tuple[str, ...]]:
    """Yield pools with the same days and the same size together, each set in the place of its first."""
    rows: dict[tuple[object, ...], list[str]] = {}
    for pool, calendar_days in days.items():
        rows.setdefault((known.pools.get(pool), calendar_days), []).append(pool)
    return map(tuple, rows.values())


def notes(name: str, question: CalendarQuestion, pools: Sequence[str]) -> Iterator[str]:
    """Yield what the calendars rest on, and what holds at all times."""
    policy = question.policy
    yield (
        f"{name}: how many {WHOSE[question.reason]} may be in disruption at once, by the hour in {question.zone.key}; "
        "ebb plan shows what else limits this moment (minimums, time gap, drains in flight)."
    )
    if policy.dry_run or policy.paused:
        yield f"{'paused' if policy.paused else 'dryRun'} is true: nothing is drained at any time."
    off = [pool for pool, settings in policy.pools.items() if not settings.enabled]
    if off:
        yield f"Pools that are not enabled, where Ebb drains nothing: {some(off, 5)}."
    if not pools:
        yield "No pool is enabled, so there is nothing to draw."
    if len(zones(policy)) > 1:
        yield f"Schedules are written for {', '.join(zones(policy))}; --time-zone NAME shows the hours of one."
    yield from _unknown(question)


def _unknown(question: CalendarQuestion) -> Iterator[str]:
    policy, total = question.policy, question.sizes.total
    shares = [str(each.nodes) for each in policy.budgets if each.nodes.percent is not None]
    if policy.rate is not None and policy.rate.nodes.percent is not None:
        shares.append(f"{policy.rate.nodes} in any {span(policy.rate.per)}")
    if shares and total is None:
        yield (
            f"The cluster's own limits ({', '.join(shares)}) are shares of all its nodes and not drawn; "
            "give the sizes of all pools with --nodes POOL=N,POOL=N."
        )


def _title(names: tuple[str, ...], question: CalendarQuestion) -> str:
    size = question.sizes.pools.get(names[0])
    known = "" if size is None else f" ({count(size, 'node')}{' each' if len(names) > 1 else ''})"
    return f"{'pool' if len(names) == 1 else 'pools'} {', '.join(names)}{known}"


def _draw(console: Console, drawn: Bars, days: Sequence[Day]) -> None:
    console.print(Text(drawn.ruler, style="dim"), soft_wrap=True)
    for label, row in drawn.rows:
        line = Text(label)
        for text, style in row:
            line.append(text, style)
        console.print(line, soft_wrap=True)
    console.print(_legend(days))


def _legend(days: Sequence[Day]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column()
    for limit, letter in letters(days).items():
        table.add_row(letter, limit.amount, limit.why)
    hours = [hour for day in days for hour in day.hours]
    if any(hour is not None and hour.changes for hour in hours):
        table.add_row("*", "", "changes within the hour; the most restrictive is shown")
    if None in hours:
        table.add_row("", "", "a blank hour is one that the clock skips")
    return table
