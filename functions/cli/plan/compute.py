"""`ebb plan`: gather, ask the planner of the core once, print.

Must not decide anything; a plan made here orders nothing, whatever its policy says.
"""

import json
from typing import Any

import typer

from functions.cli.inputs import Inputs, Sources, gather_each
from functions.cli.options import Format
from functions.cli.plan import as_json, fleet, markdown, table
from functions.cli.plan.asked import AskedNodes
from functions.cli.plan.view import PlanView, view_of
from functions.cli.terminal import printing
from shared.core.planning.make_plan import make_plan, potential
from shared.core.planning.plan import Plan, Potential
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation


def show_plan(sources: Sources, output: Format, asked: AskedNodes, *, with_potential: bool) -> None:
    """Print the plan of each cluster: for people with its notes, for tools with the notes on stderr."""
    views = [_view(each, with_potential=with_potential) for each in gather_each(sources)]
    if output is Format.TABLE:
        with printing() as console:
            for view in views:
                table.show(console, view, asked)
                fleet.end_of_report(console, views)
            fleet.show_total(console, views)
    elif output is Format.MARKDOWN:
        typer.echo("\n\n".join((*(markdown.page(view, asked) for view in views), *fleet.markdown(views))))
    else:
        typer.echo("\n".join(dict.fromkeys(note for view in views for note in view.notes)), err=True)
        typer.echo(_written(fleet.document([as_json.document(view, asked) for view in views]), output))


def _written(document: dict[str, Any], output: Format) -> str:
    if output is Format.JSON:
        return json.dumps(document, indent=2, ensure_ascii=False)
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000).rstrip()


def _view(inputs: Inputs, *, with_potential: bool) -> PlanView:
    most = _potential(inputs) if with_potential and not inputs.partial else None
    return view_of(_plan(inputs), most, inputs.notes, inputs.partial)


def _plan(inputs: Inputs) -> Plan:
    return make_plan(Situation(inputs.snapshot, ClusterState(), inputs.policy), {}, inputs.prices)


def _potential(inputs: Inputs) -> Potential:
    return potential(Situation(inputs.snapshot, ClusterState(), inputs.policy), inputs.prices)
