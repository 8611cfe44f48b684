"""The fleet on a terminal and as markdown: one row for each cluster, the sum, reasons by money."""

from collections.abc import Iterator

from rich.console import Console

from functions.cli.fleet.view import FleetView, table_of, wrong
from functions.cli.output.documents import code, text
from functions.cli.output.format import count
from functions.cli.output.tables import as_markdown, draw
from functions.cli.plan.page import held_markdown, show_held
from functions.cli.plan.sentences import show_notes


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
    told = [(row.title, sentence) for row in view.rows for sentence in wrong(row)]
    if told:
        yield "## What is wrong"
        yield "\n".join(f"- {code(title)} {text(sentence)}" for title, sentence in told)
