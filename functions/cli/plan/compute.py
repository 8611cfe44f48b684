"""`ebb plan`: gather, ask the planner of the core once, print.

Must not decide anything; a plan made here orders nothing, whatever its policy says.
"""

from dataclasses import dataclass, replace
from typing import Final

import typer

from functions.cli.analysis.forecast.ladder import ladder
from functions.cli.analysis.pool_scale_down import pool_rules
from functions.cli.analysis.potential import potential
from functions.cli.documents import print_document
from functions.cli.format import count
from functions.cli.inputs import NO_MARKS, WARNING, Inputs, Sources, gather_each
from functions.cli.options import Format
from functions.cli.pending_note import no_place_note
from functions.cli.plan import as_json, fleet, markdown, openmetrics, table
from functions.cli.plan.asked import AskedNodes, check_pools
from functions.cli.plan.autoscaler_note import autoscaler_note
from functions.cli.plan.ladder_rows import DEFAULTS, POLICY
from functions.cli.plan.outside_note import outside_note
from functions.cli.plan.remembered import remembered
from functions.cli.plan.steer_note import steer_note
from functions.cli.plan.surge_note import surge_note
from functions.cli.plan.view import PlanView, view_of, with_ladder
from functions.cli.pricing import priced_nodes
from functions.cli.reading_line import reading_line
from functions.cli.terminal import printing
from shared.collector import no_search_for_cycles
from shared.core.planning.make_plan import make_plan
from shared.core.rules.situation import Situation

BEYOND: Final = (
    "The potential goes beyond the policy: pools that are not enabled and nodes above the ratio limits count, and "
    "timers, windows, budgets, counts, headroom and running Jobs do not. What the policy comes to is the ladder's."
)


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What a person asked the plan to count, besides its sources."""

    with_potential: bool = False
    assume_marked: bool = False


def show_plan(sources: Sources, output: Format, asked: AskedNodes, options: PlanOptions) -> None:
    """Print the plan of each cluster: for people with its notes, for tools with the notes on stderr."""
    found = gather_each(sources)
    whose = POLICY if all(each.own_policy for each in found) else DEFAULTS
    views = [timed_view(each, options, POLICY if each.own_policy else DEFAULTS) for each in found]
    check_pools(views, asked.pools)
    if output is Format.TABLE:
        with printing() as console:
            for view in views:
                table.show(console, view, asked)
                fleet.end_of_report(console, views)
            fleet.show_total(console, views, whose)
    elif output is Format.MARKDOWN:
        typer.echo("\n\n".join((*(markdown.page(view, asked) for view in views), *fleet.markdown(views, whose))))
    elif output is Format.OPENMETRICS:
        typer.echo(openmetrics.page(views))
    else:
        notes = tuple(dict.fromkeys(note for view in views for note in view.notes))
        documents = [as_json.document(view, asked) for view in views]
        print_document(fleet.document(documents, views), output, notes)


def timed_view(inputs: Inputs, options: PlanOptions, whose: str) -> PlanView:
    """Plan, and return what is shown of it, while a line says how long it takes."""
    what = f"{inputs.snapshot.cluster}, {count(len(inputs.snapshot.nodes), 'node')}"
    with reading_line(what, doing="Planning"), no_search_for_cycles():
        return planned(inputs, options, whose)


def planned(inputs: Inputs, options: PlanOptions, whose: str) -> PlanView:
    """Return the plan of one cluster with its ladder; `whose` are the settings that it is planned with."""
    past = remembered(inputs, assume_marked=options.assume_marked)
    situation = Situation(inputs.snapshot, past.state, inputs.policy)
    plan = make_plan(situation, past.marks, inputs.prices)
    notes = (
        *(past.note if note == NO_MARKS else note for note in inputs.notes),
        *autoscaler_note(inputs.snapshot, in_dump=inputs.dumped),
        *outside_note(inputs.snapshot),
        *surge_note(situation, plan),
        *steer_note(situation, plan),
    )
    priced, rules = priced_nodes(inputs.snapshot, inputs.prices), pool_rules(inputs.snapshot)
    if inputs.partial or not inputs.snapshot.nodes:
        view = view_of(plan, None, notes, inputs.partial)
        return replace(view, prices=inputs.prices, priced=priced, autoscaler=rules)
    rungs = ladder(situation, past.marks or {}, inputs.prices, assume_marked=past.assumed)
    begun = Situation(rungs.begun or inputs.snapshot, past.state, inputs.policy)
    most = potential(begun, inputs.prices, rungs.reached) if options.with_potential else None
    left = no_place_note(begun.snapshot.pending)
    odd = (f"{WARNING}{left}",) if left else ()
    view = view_of(plan, most, (*odd, *notes, *((BEYOND,) if most else ())), inputs.partial)
    return with_ladder(replace(view, prices=inputs.prices, priced=priced, autoscaler=rules), rungs, whose)
