"""Sections that other commands add to a report, such as simulated days: sentences, one table and one plot each.

The page draws whatever it is given here, so that who adds a section writes no script. Must not know who does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from functions.cli.report.tables import table


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
    """One section of the page. The table says in figures what the plot shows."""

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
