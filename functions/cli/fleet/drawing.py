"""The forms in which a fleet is printed. Must not put anything together: the view did."""

import typer

from functions.cli.documents import print_document
from functions.cli.fleet import as_json, markdown, openmetrics, table
from functions.cli.fleet.view import FleetView
from functions.cli.options import Format
from functions.cli.terminal import printing


def show(view: FleetView, output: Format, top: int | None) -> None:
    """Print the fleet; `top` chooses among the rows, and all sums stay those of the whole."""
    if output is Format.TABLE:
        with printing() as console:
            table.show(console, view, top)
    elif output is Format.MARKDOWN:
        typer.echo(markdown.page(view, top))
    elif output is Format.OPENMETRICS:
        typer.echo(openmetrics.page(view))
    else:
        print_document(as_json.document(view, top), output, view.notes)
