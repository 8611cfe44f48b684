"""What is shown of simulated days: each run with its figures; on a terminal, as markdown and as JSON."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from functions.cli.analysis.simulated_days.measures import PlayedTotals
from functions.cli.output.answers import Heading, PagePart
from functions.cli.output.format import count, dollars, moment, money, rfc3339
from functions.cli.output.tables import DIM, Column, Table


@dataclass(frozen=True, slots=True)
class DaysView:
    """All runs of the same days, by the name of the policy; the first is the autoscaler alone."""

    cluster: str
    begins: datetime
    days: int
    runs: Mapping[str, PlayedTotals]
    notes: tuple[str, ...]

    @property
    def alone(self) -> PlayedTotals:
        return next(iter(self.runs.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """What the runs are called: policies by their files' names, where these differ."""
        short = tuple(Path(name).name for name in self.runs)
        return short if len(set(short)) == len(short) else tuple(self.runs)

    def saving_of(self, run: PlayedTotals) -> Fraction:
        """Return what a run saves compared with the autoscaler alone, as a share of its money."""
        alone = Fraction(self.alone.paid)
        return (alone - Fraction(run.paid)) / alone if alone else Fraction(0)

    @property
    def figures(self) -> "tuple[FigureColumn, ...]":
        """The figures of each run; where capacity is committed both the list price and the bill."""
        if self.alone.bill is None:
            return COLUMNS
        return tuple(new for figure in COLUMNS for new in ((_LISTED, _BILL) if figure.title == _MONEY else (figure,)))


@dataclass(frozen=True, slots=True)
class FigureColumn:
    title: str
    meaning: str
    text: Callable[[DaysView, PlayedTotals], str]


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
    "list", "what the nodes cost over these days at list prices", lambda _, run: spent(run.cost)
)
_BILL: Final = FigureColumn(
    "bill", "what is paid for them with the commitments, fees included", lambda _, run: spent(run.paid)
)
COLUMNS: Final = (
    FigureColumn("nodes", "nodes on average", lambda _, run: f"{run.mean_nodes:.1f}"),
    FigureColumn("least-most", "fewest and most nodes at once", lambda _, run: f"{run.least_nodes}-{run.most_nodes}"),
    FigureColumn("node-hours", "hours of all nodes together", lambda _, run: f"{run.node_hours:,.0f}"),
    FigureColumn(_MONEY, "what the nodes cost over these days", lambda _, run: spent(run.cost)),
    FigureColumn("saved", "of the money of the autoscaler alone", lambda view, run: percent(view.saving_of(run))),
    FigureColumn("evictions", "pods moved, by the autoscaler and by Ebb", lambda _, run: f"{run.evictions:,}"),
    FigureColumn("by Ebb", "those that Ebb moved", lambda _, run: f"{run.evictions_by_ebb:,}"),
    FigureColumn("again", "evictions of a pod that had been moved before", lambda _, run: f"{run.twice:,}"),
    FigureColumn("drains", "drains that Ebb began", lambda _, run: f"{run.drains:,}"),
    FigureColumn("uncordoned", "of these, nodes that stayed", lambda _, run: f"{run.returned:,}"),
    FigureColumn("Pending", "time that pods were without a node, summed", lambda _, run: _seconds(run.pending)),
    FigureColumn("longest", "the longest wait of one pod", lambda _, run: _seconds(run.longest_wait)),
)  # fmt: skip


_LEAST: Final = 16


def parts(view: DaysView, width: int) -> Iterator[PagePart]:
    """Yield what was played, and its figures; a narrow terminal shows them without their meanings."""
    yield Heading(f"{count(view.days, 'day')} of {view.cluster or 'the cluster'} from {moment(view.begins)}", 1)
    whole = _figures(view)
    short = Table(whole.columns[:-1])
    yield whole if short.width + whole.gap + _LEAST <= width else short


def _figures(view: DaysView) -> Table:
    rows = [
        (figure.title, *(figure.text(view, run) for run in view.runs.values()), figure.meaning)
        for figure in view.figures
    ]
    names = (Column(name, right=True) for name in view.names)
    return Table.of((Column(""), *names, Column("", wraps=True, style=DIM)), rows)


SCHEMA: Final = 1
_APART: Final = frozenset({"cost", "bill", "series", "hours"})


def document(view: DaysView) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "cluster": view.cluster or None,
        "begins": rfc3339(view.begins),
        "days": view.days,
        "runs": [_run(view, name, run) for name, run in view.runs.items()],
    }


def _run(view: DaysView, name: str, run: PlayedTotals) -> dict[str, Any]:
    plain = {field.name: getattr(run, field.name) for field in fields(run) if field.name not in _APART}
    return {
        "name": name,
        "mean_nodes": round(run.mean_nodes, 4),
        **{key: round(value, 4) if isinstance(value, float) else value for key, value in plain.items()},
        "cost": _dollars(run.cost),
        "bill": None if run.bill is None else _dollars(run.bill),
        "saved": round(float(view.saving_of(run)), 6),
        "series": [
            {"at": rfc3339(row.at), "nodes": row.nodes, "cost_per_hour": _dollars(row.cost), "waiting": row.waiting}
            for row in run.series
        ],
    }


def _dollars(micro: float) -> float:
    return float(round(dollars(Fraction(micro)), 4))
