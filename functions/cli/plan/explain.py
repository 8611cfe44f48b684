"""One node in sentences: its verdict, everything that stands in its way, and what a person can do about it.

Must not judge the node again: all of it stands in the view.
"""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.format import count, moment, monthly, percent
from functions.cli.plan.node_table import STYLES
from functions.cli.plan.sentences import length
from functions.cli.plan.table import show_notes
from functions.cli.plan.view import NodeView, PlanView
from shared.core.planning.plan import NodeDecision, PlannedOrder, Verdict


def show(console: Console, view: PlanView, name: str) -> None:
    """Print one node's verdict, its blockers with remedies, and where its pods would go.

    Raises:
        BadInput: no node, or more than one, is meant.
    """
    node = view.node(name)
    show_notes(console, view.notes)
    console.print(node.name, style="bold")
    console.print(_facts(view, node))
    console.print()
    if node.blockers:
        console.print(f"{count(len(node.blockers), 'thing')} in the way, the first names the verdict:")
        console.print(_blockers(node))
    if node.order is not None:
        console.print(_moves(node.order))


def _requests(decision: NodeDecision) -> str:
    said = f"cpu {percent(decision.cpu_ratio)}, memory {percent(decision.memory_ratio)}"
    busy = decision.accelerator_ratio
    return said if busy is None else f"{said}, accelerators {percent(busy)}"


def _facts(view: PlanView, node: NodeView) -> Table:
    facts, decision = _grid(), node.decision
    facts.add_row("pool", decision.pool or "none")
    facts.add_row("requests", _requests(decision))
    verdict = ": ".join(part for part in (node.verdict, decision.reason, node.sentence) if part)
    facts.add_row("verdict", Text(verdict, style=STYLES[decision.verdict]))
    if decision.marked_since is not None:
        facts.add_row("marked since", moment(decision.marked_since))
    if decision.verdict is Verdict.WAITING and decision.removable_at is not None:
        facts.add_row("removable at", moment(decision.removable_at))
    if decision.drain is not None and decision.drain.rounds:
        facts.add_row("drain", length(decision.drain))
    facts.add_row("seen at", f"{moment(view.taken_at)} in {view.cluster or 'the cluster'}")
    return facts


def _blockers(node: NodeView) -> Table:
    table = _grid()
    for number, blocker in enumerate(node.blockers, start=1):
        about = " ".join(part for part in (blocker.object, blocker.detail) if part)
        table.add_row(f"{number}.", Text(blocker.reason, style="bold"))
        theirs = f"The cluster autoscaler calls it {blocker.message_id}." if blocker.message_id else ""
        for line in (about, blocker.sentence, theirs, blocker.remedy):
            if line:
                table.add_row("", line)
    return table


def _moves(order: PlannedOrder) -> Table:
    table = _grid()
    table.title = f"Its {count(len(order.moves), 'pod')} would find a place; {monthly(order.saving)} a month saved."
    table.title_justify = "left"
    table.title_style = ""
    for move in order.moves:
        table.add_row(move.pod, f"→ {move.node}")
    return table


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    return grid
