"""The fleet as a table: one row for each cluster with what is wrong, the sum, and reasons by money below."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console

from functions.cli.fleet.view import FleetRow, FleetView, rows_to_show
from functions.cli.output.documents import code, text
from functions.cli.output.format import count
from functions.cli.output.tables import BOLD, Column, Table, as_markdown, draw
from functions.cli.plan import totals
from functions.cli.plan.page import held_markdown, show_held
from functions.cli.plan.sentences import show_notes
from functions.cli.plan.totals import FIGURES
from functions.cli.plan.view import PlanView

STATE: Final = "ebb"
_UNKNOWN: Final = "-"


def table_of(view: FleetView, top: int | None) -> Table:
    """Return a row for each cluster with what is wrong below it, and the sum; unread clusters are never left out."""
    shown = rows_to_show(view, top)
    states = any(row.state for row in view.rows)
    left, width = len(view.rows) - len(shown), len(FIGURES) + 1 + states
    rows = [(*_row(row), row.state) for row in shown]
    rows += [(f"… {left} more", *[""] * (width - 1), "")] if left else []
    whole = [(*_total(view), count_states(view))] if len(view.rows) > 1 else []
    name = Column(count(len(view.rows), "cluster"), wraps=True)
    columns = (name, *FIGURES, *([Column(STATE)] if states else []))
    below = {number: faults for number, row in enumerate(shown) if (faults := faults_of(row))}
    cells = [row[:width] for row in (*rows, *whole)]
    return Table.of(
        columns, cells, styles=(*[""] * len(rows), *[BOLD] * len(whole)), below=below, foot=totals.meaning(view.views)
    )


def _total(view: FleetView) -> tuple[str, ...]:
    """Return the cells of the sum: of all clusters that were read."""
    partial = next((plan.mark for plan in view.views if plan.partial), "")
    name = f"all {len(view.views)}{' that were read' if view.not_read else ''}{partial}"
    return (name, *_figures(view.views))


def count_states(view: FleetView) -> str:
    """Return `2 dry run, 1 failing`: how many installations each word is true of."""
    counted = view.counts()
    words = {word: number for word, number in counted.items() if word != "installations" and number}
    return ", ".join(f"{number:,} {word.replace('_', ' ')}" for word, number in words.items())


def _row(row: FleetRow) -> tuple[str, ...]:
    return (f"{row.title}{row.view.mark if row.view else ''}", *_figures([row.view] if row.view else []))


def _figures(views: Sequence[PlanView]) -> tuple[str, ...]:
    return totals.figures(views) if views else (_UNKNOWN,) * len(FIGURES)


def faults_of(row: FleetRow) -> tuple[str, ...]:
    """Return what is wrong, each as a sentence: why it was not read, and why its installation fails."""
    troubles = tuple(sentence for _, sentence in row.installation.troubles) if row.installation else ()
    paused = (f"Paused: {row.installation.paused_for}",) if row.installation and row.installation.paused_for else ()
    return (*row.faults, *paused, *troubles)


def show(console: Console, view: FleetView, top: int | None) -> None:
    """Print the fleet."""
    draw(console, table_of(view, top))
    show_held(console, view.legend)
    console.print()
    show_notes(console, view.notes)
    if view.headline:
        console.print(view.headline)


def page(view: FleetView, top: int | None) -> str:
    """Return the fleet as one page."""
    parts = [f"# {count(len(view.rows), 'cluster')}", as_markdown(table_of(view, top))]
    if view.headline:
        parts.append(f"**{text(view.headline)}**")
    parts += (*_wrong(view), *held_markdown(view.legend))
    return "\n\n".join((*parts, *(f"> {text(note)}" for note in view.notes)))


def _wrong(view: FleetView) -> Iterator[str]:
    faults = [(row.title, sentence) for row in view.rows for sentence in faults_of(row)]
    if faults:
        yield "## What is wrong"
        yield "\n".join(f"- {code(title)} {text(sentence)}" for title, sentence in faults)
