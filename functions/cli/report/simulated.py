"""Simulated days as a section of the report: who was at work, side by side, and the nodes over time.

Must not play anything: `functions.cli.simulate` does, and says each figure.
"""

from datetime import timedelta
from typing import Final

from functions.cli.format import count
from functions.cli.report.extra import ExtraSection, Line, Plot
from functions.cli.simulate.view import COLUMNS, DaysView

WHAT: Final = (
    "The coming time in virtual time: the autoscaler alone, and with Ebb beside it under each policy. "
    "Every run sees the same demand."
)
_A_DAY: Final = 48
_MOST_POINTS: Final = 336


def section(view: DaysView) -> ExtraSection:
    """Return the runs as a table and a plot."""
    rows = [[f"{each.title}: {each.meaning}", *(each.said(view, run) for run in view.runs)] for each in COLUMNS]
    title = f"{count(view.days, 'simulated day')} to come"
    return ExtraSection(title, (WHAT, *view.notes), ("", *view.names), rows, _plot(view))


def _plot(view: DaysView) -> Plot:
    many = min(view.days * _A_DAY, _MOST_POINTS)
    step = timedelta(days=view.days) / many
    x = [f"{view.begins + number * step:%a %H:%M}" for number in range(many)]
    return Plot(
        x, "Nodes", [Line(name, view.points(run, many)) for name, run in zip(view.names, view.runs, strict=True)]
    )
