"""Simulated days as markdown, to send on. The same figures as the table's. Must not play anything."""

from functions.cli.format import count, moment
from functions.cli.markdown_text import code, table, text
from functions.cli.simulate.view import COLUMNS, DaysView


def page(view: DaysView) -> str:
    """Return one page."""
    names = [code(name) for name in view.names]
    rows = [[column.title, *(column.said(view, run) for run in view.runs), column.meaning] for column in COLUMNS]
    title = f"# {count(view.days, 'day')} of {text(view.cluster or 'the cluster')} from {moment(view.begins)}"
    return "\n\n".join((title, table(["", *names, ""], rows, names), *(f"> {text(note)}" for note in view.notes)))
