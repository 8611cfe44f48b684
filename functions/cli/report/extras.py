"""The report's optional sections: the policy's calendar, requests above what is recommended, simulated days."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from fractions import Fraction
from itertools import groupby
from typing import Any, Final

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.analysis.recommendations import oversized
from functions.cli.explain.why_not import amounts, remedies
from functions.cli.output.format import count, monthly
from functions.cli.plan.scenarios import paid
from functions.cli.policy.calendar import CalendarQuestion, Day, Hour, NodeLimit, Sizes, calendar, letters, zones
from functions.cli.report.report_input import ReportInput, table
from functions.cli.simulate.view import DaysView, percent
from shared.core.policy.schedule import zone_of


def extra_section(
    title: str,
    sentences: Sequence[str],
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    plot: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return one section of the page; the table has the figures of the plot.

    A plot has places `x`, what is `measured`, and `lines` with a `name` and a value for each place.
    """
    return {"title": title, "sentences": list(sentences), "table": table(columns, rows), "plot": plot}


DAYS: Final = 7
_UTC: Final = "UTC"


def week(report_input: ReportInput) -> dict[str, Any]:
    """Return a week from the snapshot's day on, for each set of pools with equal days."""
    question = _question(report_input)
    pools = [name for name in report_input.now.nodes_by_pool if name and report_input.policy.pool(name).enabled]
    days = calendar(question, pools)
    alike: dict[tuple[Day, ...], list[str]] = {}
    for pool in pools:
        alike.setdefault(days[pool], []).append(pool)
    return {
        "time_zone": question.zone.key,
        "pools": [_pools(names, rows) for rows, names in alike.items()],
        "off": [name for name in report_input.now.nodes_by_pool if name and not report_input.policy.pool(name).enabled],
        "notes": list(_notes(report_input)),
    }


def _question(report_input: ReportInput) -> CalendarQuestion:
    used = zones(report_input.policy)
    zone = zone_of(used[0] if len(used) == 1 else _UTC)
    sizes = Sizes(
        {name: len(nodes) for name, nodes in report_input.now.nodes_by_pool.items()}, len(report_input.now.nodes)
    )
    return CalendarQuestion(report_input.policy, sizes, zone, report_input.now.taken_at.astimezone(zone).date(), DAYS)


def _notes(report_input: ReportInput) -> Iterator[str]:
    if report_input.policy.paused:
        yield "paused is true: nothing is drained at any time."
    elif report_input.policy.dry_run:
        yield "dryRun is true: nothing is drained at any time. This is what holds once it is false."
    if len(zones(report_input.policy)) > 1:
        yield f"Schedules are written for {', '.join(zones(report_input.policy))}; the hours are those of UTC."


def _pools(names: Sequence[str], days: Sequence[Day]) -> dict[str, Any]:
    keys = letters(days)
    legend = [{"letter": key, "nodes": limit.amount, "why": limit.why} for limit, key in keys.items()]
    rows = [{"day": f"{day.date:%a} {day.date.day} {day.date:%b}", "runs": list(_runs(day, keys))} for day in days]
    return {"names": list(names), "always": len(keys) == 1, "legend": legend, "days": rows}


def _runs(day: Day, keys: dict[NodeLimit, str]) -> Iterator[dict[str, Any]]:
    """Yield runs of equal hours; a run without a letter is one that the clock skips."""
    begin = 0
    for (limit, changes), run in groupby(day.hours, key=_alike):
        hours = len(list(run))
        amount = limit.amount if limit else ""
        letter = keys[limit] if limit else ""
        none = limit is not None and limit.none
        yield {"from": begin, "hours": hours, "letter": letter, "nodes": amount, "none": none, "changes": changes}
        begin += hours


def _alike(hour: Hour | None) -> tuple[NodeLimit | None, bool]:
    return (hour.limit, hour.changes) if hour else (None, False)


REQUESTS: Final = "Requests above what is recommended"
OVERSIZED: Final = (
    "{These} request more than VerticalPodAutoscalers recommend. ebb why-not shows how many nodes would go if they did "
    "not."
)
_PRICED: Final = "What is too much is priced by its share of the nodes, half by CPU and half by memory."
_MOST: Final = 10
_REQUESTS: Final = ("", "pods", "CPU", "memory (GiB)")
_WORTH: Final = "too much, a month"


def requests(report_input: ReportInput) -> tuple[dict[str, Any], ...]:
    """Return the workloads that request more than is recommended, those first whose difference costs most, if any."""
    prices = report_input.view.prices
    found = oversized(report_input.now, prices) if prices else ()
    if not found:
        return ()
    these = f"The {_MOST} largest of {len(found):,} workloads" if len(found) > _MOST else "These workloads"
    rows = [(row.workload, f"{row.pods:,}", *amounts(row), monthly(row.cost)) for row in found[:_MOST]]
    what, how = OVERSIZED.format(These=these), tuple(remedies(found))
    if not any(row.cost for row in found):
        return (extra_section(REQUESTS, (what, *how), _REQUESTS, [row[:-1] for row in rows]),)
    return (extra_section(REQUESTS, (what, _PRICED, *how), (*_REQUESTS, _WORTH), rows),)


WHAT: Final = (
    "The coming days in virtual time: the autoscaler alone, and with Ebb under each policy. Every run sees the same "
    "demand."
)
DIFFERS: Final = (
    "In these days {who} saves {played} of the cost with the autoscaler alone; above it is {above}. The figures above "
    "take demand as it is now. Here it changes: if it falls the autoscaler removes nodes by itself, and if it rises "
    "they are needed again."
)
_APART: Final = Fraction(2, 100)
"""Shares that lie no further apart are not worth a sentence."""
_A_DAY: Final = 48
_MOST_POINTS: Final = 336


def section(view: DaysView, scenarios: Scenarios | None = None) -> dict[str, Any]:
    """Return the runs as a table and a plot; what the scenarios show for the first policy is compared."""
    rows = [
        [f"{figure.title}: {figure.meaning}", *(figure.text(view, run) for run in view.runs)] for figure in view.figures
    ]
    sentences = (WHAT, *_compared(view, scenarios), *view.notes)
    return extra_section(
        f"{count(view.days, 'simulated day')} to come", sentences, ("", *view.names), rows, _plot(view)
    )


def _compared(view: DaysView, scenarios: Scenarios | None) -> tuple[str, ...]:
    if scenarios is None or not paid(scenarios.alone):
        return ()
    alone = paid(scenarios.alone)
    by_scenarios = Fraction(alone - paid(scenarios.at_rest), alone)
    played = view.saved(view.runs[1])
    if abs(played - by_scenarios) <= _APART:
        return ()
    return (DIFFERS.format(who=view.names[1], played=percent(played), above=percent(by_scenarios)),)


def _plot(view: DaysView) -> dict[str, Any]:
    many = min(view.days * _A_DAY, _MOST_POINTS)
    step = timedelta(days=view.days) / many
    return {
        "x": [f"{view.begins + number * step:%a %H:%M}" for number in range(many)],
        "measured": "Nodes",
        "lines": [
            {"name": name, "values": list(view.points(run, many))}
            for name, run in zip(view.names, view.runs, strict=True)
        ],
    }
