"""One node in sentences: its verdict, all that stands in its way with what to do, its pods and where they would land.

Must not judge the node again: all of it stands in the view and in the explanation.
"""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.explain import place_table
from functions.cli.explain.blockers import blockers
from functions.cli.explain.grid import facts
from functions.cli.explain.place_table import NONE, kept_by, place_of
from functions.cli.explain.usage import used
from functions.cli.format import count, moment, monthly, percent
from functions.cli.plan.node_table import STYLES
from functions.cli.plan.sentences import length
from functions.cli.plan.view import NodeView, PlanView
from functions.cli.remedies import REMEDIES
from shared.core.cluster.resources import Resources
from shared.core.planning.explanation import NodeExplanation
from shared.core.planning.plan import NodeDecision, Verdict
from shared.core.rules.openings import Closed


def show(
    console: Console, view: PlanView, name: str, known: NodeExplanation, measured: Resources | None = None
) -> None:
    """Print one node's verdict, its blockers with remedies, the gates that are closed now, and its pods."""
    node = view.node(name)
    console.print(node.name, style="bold")
    console.print(_facts(view, node, known, measured))
    if node.blockers:
        console.print("\nWhat keeps it; the first names the verdict:")
        console.print(blockers(node.blockers))
    if known.closed:
        console.print("\nClosed for it now, whatever else is true of it:")
        console.print(_closed(known.closed))
    console.print()
    _pods(console, view, known)


def _facts(view: PlanView, node: NodeView, known: NodeExplanation, measured: Resources | None) -> Table:
    grid, decision = facts(), node.decision
    grid.add_row("pool", ", ".join(filter(None, (decision.pool or "none", known.node.machine, known.node.zone))))
    grid.add_row("costs", f"{monthly(decision.cost)} a month{', spot' if known.node.spot else ''}")
    grid.add_row("requests", _requests(decision))
    if measured is not None:
        grid.add_row("uses", f"{used(measured, known.node.allocatable)} (informs only)")
    verdict = ": ".join(part for part in (node.verdict, decision.reason, node.sentence) if part)
    grid.add_row("verdict", Text(verdict, style=STYLES[decision.verdict]))
    for word, text in _times(decision, known):
        grid.add_row(word, text)
    grid.add_row("seen at", f"{moment(view.taken_at)} in {view.cluster or 'the cluster'}")
    return grid


def _requests(decision: NodeDecision) -> str:
    said = f"cpu {percent(decision.cpu_ratio)}, memory {percent(decision.memory_ratio)}"
    moving = f"to be moved: cpu {percent(decision.movable_cpu_ratio)}, memory {percent(decision.movable_memory_ratio)}"
    busy = decision.accelerator_ratio
    return f"{said if busy is None else f'{said}, accelerators {percent(busy)}'} ({moving})"


def _times(decision: NodeDecision, known: NodeExplanation) -> Sequence[tuple[str, str]]:
    found = []
    if decision.marked_since is not None:
        found.append(("marked since", moment(decision.marked_since)))
    if decision.verdict is Verdict.WAITING and known.ripe is not None:
        found.append(("removable at", moment(known.ripe)))
    if known.takes.rounds:
        found.append(("drain", length(known.takes)))
    return found


def _closed(found: Sequence[Closed]) -> Table:
    table = facts()
    for each in found:
        reason = each.blocker.reason
        about = ", ".join(filter(None, (each.blocker.object, each.blocker.detail, each.which)))
        until = f"until {moment(each.until)}" if each.until else "no clock says until when"
        table.add_row(Text(reason.value, style="bold"), f"{reason.sentence} {f'({about}) ' if about else ''}{until}")
        table.add_row("", REMEDIES[reason])
    return table


def _staying(pods: int) -> str:
    return f"{count(pods, 'pod')} of DaemonSets and the like {'goes' if pods == 1 else 'go'}"


def _pods(console: Console, view: PlanView, known: NodeExplanation) -> None:
    staying = f"; {_staying(known.staying)} with the node" if known.staying else ""
    if not known.pods:
        console.print(f"No pod would have to move{staying}.")
        return
    would = "and where each would land" if known.decision.verdict is not Verdict.IN_FLIGHT else "and its place"
    console.print(f"Its {count(len(known.pods), 'pod')}, {would}{staying}:")
    titles = ("pod", "goes to", "or else to", "kept by")
    rows = [(each.pod.key, place_of(each), each.landing.runner_up or NONE, kept_by(each)) for each in known.pods]
    place_table.show(console, titles, rows, (1, 2), {each.name: each.decision.pool for each in view.nodes})
    if known.refusal:
        console.print(f"They do not all fit at once under every placement order: {known.refusal}.")
    elif known.decision.verdict is not Verdict.IN_FLIGHT:
        console.print("They all fit at once, however the scheduler orders them (as far as Ebb tries).")
