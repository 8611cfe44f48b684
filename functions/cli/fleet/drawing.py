"""The forms in which a fleet is printed. Must not put anything together: the view did."""

import json

import typer

from functions.cli.fleet import as_json, markdown, openmetrics, table
from functions.cli.fleet.commands import FleetFormat
from functions.cli.fleet.view import FleetView
from functions.cli.terminal import printing


def show(view: FleetView, output: FleetFormat, top: int | None) -> None:
    """Print the fleet; `top` chooses among the rows, and all sums stay those of the whole."""
    if output is FleetFormat.TABLE:
        with printing() as console:
            table.show(console, view, top)
    elif output is FleetFormat.MARKDOWN:
        typer.echo(markdown.page(view, top))
    elif output is FleetFormat.OPENMETRICS:
        typer.echo(openmetrics.page(view))
    else:
        typer.echo("\n".join(view.notes), err=True)
        typer.echo(json.dumps(as_json.document(view, top), indent=2, ensure_ascii=False))
