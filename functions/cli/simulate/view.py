"""What is shown of simulated days: each run with its figures, and what they rest on.

Table, markdown and JSON draw it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Final

from functions.cli.analysis.simulated_days.measures import PlayedTotals
from functions.cli.output.format import dollars, money

POINTS: Final = 96


@dataclass(frozen=True, slots=True)
class PlayedDay:
    """One run: who was at work, and its totals."""

    name: str
    outcome: PlayedTotals


@dataclass(frozen=True, slots=True)
class DaysView:
    """All runs of the same days; the first is the autoscaler alone."""

    cluster: str
    begins: datetime
    days: int
    runs: tuple[PlayedDay, ...]
    notes: tuple[str, ...]

    @property
    def alone(self) -> PlayedTotals:
        return self.runs[0].outcome

    @property
    def names(self) -> tuple[str, ...]:
        """What the runs are called: policies by their files' names, where these differ."""
        whole = tuple(run.name for run in self.runs)
        short = tuple(Path(name).name for name in whole)
        return short if len(set(short)) == len(short) else whole

    def saving_of(self, run: PlayedDay) -> Fraction:
        """Return what a run saves compared with the autoscaler alone, as a share of its money."""
        alone = Fraction(self.alone.paid)
        return (alone - Fraction(run.outcome.paid)) / alone if alone else Fraction(0)

    @property
    def figures(self) -> "tuple[FigureColumn, ...]":
        """The figures of each run; where capacity is committed both the list price and the bill."""
        if self.alone.bill is None:
            return COLUMNS
        return tuple(new for figure in COLUMNS for new in ((_LISTED, _BILL) if figure.title == _MONEY else (figure,)))

    def points(self, run: PlayedDay, many: int = POINTS) -> tuple[int, ...]:
        """Return how many nodes there are at equal distances of time."""
        step = timedelta(days=self.days) / many
        found: list[int] = []
        rows = list(run.outcome.series)
        place = 0
        for number in range(many):
            at = self.begins + number * step
            while place + 1 < len(rows) and rows[place + 1].at <= at:
                place += 1
            found.append(rows[place].nodes)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """One figure of a run: its title, what it means, and how it is written."""

    title: str
    meaning: str
    text: Callable[[DaysView, PlayedDay], str]


def spent(micro: float) -> str:
    return money(dollars(Fraction(micro)))


def _seconds(seconds: float) -> str:
    """Return a sum of waiting as `12 s`, `34 min`, `5.6 h`."""
    if seconds < 120:  # noqa: PLR2004 - two minutes are clearer in seconds
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"  # noqa: PLR2004 - two hours


def percent(share: Fraction) -> str:
    return f"{float(share):.1%}"


_MONEY: Final = "money"
_LISTED: Final = FigureColumn(
    "list", "what the nodes cost over these days at list prices", lambda _, run: spent(run.outcome.cost)
)
_BILL: Final = FigureColumn(
    "bill", "what is paid for them with the commitments, fees included", lambda _, run: spent(run.outcome.paid)
)
COLUMNS: Final = (
    FigureColumn("nodes", "nodes on average", lambda _, run: f"{run.outcome.mean_nodes:.1f}"),
    FigureColumn(
        "least-most", "fewest and most nodes at once",
        lambda _, run: f"{run.outcome.least_nodes}-{run.outcome.most_nodes}",
    ),
    FigureColumn("node-hours", "hours of all nodes together", lambda _, run: f"{run.outcome.node_hours:,.0f}"),
    FigureColumn(_MONEY, "what the nodes cost over these days", lambda _, run: spent(run.outcome.cost)),
    FigureColumn("saved", "of the money of the autoscaler alone", lambda view, run: percent(view.saving_of(run))),
    FigureColumn("evictions", "pods moved, by the autoscaler and by Ebb", lambda _, run: f"{run.outcome.evictions:,}"),
    FigureColumn("by Ebb", "those that Ebb moved", lambda _, run: f"{run.outcome.evictions_by_ebb:,}"),
    FigureColumn("again", "evictions of a pod that had been moved before", lambda _, run: f"{run.outcome.twice:,}"),
    FigureColumn("drains", "drains that Ebb began", lambda _, run: f"{run.outcome.drains:,}"),
    FigureColumn("uncordoned", "of these, nodes that stayed", lambda _, run: f"{run.outcome.returned:,}"),
    FigureColumn("Pending", "time that pods were without a node, summed", lambda _, run: _seconds(run.outcome.pending)),
    FigureColumn("at the ramp", "of that, while demand rose", lambda _, run: _seconds(run.outcome.pending_at_ramp)),
    FigureColumn("longest", "the longest wait of one pod", lambda _, run: _seconds(run.outcome.longest_wait)),
    FigureColumn("re-added", "nodes added within an hour of a removal", lambda _, run: str(run.outcome.bought_back)),
)  # fmt: skip
