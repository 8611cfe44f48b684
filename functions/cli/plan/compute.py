"""`ebb plan`: gathers the input, makes plan and forecast, prints them; for several clusters a sum, too."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import typer
from rich.console import Console

from functions.cli.analysis.forecast.ladder import Ladder, LadderStep, ladder
from functions.cli.analysis.pools import pool_rules
from functions.cli.analysis.potential import potential
from functions.cli.input.inputs import NO_MARKS, WARNING, Inputs, gather_each, remembered
from functions.cli.input.missing_data import no_place_note
from functions.cli.input.options import Format, Sources
from functions.cli.input.pricing import priced_nodes
from functions.cli.output.documents import print_document, text
from functions.cli.output.format import count, dollars_a_month, monthly, whole_money
from functions.cli.output.progress import reading_line
from functions.cli.output.tables import BOLD, Column, Table, as_markdown, draw
from functions.cli.output.terminal import printing
from functions.cli.plan import as_json, openmetrics, page
from functions.cli.plan.ladder import DEFAULTS, POLICY, LadderMoney, headline, rungs
from functions.cli.plan.sentences import autoscaler_note, outside_note, steer_note, surge_note, wave_note
from functions.cli.plan.view import AskedNodes, PlanView, check_pools, view_of, with_ladder
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
                page.show(console, view, asked)
                end_of_report(console, views)
            show_total(console, views, whose)
    elif output is Format.MARKDOWN:
        typer.echo("\n\n".join((*(page.markdown(view, asked) for view in views), *fleet_markdown(views, whose))))
    elif output is Format.OPENMETRICS:
        typer.echo(openmetrics.page(views))
    else:
        notes = tuple(dict.fromkeys(note for view in views for note in view.notes))
        documents = [as_json.document(view, asked) for view in views]
        print_document(document(documents, views), output, notes)


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
        *wave_note(plan),
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


SCHEMA: Final = 1
PARTIAL: Final = "Partial: "
UNKNOWN: Final = "unknown"
_LINE: Final = 72
_SUMS: Final = ("nodes", "pods", "pending_pods", "orders", "cost_per_hour", "saving_per_hour", "saving_per_month")


def document(documents: Sequence[dict[str, Any]], views: Sequence[PlanView]) -> dict[str, Any]:
    """Return the plan's JSON of one cluster as it is, or that of several with their sum."""
    if len(documents) == 1:
        return documents[0]
    return {"schema": SCHEMA, "clusters": list(documents), **sums(documents, views)}


def sums(documents: Sequence[dict[str, Any]], views: Sequence[PlanView]) -> dict[str, Any]:
    """Return `ladder` and `totals` of several plans together."""
    totals: dict[str, Any] = {name: _sum(name, [each["totals"] for each in documents]) for name in _SUMS}
    ladder = summed(views)
    return {"ladder": rungs(ladder) if ladder else [], "totals": {"clusters": len(documents), **totals}}


def end_of_report(console: Console, views: Sequence[PlanView]) -> None:
    """Draw a line below the report of one of several clusters."""
    if len(views) > 1:
        console.print()
        console.print("-" * min(console.width, _LINE), style="dim")
        console.print()


def show_total(console: Console, views: Sequence[PlanView], whose: str) -> None:
    """Print a row a cluster and their sum, and in the end what it comes to; of one cluster its report has it."""
    if len(views) > 1:
        draw(console, _table(views))
        console.print()
        console.print(whole_headline(views, whose))


def fleet_markdown(views: Sequence[PlanView], whose: str) -> tuple[str, ...]:
    """Return the sum of several clusters as a table of markdown and a sentence; of one cluster nothing."""
    if len(views) == 1:
        return ()
    return as_markdown(_table(views)), f"**{text(whole_headline(views, whose))}**"


def ladders_of(views: Sequence[PlanView]) -> tuple[Ladder, ...]:
    return tuple(view.ladder.ladder for view in views if view.ladder)


