"""The page of a node: its verdict, each blocker with its remedy, its pods and the nodes that could take them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.analysis.explanation import NodeExplanation
from functions.cli.analysis.openings import Closed
from functions.cli.explain import parts
from functions.cli.explain.parts import NONE, Fact, blockers, facts, kept_by, place_of
from functions.cli.explain.usage import used
from functions.cli.output.format import count, moment, monthly, percent
from functions.cli.plan.nodes import STYLES
from functions.cli.plan.sentences import length
from functions.cli.plan.view import NodeView, PlanView
from shared.core.cluster.resources import Resources
from shared.core.planning.plan import NodeDecision, Verdict

KEPT: Final = "What keeps it; the first names the verdict:"
CLOSED: Final = "Closed for it now, whatever else is true of it:"
PODS: Final = ("pod", "goes to", "or else to", "kept by")


def show(
    console: Console, view: PlanView, name: str, known: NodeExplanation, measured: Resources | None = None
) -> None:
    """Print one node's verdict, its blockers with remedies, the gates that are closed now, and its pods."""
    node = view.node(name)
    console.print(node.name, style="bold")
    console.print(facts(facts_of(view, node, known, measured)))
    if node.blockers:
        console.print(f"\n{KEPT}")
        console.print(blockers(node.blockers))
    if known.closed:
        console.print(f"\n{CLOSED}")
        console.print(_closed(known.closed))
    console.print()
    _pods(console, view, known)


def facts_of(view: PlanView, node: NodeView, known: NodeExplanation, measured: Resources | None) -> Iterator[Fact]:
    """Yield what is known of the node itself, and its verdict."""
    decision = node.decision
    yield "pool", ", ".join(filter(None, (decision.pool or "none", known.node.machine, known.node.zone)))
    yield "costs", f"{monthly(decision.cost)} a month{', spot' if known.node.spot else ''}"
    yield "requests", _requests(decision)
    if measured is not None:
        yield "uses", f"{used(measured, known.node.allocatable)} (informs only)"
    verdict = ": ".join(part for part in (node.verdict, decision.reason, node.sentence) if part)
    yield "verdict", Text(verdict, style=STYLES[decision.verdict])
    yield from _times(decision, known)
    restarts = sorted({each.restarts for each in known.pods if each.restarts})
    if restarts:
        yield "restarts", f"{', '.join(restarts)}, so that single replicas leave without a gap"
    yield "seen at", f"{moment(view.taken_at)} in {view.cluster or 'the cluster'}"


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


def closed_of(found: Iterable[Closed]) -> Iterator[tuple[str, str, str]]:
    """Yield each gate's word, what it means with until when, and what can be done."""
    for each in found:
        reason = each.blocker.reason
        about = ", ".join(filter(None, (each.blocker.object, each.blocker.detail, each.which)))
        until = f"until {moment(each.until)}" if each.until else "no clock says until when"
        yield reason.value, f"{reason.sentence} {f'({about}) ' if about else ''}{until}", reason.remedy


def _closed(found: Sequence[Closed]) -> Table:
    table = facts()
    for word, meaning, remedy in closed_of(found):
        table.add_row(Text(word, style="bold"), meaning)
        table.add_row("", remedy)
    return table


def _staying(pods: int) -> str:
    return f"{count(pods, 'pod')} of DaemonSets and the like {'goes' if pods == 1 else 'go'}"


def _pods(console: Console, view: PlanView, known: NodeExplanation) -> None:
    console.print(pods_title(known))
    if known.pods:
        pools = {each.name: each.decision.pool for each in view.nodes}
        parts.show(console, PODS, pod_cells(known), (1, 2), pools)
        for line in fitting(known):
            console.print(line)


def pods_title(known: NodeExplanation) -> str:
    staying = f"; {_staying(known.staying)} with the node" if known.staying else ""
    if not known.pods:
        return f"No pod would have to move{staying}."
    would = "and where each would land" if known.decision.verdict is not Verdict.IN_FLIGHT else "and its place"
    return f"Its {count(len(known.pods), 'pod')}, {would}{staying}:"


def pod_cells(known: NodeExplanation) -> list[parts.Cells]:
    """Return a row for each pod that would have to move, under the titles `PODS`."""
    return [(each.pod.key, place_of(each), each.landing.runner_up or NONE, kept_by(each)) for each in known.pods]


def fitting(known: NodeExplanation) -> Iterator[str]:
    """Yield whether all of them fit at once."""
    if known.refusal:
        yield f"They do not all fit at once under every placement order: {known.refusal}."
    elif known.decision.verdict is not Verdict.IN_FLIGHT:
        yield "They all fit at once, however the scheduler orders them (as far as Ebb tries)."
