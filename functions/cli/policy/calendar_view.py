"""`ebb policy calendar`: for each day and hour how many nodes of each pool may go, and what decides it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from rich.console import Console

from functions.cli.input.files import read_policy
from functions.cli.input.options import Output
from functions.cli.output.documents import print_document
from functions.cli.output.format import some, span
from functions.cli.output.tables import BOLD
from functions.cli.output.terminal import facts, printing
from functions.cli.policy.calendar import CalendarQuestion, Sizes, document, equal_pools, zone_to_show, zones
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
    off = [name for name, pool in policy.pools.items() if not pool.enabled]
    found = document(question, equal_pools(question, shown), off, notes(question))
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
    """Yield what holds at all times, and what is not counted."""
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
