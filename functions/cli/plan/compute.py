"""`ebb plan`: gathers the input, makes plan and forecast, prints them; for several clusters a sum, too."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import typer

from functions.cli.analysis.forecast.committed import committed_of
from functions.cli.analysis.forecast.scenarios import Scenarios, scenarios_of
from functions.cli.analysis.pools import pool_rules
from functions.cli.analysis.potential import potential
from functions.cli.input.inputs import WARNING, Inputs, PastPasses, gather_each, recall_passes
from functions.cli.input.missing_data import pending_note
from functions.cli.input.options import Format, Sources
from functions.cli.input.pricing import priced_nodes
from functions.cli.output.documents import print_document, text
from functions.cli.output.format import count
from functions.cli.output.progress import reading_line
from functions.cli.output.tables import as_markdown, draw
from functions.cli.output.terminal import printing
from functions.cli.plan import as_json, openmetrics, page, totals
from functions.cli.plan.scenarios import DEFAULTS, POLICY
from functions.cli.plan.sentences import autoscaler_note, outside_note, steer_note, surge_note, wave_note
from functions.cli.plan.view import AskedNodes, PlanView, check_pools, view_of, with_scenarios
from shared.collector import no_search_for_cycles
from shared.core.cluster.pod import Pod
from shared.core.placement.assignments import NOTHING_REACHED
from shared.core.planning.make_plan import make_plan
from shared.core.planning.prices import Prices
from shared.core.planning.waves import left_of
from shared.core.rules.situation import Situation

_LINE: Final = 72
BEYOND: Final = (
    "The potential ignores the policy: pools that are not enabled and nodes above the ratio limits count, and timers, "
    "windows, budgets, counts, headroom and running Jobs do not. What the policy saves is in the table of scenarios."
)


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What a person asked the plan to count, besides its sources."""

    with_potential: bool = False
    assume_marked: bool = False
    forecast: bool = True
    """Whether there is a table of scenarios."""


def show_plan(sources: Sources, output: Format, request: AskedNodes, options: PlanOptions) -> None:
    """Print the plan of each cluster: for people with its notes, for tools with the notes on stderr."""
    found = gather_each(sources)
    whose = POLICY if all(each.own_policy for each in found) else DEFAULTS
    views = [timed_view(each, options, POLICY if each.own_policy else DEFAULTS) for each in found]
    check_pools(views, request.pools)
    if output is Format.TABLE:
        with printing() as console:
            for view in views:
                page.show(console, view, request)
                if len(views) > 1:
                    console.print(f"\n{'-' * min(console.width, _LINE)}\n", style="dim")
            if len(views) > 1:
                draw(console, totals.cluster_table(views))
                console.print(f"\n{totals.whole_headline(views, whose)}")
    elif output is Format.MARKDOWN:
        whole = (as_markdown(totals.cluster_table(views)), f"**{text(totals.whole_headline(views, whose))}**")
        pages = (page.markdown(view, request) for view in views)
        typer.echo("\n\n".join((*pages, *(whole if len(views) > 1 else ()))))
    elif output is Format.OPENMETRICS:
        typer.echo(openmetrics.page(views))
    else:
        notes = tuple(dict.fromkeys(note for view in views for note in view.notes))
        documents = [as_json.document(view, request) for view in views]
        print_document(totals.document(documents, views), output, notes)


def timed_view(inputs: Inputs, options: PlanOptions, whose: str) -> PlanView:
    """Plan, and return what is shown, while a line shows the phase if it takes long."""
    what = f"{inputs.snapshot.cluster}, {count(len(inputs.snapshot.nodes), 'node')}"
    with reading_line(what, doing="Planning") as phase, no_search_for_cycles():
        return planned(inputs, options, whose, phase)


def planned(
    inputs: Inputs, options: PlanOptions, whose: str, phase: Callable[[str], None] = lambda _: None
) -> PlanView:
    """Return the plan of one cluster with its scenarios.

    `whose` are the settings that it is planned with; `phase` is called with each phase that begins.
    """
    past = recall_passes(inputs, assume_marked=options.assume_marked)
    situation = Situation(inputs.snapshot, past.state, inputs.policy)
    phase("this pass")
    plan = make_plan(situation, past.marks, inputs.prices, wave=left_of(past.wave, situation))
    notes = (
        *past.notes_of(inputs),
        *autoscaler_note(inputs.snapshot, in_dump=inputs.dumped),
        *outside_note(inputs.snapshot),
        *surge_note(situation, plan),
        *wave_note(plan),
        *steer_note(situation, plan),
    )
    is_known = bool(inputs.snapshot.nodes) and not inputs.partial
    found = _scenarios(situation, past, inputs.prices, phase) if is_known and options.forecast else None
    begun = Situation(found.begun, past.state, inputs.policy) if found and found.begun else situation
    if is_known and options.with_potential:
        phase("potential")
        most = potential(begun, inputs.prices, found.reached if found else NOTHING_REACHED)
        notes = (*notes, BEYOND)
    else:
        most = None
    if found:
        notes = _with_places(notes, inputs.snapshot.pending, begun.snapshot.pending)
    view = view_of(plan, most, notes, inputs.partial)
    priced, rules = priced_nodes(inputs.snapshot, inputs.prices), pool_rules(inputs.snapshot)
    rest, later = (found.left, found.later) if found else (None, ())
    committed = committed_of(situation, inputs.prices, rest, later)
    view = replace(view, prices=inputs.prices, priced=priced, autoscaler=rules, committed=committed)
    return with_scenarios(view, found, whose, pools_known=inputs.snapshot.pools_known) if found else view


def _with_places(notes: Sequence[str], pending: Sequence[Pod], left: Sequence[Pod]) -> tuple[str, ...]:
    """Return the notes; that on pending pods names those that have no place now."""
    found, known = (f"{WARNING}{note}" for note in (pending_note(pending), pending_note(pending, left)))
    return tuple(known if note == found else note for note in notes)


def _scenarios(situation: Situation, past: PastPasses, prices: Prices, phase: Callable[[str], None]) -> Scenarios:
    def relaxing(done: int, of_all: int) -> None:
        phase(f"relaxations, {done} of {of_all}")

    phase("forecast")
    return scenarios_of(situation, past.marks or {}, prices, assume_marked=past.assumed, progress=relaxing)
