"""Simulated days on a terminal, as markdown and as JSON: one row for each figure, one column for each run."""

from dataclasses import fields
from fractions import Fraction
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from functions.cli.output.documents import text
from functions.cli.output.format import count, dollars, moment, rfc3339
from functions.cli.output.tables import DIM, Column, Table, as_markdown, draw
from functions.cli.simulate.view import DaysView, PlayedDay

_LEVELS: Final = "▁▂▃▄▅▆▇█"
_WIDTH: Final = 72
_LEAST: Final = 16
"""Columns in which a meaning can be read."""


def show(console: Console, view: DaysView) -> None:
    """Print the runs, the plot and the notes."""
    console.print(f"{count(view.days, 'day')} of {view.cluster or 'the cluster'} from {moment(view.begins)}\n")
    whole = _figures(view)
    short = Table(whole.columns[:-1])
    draw(console, whole if short.width + whole.gap + _LEAST <= console.width else short)
    console.print()
    for line in plot(view):
        console.print(Text(line))
    console.print()
    for note in view.notes:
        console.print(note)


def _figures(view: DaysView) -> Table:
    """Return the figures with their meanings, which the docs have, too."""
    rows = [(figure.title, *(figure.text(view, run) for run in view.runs), figure.meaning) for figure in view.figures]
    names = (Column(name, right=True) for name in view.names)
    return Table.of((Column(""), *names, Column("", wraps=True, style=DIM)), rows)


def plot(view: DaysView) -> list[str]:
    """Return the nodes over time, one line of bars for each run, all to one scale."""
    rows = {name: view.points(run, _WIDTH) for name, run in zip(view.names, view.runs, strict=True)}
    least, most = min(map(min, rows.values())), max(map(max, rows.values()))
    width = max(map(len, rows))
    lines = [
        f"{name:>{width}}  {''.join(_level(nodes, least, most) for nodes in points)}" for name, points in rows.items()
    ]
    return [f"Nodes over time, from {least} to {most}:", *lines]


def _level(nodes: int, least: int, most: int) -> str:
    return _LEVELS[(nodes - least) * (len(_LEVELS) - 1) // max(most - least, 1)]


def page(view: DaysView) -> str:
    """Return one page."""
    title = f"# {count(view.days, 'day')} of {text(view.cluster or 'the cluster')} from {moment(view.begins)}"
    return "\n\n".join((title, as_markdown(_figures(view)), *(f"> {text(note)}" for note in view.notes)))


SCHEMA: Final = 1
_APART: Final = frozenset({"cost", "bill", "series", "hours", "passes", "planned"})


def document(view: DaysView) -> dict[str, Any]:
    """Return what json.dumps takes."""
    return {
        "schema": SCHEMA,
        "cluster": view.cluster or None,
        "begins": rfc3339(view.begins),
        "days": view.days,
        "runs": [_run(view, run) for run in view.runs],
    }


def _run(view: DaysView, run: PlayedDay) -> dict[str, Any]:
    outcome = run.outcome
    plain = {field.name: getattr(outcome, field.name) for field in fields(outcome) if field.name not in _APART}
    return {
        "name": run.name,
        "mean_nodes": round(outcome.mean_nodes, 4),
        **{key: round(value, 4) if isinstance(value, float) else value for key, value in plain.items()},
        "cost": _dollars(outcome.cost),
        "bill": None if outcome.bill is None else _dollars(outcome.bill),
        "saved": round(float(view.saving_of(run)), 6),
        "series": [
            {"at": rfc3339(row.at), "nodes": row.nodes, "cost_per_hour": _dollars(row.cost), "waiting": row.waiting}
            for row in outcome.series
        ],
    }


def _dollars(micro: float) -> float:
    return float(round(dollars(Fraction(micro)), 4))
