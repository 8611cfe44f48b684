"""The report's optional sections: the policy's calendar, requests above what is recommended, simulated days."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Any, Final

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.analysis.recommendations import oversized
from functions.cli.explain.why_not import amounts, remedies
from functions.cli.output.format import count, monthly
from functions.cli.plan.scenarios import paid
from functions.cli.policy.calendar import CalendarQuestion, Sizes, document, equal_pools, zone_to_show, zones
from functions.cli.report.report_input import ReportInput, table
from functions.cli.simulate.view import DaysView, percent


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a plot; a value for each place of its `x`."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over one axis: what stands below it, and what is measured."""

    x: Sequence[str]
    measured: str
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class ExtraSection:
    """One section of the page. The table has the figures of the plot."""

    title: str
    sentences: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    plot: Plot | None = None


def as_json(section: ExtraSection) -> dict[str, Any]:
    plot = section.plot
    return {
        "title": section.title,
        "sentences": list(section.sentences),
        "table": table(section.columns, section.rows),
        "plot": None
        if plot is None
        else {
            "x": list(plot.x),
            "measured": plot.measured,
            "lines": [{"name": each.name, "values": list(each.values)} for each in plot.lines],
        },
    }


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


def requests(report_input: ReportInput) -> tuple[ExtraSection, ...]:
    """Return the workloads that request more than is recommended, those first whose difference costs most, if any."""
    prices = report_input.view.prices
    found = oversized(report_input.now, prices) if prices else ()
    if not found:
        return ()
    these = f"The {_MOST} largest of {len(found):,} workloads" if len(found) > _MOST else "These workloads"
    rows = [(each.workload, f"{each.pods:,}", *amounts(each), monthly(each.cost)) for each in found[:_MOST]]
    what, how = OVERSIZED.format(These=these), tuple(remedies(found))
    if not any(each.cost for each in found):
        return (ExtraSection(REQUESTS, (what, *how), _REQUESTS, [row[:-1] for row in rows]),)
    return (ExtraSection(REQUESTS, (what, _PRICED, *how), (*_REQUESTS, _WORTH), rows),)


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


def section(view: DaysView, scenarios: Scenarios | None = None) -> ExtraSection:
    """Return the runs as a table and a plot; what the scenarios show for the first policy is compared."""
    rows = [[f"{each.title}: {each.meaning}", *(each.text(view, run) for run in view.runs)] for each in view.figures]
    title = f"{count(view.days, 'simulated day')} to come"
    return ExtraSection(title, (WHAT, *_compared(view, scenarios), *view.notes), ("", *view.names), rows, _plot(view))


def _compared(view: DaysView, scenarios: Scenarios | None) -> tuple[str, ...]:
    if scenarios is None or not paid(scenarios.alone):
        return ()
    alone = paid(scenarios.alone)
    by_scenarios = Fraction(alone - paid(scenarios.at_rest), alone)
    played = view.saved(view.runs[1])
    if abs(played - by_scenarios) <= _APART:
        return ()
    return (DIFFERS.format(who=view.names[1], played=percent(played), above=percent(by_scenarios)),)


def _plot(view: DaysView) -> Plot:
    many = min(view.days * _A_DAY, _MOST_POINTS)
    step = timedelta(days=view.days) / many
    x = [f"{view.begins + number * step:%a %H:%M}" for number in range(many)]
    return Plot(
        x, "Nodes", [Line(name, view.points(run, many)) for name, run in zip(view.names, view.runs, strict=True)]
    )
