"""Simulated days as a section of the report: who was at work, side by side, and the nodes over time.

Must not play anything: `functions.cli.simulate` does, and says each figure.
"""

from datetime import timedelta
from fractions import Fraction
from typing import Final

from functions.cli.analysis.forecast.ladder import Ladder
from functions.cli.format import count
from functions.cli.report.extra import ExtraSection, Line, Plot
from functions.cli.simulate.view import COLUMNS, DaysView, percent

WHAT: Final = (
    "The coming time in virtual time: the autoscaler alone, and with Ebb beside it under each policy. "
    "Every run sees the same demand."
)
DIFFERS: Final = (
    "In these days {who} saves {played} beside the autoscaler alone; by the ladder it would be {ladder}. The ladder "
    "takes demand as it is now; here it changes: its fall lets the autoscaler remove nodes by itself, and its rise "
    "needs them again."
)
_APART: Final = Fraction(2, 100)
"""Shares that lie no further apart are not worth a sentence."""
_A_DAY: Final = 48
_MOST_POINTS: Final = 336


def section(view: DaysView, ladder: Ladder | None = None) -> ExtraSection:
    """Return the runs as a table and a plot; what the ladder says of the first policy is set beside it."""
    rows = [[f"{each.title}: {each.meaning}", *(each.said(view, run) for run in view.runs)] for each in COLUMNS]
    title = f"{count(view.days, 'simulated day')} to come"
    return ExtraSection(title, (WHAT, *_beside(view, ladder), *view.notes), ("", *view.names), rows, _plot(view))


def _beside(view: DaysView, ladder: Ladder | None) -> tuple[str, ...]:
    if ladder is None or not ladder.alone.cost:
        return ()
    by_ladder = Fraction(ladder.alone.cost - ladder.at_rest.cost, ladder.alone.cost)
    played = view.saved(view.runs[1])
    if abs(played - by_ladder) <= _APART:
        return ()
    return (DIFFERS.format(who=view.names[1], played=percent(played), ladder=percent(by_ladder)),)


def _plot(view: DaysView) -> Plot:
    many = min(view.days * _A_DAY, _MOST_POINTS)
    step = timedelta(days=view.days) / many
    x = [f"{view.begins + number * step:%a %H:%M}" for number in range(many)]
    return Plot(
        x, "Nodes", [Line(name, view.points(run, many)) for name, run in zip(view.names, view.runs, strict=True)]
    )
