"""The plan as a page, on a terminal and as markdown: scenarios, this pass, pools, reasons, notes."""

from collections.abc import Iterator, Sequence
from typing import Final

from functions.cli.output.answers import Facts, Heading, Lines, PagePart, first_notes, last_notes
from functions.cli.output.format import hourly, moment, monthly
from functions.cli.output.tables import BOLD, DIM
from functions.cli.output.terminal import IN_A_FILE
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

NO_MATCH: Final = "No node matches these options."
PARTIAL: Final = "Partial, every figure below: the nodes hold more pods than the dump has."
HINT: Final = "More: ebb plan -o wide, ebb explain NODE, ebb why-not (what to change), with the same options."
_FIRST: Final = 4
_OBJECTS: Final = 3
_OWNERS: Final = 10


def parts(view: PlanView, request: AskedNodes, width: int) -> Iterator[PagePart]:
    """Yield the plan; all notes come first if it is partial or of no nodes."""
    all_first = bool(view.partial) or not view.nodes
    yield from first_notes(view.notes, all_first=all_first)
    if view.scenarios:
        yield scenario_table(view.scenarios.rows, width)
        if view.scenarios.question:
            yield Lines((view.scenarios.question,), "yellow")
    yield Facts(tuple(_head(view)))
    if view.open_points:
        yield Lines(tuple(view.open_points))
    if view.nodes:
        yield from _nodes(view, request, width)
        yield from last_notes(() if all_first else view.notes)
        if not request.lists_nodes:
            yield Lines((HINT,), DIM)
        yield Lines((view.summary,), BOLD)


def _nodes(view: PlanView, request: AskedNodes, width: int) -> Iterator[PagePart]:
    """Yield the pools, then why nodes stay: in full to a file, and where nodes are listed, with all kinds of words."""
    in_full = request.lists_nodes or width == IN_A_FILE
    if view.partial:
        yield PARTIAL
    yield pool_table(view, width)
    if request.lists_nodes:
        yield from _listed(list_nodes(view, request), width)
    yield from held(view.legend, tuple(WordKind) if request.lists_nodes else HOLDING, in_full=in_full)
    if in_full and any(entry.kind in HOLDING and entry.cost for entry in view.legend):
        yield Lines((HOLDS,), DIM)
    if request.owners and view.blocked and view.blocked.rows:
        yield Heading(OWNERS.format(by=view.blocked.by))
        yield blocked_table(view.blocked, None if width == IN_A_FILE else _OWNERS)


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


def _listed(given: Shown, width: int) -> Iterator[PagePart]:
    if not given.nodes:
        yield Lines(("", NO_MATCH))
        return
    yield node_table(given, width)
    if given.more:
        yield Lines(("", f"… and {given.more:,} more: leave out --top to list all."))


def held(entries: tuple[LegendEntry, ...], kinds: Sequence[WordKind] = HOLDING, *, in_full: bool) -> Iterator[PagePart]:
    """Yield the reasons of each kind with what they are about: the first ones with one object, or all with more."""
    most, objects = (len(entries), _OBJECTS) if in_full else (_FIRST, 1)
    for kind in kinds:
        table = held_table(entries, kind, most, objects)
        if table:
            yield Heading(HEADINGS[kind])
            yield table
