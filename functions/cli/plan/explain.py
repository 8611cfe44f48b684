"""One node in sentences: its verdict, everything that stands in its way, and what a person can do about it.

Must not judge the node again: all of it stands in the plan.
"""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.format import count, moment, monthly, percent, some
from functions.cli.plan.legend import sentence_of
from functions.cli.plan.table import STYLES, show_notes
from functions.cli.plan.view import TITLES
from functions.cli.remedies import REMEDIES
from shared.core.planning.plan import NodeDecision, Plan, PlannedOrder, Verdict
from shared.errors import BadInput


def find(plan: Plan, name: str) -> NodeDecision:
    """Return the decision of a node, by its name or by an end of it that no other node shares.

    Raises:
        BadInput: no node, or more than one, is meant.
    """
    exact = plan.of(name)
    if exact is not None:
        return exact
    found = [each for each in plan.decisions if each.name.endswith(name)]
    if len(found) > 1:
        raise BadInput(f"NODE: {name!r} is the end of {some([each.name for each in found])}; write the whole name.")
    if not found:
        raise BadInput(f"NODE: no node {name!r} among the {len(plan.decisions):,} of the cluster; see ebb plan.")
    return found[0]


def show(console: Console, plan: Plan, decision: NodeDecision, notes: Sequence[str]) -> None:
    """Print one node's verdict, its blockers with remedies, and where its pods would go."""
    show_notes(console, notes)
    console.print(decision.name, style="bold")
    console.print(_facts(plan, decision))
    console.print()
    if decision.blockers:
        console.print(f"{count(len(decision.blockers), 'thing')} in the way, the first names the verdict:")
        console.print(_blockers(decision))
    order = next((each for each in plan.orders if each.node == decision.name), None)
    if order is not None:
        console.print(_moves(order))


def _requests(decision: NodeDecision) -> str:
    said = f"cpu {percent(decision.cpu_ratio)}, memory {percent(decision.memory_ratio)}"
    busy = decision.accelerator_ratio
    return said if busy is None else f"{said}, accelerators {percent(busy)}"


def _facts(plan: Plan, decision: NodeDecision) -> Table:
    facts = _grid()
    facts.add_row("pool", decision.pool or "none")
    facts.add_row("requests", _requests(decision))
    facts.add_row("verdict", Text(_verdict(decision), style=STYLES[decision.verdict]))
    if decision.marked_since is not None:
        facts.add_row("marked since", moment(decision.marked_since))
    if decision.verdict is Verdict.WAITING and decision.removable_at is not None:
        facts.add_row("removable at", moment(decision.removable_at))
    facts.add_row("seen at", f"{moment(plan.taken_at)} in {plan.cluster or 'the cluster'}")
    return facts


def _verdict(decision: NodeDecision) -> str:
    reasons = {blocker.reason.value: blocker.reason for blocker in decision.blockers}
    said = (TITLES[decision.verdict], decision.reason, sentence_of(decision.reason, reasons))
    return ": ".join(part for part in said if part)


def _blockers(decision: NodeDecision) -> Table:
    table = _grid()
    for number, blocker in enumerate(decision.blockers, start=1):
        about = " ".join(part for part in (blocker.object, blocker.detail) if part)
        table.add_row(f"{number}.", Text(blocker.reason.value, style="bold"))
        for line in (about, blocker.reason.sentence, REMEDIES.get(blocker.reason, "")):
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
