"""`ebb plan` and `ebb explain`: gather, ask the planner of the core once, print.

Must not decide anything; a plan made here orders nothing, whatever its policy says.
"""

import json

import typer

from functions.cli.inputs import Inputs, Sources, gather
from functions.cli.options import Format
from functions.cli.plan import as_json, explain, markdown, table
from functions.cli.plan.asked import AskedNodes
from functions.cli.plan.view import PlanView, view_of
from functions.cli.terminal import printing
from shared.core.planning.make_plan import make_plan, potential
from shared.core.planning.plan import Plan, Potential
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation


def show_plan(sources: Sources, output: Format, asked: AskedNodes, *, with_potential: bool) -> None:
    """Print the plan: for people with its notes, for tools with the notes on stderr."""
    inputs = gather(sources)
    view = view_of(_plan(inputs), _potential(inputs) if with_potential else None, inputs.notes)
    if output is Format.TABLE:
        with printing() as console:
            table.show(console, view, asked)
    elif output is Format.MARKDOWN:
        typer.echo(markdown.page(view, asked))
    else:
        typer.echo("\n".join(view.notes), err=True)
        typer.echo(_document(view, output, asked))


def _document(view: PlanView, output: Format, asked: AskedNodes) -> str:
    document = as_json.document(view, asked)
    if output is Format.JSON:
        return json.dumps(document, indent=2, ensure_ascii=False)
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000).rstrip()


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
