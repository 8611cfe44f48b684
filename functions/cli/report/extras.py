"""The report's optional sections: the policy's calendar, requests above what is recommended, simulated days."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Any, Final

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.analysis.recommendations import find_oversized
from functions.cli.explain.why_not import amounts, remedies
from functions.cli.output.format import count, monthly
from functions.cli.plan.scenarios import paid_cost
from functions.cli.policy.calendar import CalendarQuestion, Sizes, document, equal_pools, zone_to_show, zones
from functions.cli.report.report_input import ReportInput, table
from functions.cli.simulate.view import DaysView, percent


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


def week(report_input: ReportInput) -> dict[str, Any]:
    """Return a week from the snapshot's day on, for each set of pools with equal days."""
    policy, now = report_input.policy, report_input.now
    sizes = Sizes({name: len(nodes) for name, nodes in now.nodes_by_pool.items()}, len(now.nodes))
    zone = zone_to_show(policy)
    question = CalendarQuestion(policy, sizes, zone, now.taken_at.astimezone(zone).date(), DAYS)
    named = [name for name in now.nodes_by_pool if name]
    on = [name for name in named if policy.pool(name).enabled]
    return document(
        question, equal_pools(question, on), [name for name in named if name not in on], _notes(report_input)
    )


def _notes(report_input: ReportInput) -> Iterator[str]:
    if report_input.policy.paused:
        yield "paused is true: nothing is drained at any time."
    elif report_input.policy.dry_run:
        yield "dryRun is true: nothing is drained at any time. This is what holds once it is false."
    if len(zones(report_input.policy)) > 1:
        yield f"Schedules are written for {', '.join(zones(report_input.policy))}; the hours are those of UTC."


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
    found = find_oversized(report_input.now, prices) if prices else ()
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
    sentences = (WHAT, *_compare_days(view, scenarios), *view.notes)
    return extra_section(
        f"{count(view.days, 'simulated day')} to come", sentences, ("", *view.names), rows, _plot(view)
    )


def _compare_days(view: DaysView, scenarios: Scenarios | None) -> tuple[str, ...]:
    if scenarios is None or not paid_cost(scenarios.alone):
        return ()
    alone = paid_cost(scenarios.alone)
    by_scenarios = Fraction(alone - paid_cost(scenarios.at_rest), alone)
    played = view.saving_of(view.runs[1])
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
