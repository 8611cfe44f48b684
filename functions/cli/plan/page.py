"""The plan as a page, on a terminal and as markdown: scenarios, this pass, pools, reasons, notes."""

from collections.abc import Iterable, Iterator
from typing import Final

from rich.console import Console

from functions.cli.analysis.blocked import BlockedBy
from functions.cli.output.answers import show_notes, show_odd, show_rests_on
from functions.cli.output.documents import text
from functions.cli.output.format import hourly, moment, monthly
from functions.cli.output.tables import Table, as_markdown, draw
from functions.cli.output.terminal import IN_A_FILE, facts
from functions.cli.plan import sentences
from functions.cli.plan.sentences import HOLDING, LegendEntry, WordKind
from functions.cli.plan.tables import (
    HEADINGS,
    HOLDS,
    OWNERS,
    blocked_table,
    held_table,
    node_table,
    pool_table,
    scenario_table,
)
from functions.cli.plan.view import AskedNodes, PlanView, Shown, list_nodes

SUM: Final = AskedNodes()
NO_MATCH: Final = "No node matches these options."
PARTIAL: Final = "Partial, every figure below: the nodes hold more pods than the dump has."
HINT: Final = "More: ebb plan -o wide, ebb explain NODE, ebb why-not (what to change), with the same options."
_FIRST: Final = 4
_OBJECTS: Final = 3
_OWNERS: Final = 10


def show(console: Console, view: PlanView, request: AskedNodes = SUM) -> None:
    """Print the plan: the first reasons and objects of each kind, or all where nodes are listed."""
    _begin(console, view)
    if not view.nodes:
        return
    draw(console, pool_table(view, console.width))
    if request.lists_nodes:
        console.print()
        _show_nodes(console, list_nodes(view, request))
        show_held(console, view.legend, tuple(WordKind), len(view.legend), _OBJECTS)
        if _holds_money(view.legend):
            console.print(HOLDS, style="dim")
    else:
        show_held(console, view.legend)
    if request.owners and view.blocked and view.blocked.rows:
        show_owners(console, view.blocked)
    console.print()
    if not view.partial:
        show_rests_on(console, view.notes)
    if not request.lists_nodes:
        console.print(HINT, style="dim")
    console.print(view.summary)


def show_owners(console: Console, blocked: BlockedBy) -> None:
    console.print(f"\n{OWNERS.format(by=blocked.by)}", style="bold")
    draw(console, blocked_table(blocked, _OWNERS if console.is_terminal else None))


def _begin(console: Console, view: PlanView) -> None:
    """Print what comes before the pools: warnings and scenarios; all notes if the plan is partial or empty."""
    if view.partial or not view.nodes:
        show_notes(console, view.notes)
    else:
        show_odd(console, view.notes)
    if view.scenarios:
        draw(console, scenario_table(view.scenarios.rows, console.width))
        if view.scenarios.question:
            console.print(view.scenarios.question, style="yellow")
        console.print()
    console.print(facts(_head(view), "bold"))
    for note in view.open_points:
        console.print(note)
    if view.nodes:
        console.print()
        if view.partial:
            console.print(PARTIAL, style="yellow")


def _head(view: PlanView) -> Iterator[tuple[str, str]]:
    plan = view.plan
    yield "Cluster", f"{plan.cluster or 'unknown'}, {moment(plan.taken_at)}"
    hour = f"{hourly(plan.cost)} an hour{', at list prices' if view.committed else ''}"
    paid = f" for {monthly(plan.cost)} a month ({hour})" if plan.cost else ""
    yield f"Nodes{view.mark}", f"{sentences.nodes_and_pods(plan)}{paid}"
    yield f"This pass{view.mark}", view.saving
    if view.scenarios and view.scenarios.steady:
        yield "Steady state", view.scenarios.steady
    if view.potential_saving:
        yield f"Potential{view.mark}", view.potential_saving


def _show_nodes(console: Console, given: Shown) -> None:
    if not given.nodes:
        console.print(NO_MATCH)
        return
    draw(console, node_table(given, console.width if console.is_terminal else IN_A_FILE))
    if given.more:
        console.print(f"\n… and {given.more:,} more: leave out --top to list all.")


def show_held(
    console: Console,
    entries: tuple[LegendEntry, ...],
    kinds: tuple[WordKind, ...] = HOLDING,
    most: int = _FIRST,
    objects: int = 1,
) -> None:
    """Print the first reasons of each kind, with the first objects that each is about; to a file all reasons."""
    for heading, table in _held_tables(entries, kinds, most if console.is_terminal else len(entries), objects):
        console.print(f"\n{heading}", style="bold")
        draw(console, table)


def held_markdown(entries: tuple[LegendEntry, ...]) -> Iterator[str]:
    for heading, table in _held_tables(entries, HOLDING, len(entries), _OBJECTS):
        yield f"## {heading}\n\n{as_markdown(table)}"
    if _holds_money(entries):
        yield text(HOLDS)


def _held_tables(
    entries: tuple[LegendEntry, ...], kinds: tuple[WordKind, ...], most: int, objects: int
) -> Iterator[tuple[str, Table]]:
    for kind in kinds:
        table = held_table(entries, kind, most, objects)
        if table:
            yield HEADINGS[kind], table


def _holds_money(entries: Iterable[LegendEntry]) -> bool:
    return any(entry.kind in HOLDING and entry.cost for entry in entries)


def plan_as_markdown(view: PlanView, request: AskedNodes) -> str:
    parts = [*_headline(view), as_markdown(pool_table(view, IN_A_FILE))]
    if request.lists_nodes:
        listed = list_nodes(view, request)
        parts.append(as_markdown(node_table(listed, IN_A_FILE)) if listed.nodes else NO_MATCH)
    parts += held_markdown(view.legend)
    if request.owners and view.blocked and view.blocked.rows:
        parts += (f"## {text(OWNERS.format(by=view.blocked.by))}", as_markdown(blocked_table(view.blocked)))
    return "\n\n".join((*parts, *(f"> {text(note)}" for note in view.notes)))


def _headline(view: PlanView) -> Iterator[str]:
    plan, listed = view.plan, " at list prices" if view.committed else ""
    yield f"# {text(plan.cluster or 'Cluster')}, {moment(plan.taken_at)}"
    paid = f", {monthly(plan.cost)} a month{listed}" if plan.cost else ""
    yield f"{sentences.nodes_and_pods(plan)}{paid}{view.mark}."
    yield f"**{text(view.summary)}**"
    if view.potential_saving:
        yield f"Potential: {view.potential_saving}."
    if view.scenarios:
        yield as_markdown(scenario_table(view.scenarios.rows, IN_A_FILE))
        if view.scenarios.sentences:
            yield text(" ".join(view.scenarios.sentences))
    elif view.open_points:
        yield text(" ".join(view.open_points))