def money_of(views: Sequence[PlanView]) -> LadderMoney | None:
    """Return the money of `summed`: each month is the sum of what is printed of the clusters."""
    whole = summed(views)
    return LadderMoney(whole, ladders_of(views)) if whole else None


def month_now(views: Sequence[PlanView]) -> str:
    """Return what all of them cost now, those without a ladder too, as the sum of what is printed of each."""
    return _column([view.totals.cost for view in views])[-1]


def summed(views: Sequence[PlanView]) -> Ladder | None:
    """Return the sum of the ladders; None where no cluster has one."""
    ladders = ladders_of(views)
    if not ladders:
        return None
    return Ladder(
        now=_step([each.now for each in ladders]),
        alone=_step([each.alone for each in ladders]),
        at_rest=_step([each.at_rest for each in ladders]),
        relaxed=(),
        bound=_step([each.bound for each in ladders]),
        by=max((each.by for each in ladders if each.by), default=None),
        held_up={},
        never={},
        untried=any(each.untried for each in ladders),
    )


def _step(steps: Sequence[LadderStep]) -> LadderStep:
    sums = {name: sum(getattr(each, name) for each in steps) for name in ("nodes", "cost", "evictions", "gone")}
    return replace(steps[0], **sums)


def whole_headline(views: Sequence[PlanView], whose: str) -> str:
    ladder, whole = summed(views), [view for view in views if view.ladder]
    if ladder is None:
        return f"{PARTIAL}of no cluster it is known what could go."
    told = headline(ladder, whose, max(view.taken_at for view in whole), ladders_of(views))
    return told if len(whole) == len(views) else f"{PARTIAL}of {len(whole)} of {len(views)} clusters: {told}"


def _table(views: Sequence[PlanView]) -> Table:
    titles, *rows = _rows(views)
    columns = [Column(title, right=number > 0) for number, title in enumerate(titles)]
    return Table.of(columns, rows, styles=(*[""] * len(views), BOLD))


def _rows(views: Sequence[PlanView]) -> tuple[tuple[str, ...], ...]:
    """Return the titles, a row a cluster, and their sum; money is by the month."""
    most = any(view.potential for view in views)
    titles = (f"{len(views)} clusters", "nodes", "now", "autoscaler alone", "at rest", "bound")
    marked = next((view.mark for view in views if view.partial), "")
    names = (*(f"{view.cluster}{view.mark}" for view in views), f"all{marked}")
    nodes = (*(f"{view.totals.nodes:,}" for view in views), f"{sum(view.totals.nodes for view in views):,}")
    columns = [names, nodes, _column([view.totals.cost for view in views]), *_rungs(views)]
    if most:
        columns.append(_column([view.potential.saving if view.potential else None for view in views]))
    return ((*titles, *(("potential",) if most else ())), *zip(*columns, strict=True))


def _rungs(views: Sequence[PlanView]) -> Iterator[tuple[str, ...]]:
    """Yield a column for each rung: of each cluster what its own report says, and the sum of that."""
    whole, money = summed(views), money_of(views)
    for rung in ("alone", "at_rest", "bound"):
        total = money.month(getattr(whole, rung)) if money else UNKNOWN
        yield (*(_rung(view, rung) for view in views), total)


def _rung(view: PlanView, rung: str) -> str:
    money = money_of([view])
    return money.month(getattr(summed([view]), rung)) if money else UNKNOWN


def _column(amounts: Sequence[int | None]) -> tuple[str, ...]:
    """Return what is printed of each cluster, as in its own report, and of all: the sum of what is printed."""
    known = [each for each in amounts if each is not None]
    if not known:
        return (UNKNOWN,) * (len(amounts) + 1)
    total = whole_money(sum(round(dollars_a_month(each)) for each in known), of=sum(known))
    return (*(UNKNOWN if each is None else monthly(each) for each in amounts), total)


def _sum(name: str, totals: Sequence[dict[str, Any]]) -> int | float:
    found = sum(each[name] for each in totals)
    return round(found, 4) if isinstance(found, float) else found
