"""`ebb policy calendar`: days down, hours across; how many nodes of each pool may go, and what decides it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import groupby
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.input.files import read_policy
from functions.cli.input.options import Output
from functions.cli.output.documents import print_document
from functions.cli.output.format import some, span
from functions.cli.output.terminal import printing
from functions.cli.policy.calendar import (
    HOURS,
    CalendarQuestion,
    Day,
    EqualPools,
    Hour,
    NodeLimit,
    Sizes,
    document,
    equal_pools,
    zone_to_show,
    zones,
)
from shared.adapters.process import system_time
from shared.core.policy import Policy
from shared.errors import BadInput

SCHEMA: Final = 1
_YEARS_SHOWN: Final = range(1970, 2200)
"""Zone rules and calendars are sure of these."""


def print_calendar(
    path: Path, days: int, at: datetime | None, pool: str | None, time_zone: str | None, output: Output
) -> None:
    """Print the calendar of a policy file. BadInput: an option names what is not there; BadPolicy: with every fault."""
    policy = read_policy(path)
    zone = _zone(policy, time_zone)
    question, shown = CalendarQuestion(policy, Sizes(), zone, _first_day(at, zone), days), _pools_to_show(policy, pool)
    found = equal_pools(question, shown)
    off = [name for name, pool in policy.pools.items() if not pool.enabled]
    if output is not Output.TABLE:
        head = {"schema": SCHEMA, "first": question.first.isoformat()}
        print_document({**head, **document(question, found, off, notes(question))}, output)
        return
    with printing() as console:
        console.print(
            f"{path.name}: how many underutilized nodes may be in disruption at once, by the hour in "
            f"{question.zone.key}; ebb plan shows what else limits this moment (minimums, time gap, drains in flight).",
            soft_wrap=not console.is_terminal,
        )
        for note in (*notes(question), *_about_pools(off, shown)):
            console.print(note, soft_wrap=not console.is_terminal)
        for pools in found:
            show_pools(console, pools)


def _zone(policy: Policy, named: str | None) -> ZoneInfo:
    try:
        return zone_to_show(policy, named)
    except BadInput as error:
        raise BadInput(f"--time-zone: {error}.") from error


def _first_day(at: datetime | None, zone: ZoneInfo) -> date:
    moment = at or system_time()
    if moment.year not in _YEARS_SHOWN:
        raise BadInput(f"--at: write a time from {_YEARS_SHOWN[0]} to {_YEARS_SHOWN[-1]}.")
    return moment.astimezone(zone).date()


def _pools_to_show(policy: Policy, named: str | None) -> tuple[str, ...]:
    if named is not None:
        if named not in policy.pools:
            pools = some(sorted(policy.pools), 5) or "none"
            raise BadInput(f"--pool: the policy names no pool {named!r}; its pools: {pools}.")
        return (named,)
    return tuple(name for name, pool in policy.pools.items() if pool.enabled)


def notes(question: CalendarQuestion) -> Iterator[str]:
    """Yield what holds at all times, and what is not drawn."""
    policy = question.policy
    if policy.dry_run or policy.paused:
        yield f"{'paused' if policy.paused else 'dryRun'} is true: nothing is drained at any time."
    if len(zones(policy)) > 1:
        yield f"Schedules are written for {', '.join(zones(policy))}; --time-zone NAME shows the hours of one."
    shares = [str(budget.nodes) for budget in policy.budgets if budget.nodes.percent is not None]
    if policy.rate is not None and policy.rate.nodes.percent is not None:
        shares.append(f"{policy.rate.nodes} in any {span(policy.rate.per)}")
    if shares:
        yield (
            f"The cluster's own limits ({', '.join(shares)}) are shares of all its nodes and not drawn; "
            "ebb report draws them for a cluster."
        )


def _about_pools(off: Sequence[str], shown: Sequence[str]) -> Iterator[str]:
    if off:
        yield f"Pools that are not enabled, where Ebb drains nothing: {some(off, 5)}."
    if not shown:
        yield "No pool is enabled, so there is nothing to draw."


_WIDTH: Final = 3
"""Characters of an hour: with the day's label they fill 80 columns."""
_LABEL: Final = "%a %d "
_OPEN, _SHUT, _CHANGES = "─", "·", "*"
_OPEN_STYLE, _SHUT_STYLE = "green", "dim"


def show_pools(console: Console, pools: EqualPools) -> None:
    console.print(f"\n{'pool' if len(pools.names) == 1 else 'pools'} {', '.join(pools.names)}", style="bold")
    ruler = "".join(f"{number:02}".ljust(_WIDTH) for number in range(HOURS)).rstrip()
    console.print(Text(f"{pools.days[0].date:%b}".ljust(len("Mon 23 ")) + ruler, style="dim"), soft_wrap=True)
    for day in pools.days:
        console.print(Text(f"{day.date:{_LABEL}}").append_text(draw_day(day, pools.letters)), soft_wrap=True)
    console.print(_legend(pools))


def draw_day(day: Day, keys: Mapping[NodeLimit, str]) -> Text:
    """Return a day as one bar."""
    bar = Text()
    for limit, run in groupby(day.hours, key=lambda hour: hour.limit if hour else None):
        hours = list(run)
        if limit is None:
            bar.append(f"│{' ' * (len(hours) * _WIDTH - 1)}")
        else:
            bar.append(f"│{_stretch(limit, keys[limit], hours)}", _SHUT_STYLE if limit.none else _OPEN_STYLE)
    return bar.append("│")


def _stretch(limit: NodeLimit, key: str, hours: Sequence[Hour | None]) -> str:
    """Return a run of hours: its number and letter where there is room, and a mark at the end of each mixed hour."""
    fill = _SHUT if limit.none else _OPEN
    marks = {(number + 1) * _WIDTH - 2 for number, hour in enumerate(hours) if hour and hour.changes}
    text = [_CHANGES if place in marks else fill for place in range(len(hours) * _WIDTH - 1)]
    room = min(marks, default=len(text))
    for words in (f"{limit.amount} {key} ", f"{limit.amount} {key}", f"{limit.amount}{key}", key):
        if len(words) <= room:
            text[: len(words)] = words
            break
    return "".join(text)


def _legend(pools: EqualPools) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column()
    for limit, letter in pools.letters.items():
        table.add_row(letter, limit.amount, limit.why)
    hours = [hour for day in pools.days for hour in day.hours]
    if any(hour is not None and hour.changes for hour in hours):
        table.add_row("*", "", "changes within the hour; the most restrictive is shown")
    if None in hours:
        table.add_row("", "", "a blank hour is one that the clock skips")
    return table
