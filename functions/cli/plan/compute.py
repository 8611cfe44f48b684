"""`ebb plan` and `ebb explain`: gather, ask the planner of the core once, print.

Must not decide anything; a plan made here orders nothing, whatever its policy says.
"""

import json

import typer

from functions.cli.inputs import Inputs, Sources, gather
from functions.cli.options import Output
from functions.cli.plan import as_json, explain, table
from functions.cli.plan.view import view_of
from functions.cli.terminal import printing
from shared.core.planning.make_plan import make_plan, potential
from shared.core.planning.plan import Plan, Potential
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation


def show_plan(sources: Sources, output: Output, *, with_potential: bool) -> None:
    """Print the plan as a table with notes, or as JSON with the notes on stderr."""
    inputs = gather(sources)
    view = view_of(_plan(inputs), _potential(inputs) if with_potential else None, inputs.notes)
    if output is Output.JSON:
        typer.echo("\n".join(view.notes), err=True)
        typer.echo(json.dumps(as_json.document(view), indent=2, ensure_ascii=False))
        return
    with printing() as console:
        table.show(console, view)


def show_node(sources: Sources, name: str) -> None:
    """Print one node's verdict with all its blockers and what can be done about them."""
    inputs = gather(sources)
    view = view_of(_plan(inputs), notes=inputs.notes)
    with printing() as console:
        explain.show(console, view, name)


def _plan(inputs: Inputs) -> Plan:
    return make_plan(Situation(inputs.snapshot, ClusterState(), inputs.policy), {}, inputs.prices)


def _potential(inputs: Inputs) -> Potential:
    return potential(Situation(inputs.snapshot, ClusterState(), inputs.policy), inputs.prices)
