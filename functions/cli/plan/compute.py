"""`ebb plan`: gathers the input, makes plan and forecast, prints them; for several clusters a sum, too."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final

import typer

from functions.cli.analysis.blocked import NAMESPACE, blocked_nodes
from functions.cli.analysis.forecast.scenarios import Scenarios, committed_of, scenarios_of
from functions.cli.analysis.forecast.steady_state import find_steady_state
from functions.cli.analysis.pools import pool_rules
from functions.cli.input.inputs import Inputs, PastPasses, gather_each, recall_passes
from functions.cli.input.missing_data import pending_note
from functions.cli.input.options import PlanFormat, Sources
from functions.cli.input.pricing import priced_nodes
from functions.cli.output.answers import Heading, PagePart, print_notes, print_pages
from functions.cli.output.format import WARNING, count
from functions.cli.output.progress import reading_line
from functions.cli.plan.page import parts
from functions.cli.plan.scenarios import DEFAULTS, POLICY
from functions.cli.plan.sentences import autoscaler_note, outside_note, steer_note, surge_note, wave_note
from functions.cli.plan.tables import OWNER_COLUMNS, csv_text, owner_rows
from functions.cli.plan.view import AskedNodes, PlanView, check_pools, view_of, with_scenarios
from shared.adapters.process import no_search_for_cycles
from shared.core.cluster.pod import Pod
from shared.core.placement.packing import NOTHING_REACHED
from shared.core.planning.make_plan import make_plan
from shared.core.planning.prices import Prices
from shared.core.planning.waves import remaining_nodes
from shared.core.rules.situation import Situation

BEYOND: Final = (
    "The potential ignores the policy: pools that are not enabled and nodes above the ratio limits count, and timers, "
    "windows, budgets, counts, headroom and running Jobs do not. What the policy saves is in the table of scenarios."
)


@dataclass(frozen=True, slots=True)
class PlanOptions:
    with_potential: bool = False
    assume_marked: bool = False
    forecast: bool = True
    by: str = ""
    """What the owners are who keep nodes; empty: namespaces, and only where tools read it."""


def show_plan(sources: Sources, output: PlanFormat, request: AskedNodes, options: PlanOptions) -> None:
    """Print the plan of each cluster: for people with its notes, for tools with the notes on stderr."""
    found = gather_each(sources)
    views = [timed_view(inputs, options) for inputs in found]
    check_pools(views, request.pools)
    notes = [note for view in views for note in view.notes]
    if output is PlanFormat.CSV:
        print_notes(notes)
        rows = chain.from_iterable(owner_rows(view.plan.cluster, view.blocked) for view in views if view.blocked)
        typer.echo(csv_text(OWNER_COLUMNS, rows))
    else:
        title = views[0].plan.cluster if len(views) == 1 else ""  # Of several, each page has its own.
        print_pages(output, partial(_pages, views, request), partial(_document, views, request), notes, title)


def _pages(views: Sequence[PlanView], request: AskedNodes, width: int) -> Iterator[Iterator[PagePart]]:
    if len(views) == 1:
        yield parts(views[0], request, width)
        return
    from functions.cli.plan import totals

    for view in views:
        yield chain((Heading(view.plan.cluster, 1),), parts(view, request, width))
    yield totals.parts(views)


def _document(views: Sequence[PlanView], request: AskedNodes) -> dict[str, Any]:
    from functions.cli.plan import as_json, totals

    return totals.document([as_json.document(view, request) for view in views], views)


def timed_view(inputs: Inputs, options: PlanOptions) -> PlanView:
    what = f"{inputs.snapshot.cluster}, {count(len(inputs.snapshot.nodes), 'node')}"
    with reading_line(what, doing="Planning") as phase, no_search_for_cycles():
        return plan_cluster(inputs, options, phase)


def plan_cluster(inputs: Inputs, options: PlanOptions, phase: Callable[[str], None] = lambda _: None) -> PlanView:
    """Return the plan of one cluster; `phase` is called with each phase that begins."""
    past = recall_passes(inputs, assume_marked=options.assume_marked)
    situation = Situation(inputs.snapshot, past.state, inputs.policy)
    phase("this pass")
    plan = make_plan(situation, past.marks, inputs.prices, wave=remaining_nodes(past.wave, situation))
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
        from functions.cli.analysis.potential import potential

        phase("potential")
        most = potential(begun, inputs.prices, found.reached if found else NOTHING_REACHED)
        notes = (*notes, BEYOND)
    else:
        most = None
    if found:
        notes = _with_places(notes, inputs.snapshot.pending, begun.snapshot.pending)
    view = view_of(plan, most, notes, inputs.partial, POLICY if inputs.own_policy else DEFAULTS)
    priced, rules = priced_nodes(inputs.snapshot, inputs.prices), pool_rules(inputs.snapshot)
    blocked = blocked_nodes(plan, inputs.snapshot, options.by or NAMESPACE) if is_known else None
    rest, later = (found.left, found.later) if found else (None, ())
    committed = committed_of(situation, inputs.prices, rest, later)
    view = replace(view, prices=inputs.prices, priced=priced, autoscaler=rules, blocked=blocked, committed=committed)
    return with_scenarios(view, found, pools_known=inputs.snapshot.pools_known) if found else view


def _with_places(notes: Sequence[str], pending: Sequence[Pod], left: Sequence[Pod]) -> tuple[str, ...]:
    """Return the notes; that on pending pods names those that have no place now."""
    found, known = (f"{WARNING}{note}" for note in (pending_note(pending), pending_note(pending, left)))
    return tuple(known if note == found else note for note in notes)


def _scenarios(situation: Situation, past: PastPasses, prices: Prices, phase: Callable[[str], None]) -> Scenarios:
    def relaxing(done: int, of_all: int) -> None:
        phase(f"relaxations, {done} of {of_all}")

    phase("forecast")
    base = find_steady_state(situation, past.marks or {}, prices, assume_marked=past.assumed)
    return scenarios_of(base, relaxing)
