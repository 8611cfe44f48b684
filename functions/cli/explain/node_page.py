"""The page of a node: its verdict, each blocker with its remedy, its pods and the nodes that could take them."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from rich.text import Text

from functions.cli.analysis.explanation import NodeExplanation, NodeWorth, PodPlace
from functions.cli.analysis.openings import Closed
from functions.cli.analysis.pools import without_requests
from functions.cli.explain.parts import (
    NONE,
    Causes,
    Fact,
    Facts,
    NodeNamer,
    PagePart,
    Title,
    kept_by,
    place_of,
    place_table,
)
from functions.cli.explain.usage import usage_text
from functions.cli.output.format import count, moment, monthly, percent
from functions.cli.output.tables import BOLD, Column, Table
from functions.cli.plan.sentences import length
from functions.cli.plan.tables import STYLES
from functions.cli.plan.view import NodeView, PlanView
from shared.core.cluster.resources import Resources
from shared.core.planning.plan import NodeDecision, Verdict

KEPT: Final = "What keeps it; the first names the verdict:"
CLOSED: Final = "Gates that are closed now (a gate is a limit over many nodes, such as a window, a budget or a rate):"
PODS: Final = ("pod", "goes to", "or else to", "kept by")
_GATES: Final = (
    Column("gate", code=True, style=BOLD), Column("meaning", wraps=True), Column("what to do", wraps=True, below=True),
)  # fmt: skip


def page(
    view: PlanView, known: NodeExplanation, namer: NodeNamer, width: int, measured: Resources | None = None
) -> Iterator[PagePart]:
    node = view.node(known.decision.name)
    yield Title(node.name)
    yield Facts(tuple(facts_of(view, node, known, measured)))
    if node.decision.blockers:
        yield KEPT
        yield Causes(node.decision.blockers)
    gates = [gate for gate in known.closed if gate.until or gate.which or gate.blocker not in node.decision.blockers]
    if gates:
        yield CLOSED
        yield Table.of(_GATES, map(_closed_gate, gates))
    yield _pods_title(known)
    if known.pods:
        rows = (
            (place.pod.key, place_of(place), place.landing.runner_up or NONE, kept_by(place)) for place in known.pods
        )
        yield place_table(PODS, rows, (1, 2), namer, width)
        yield from _fitting(known)


def facts_of(view: PlanView, node: NodeView, known: NodeExplanation, measured: Resources | None) -> Iterator[Fact]:
    decision = node.decision
    yield "pool", ", ".join(filter(None, (decision.pool or "none", known.node.machine, known.node.zone)))
    if decision.cost:
        listed = " at list prices" if known.worth else ""
        yield "costs", f"{monthly(decision.cost)} a month{listed}{', spot' if known.node.spot else ''}"
    if decision.cost and known.worth:
        yield "saves", _saves(known.worth)
    yield "requests", _requests(decision)
    unknown = str(without_requests(place.pod for place in known.pods))
    if unknown:
        yield "not counted", f"what pods use without a request: {unknown}"
    if measured is not None:
        yield "uses", f"{usage_text(measured, known.node.allocatable)} (informs only)"
    verdict = ": ".join(part for part in (node.verdict, decision.reason, node.sentence) if part)
    yield "verdict", Text(verdict, style=STYLES[decision.verdict])
    yield from _times(decision, known)
    if node.name in view.plan.wave:
        going = count(len(view.plan.wave), "node that goes", "nodes that go")
        yield "wave", f"number {view.plan.wave.index(node.name) + 1} of {going} as one set"
    restarts = sorted({place.restarts for place in known.pods if place.restarts})
    if restarts:
        yield "restarts", f"{', '.join(restarts)}, so that single replicas leave without a gap"
    yield "seen at", f"{moment(view.plan.taken_at)} in {view.plan.cluster or 'the cluster'}"


def _saves(worth: NodeWorth) -> str:
    """Return what the bill falls by if the node alone goes, what covers the rest, and from when on it falls by more."""
    alone = f"{monthly(worth.saves)} a month if it alone goes"
    if not worth.covered_by:
        return alone
    then = f", {monthly(worth.saves_then)} from {worth.saves_from:%Y-%m-%d}" if worth.saves_from else ""
    return f"{alone}{then}: the rest of its price is committed ({', '.join(worth.covered_by)})"


def _requests(decision: NodeDecision) -> str:
    ratios = f"cpu {percent(decision.cpu_ratio)}, memory {percent(decision.memory_ratio)}"
    moving = f"to be moved: cpu {percent(decision.movable_cpu_ratio)}, memory {percent(decision.movable_memory_ratio)}"
    busy = decision.accelerator_ratio
    return f"{ratios if busy is None else f'{ratios}, accelerators {percent(busy)}'} ({moving})"


def _times(decision: NodeDecision, known: NodeExplanation) -> Sequence[tuple[str, str]]:
    found = []
    if decision.marked_since is not None:
        found.append(("marked since", moment(decision.marked_since)))
    if decision.verdict is Verdict.WAITING and decision.removable_at is not None:
        found.append(("removable at", moment(decision.removable_at)))
    if known.takes.rounds:
        found.append(("drain", length(known.takes)))
    return found


def _closed_gate(gate: Closed) -> tuple[str, str, str]:
    """Return a gate's word, what it means with until when, and what can be done."""
    reason = gate.blocker.reason
    about = ", ".join(filter(None, (gate.blocker.object, gate.blocker.detail, gate.which)))
    parts = (reason.sentence, f"({about})" if about else "", f"until {moment(gate.until)}" if gate.until else "")
    return reason.value, " ".join(filter(None, parts)), reason.remedy


def _pods_title(known: NodeExplanation) -> str:
    goes = f"{count(known.staying, 'pod')} of DaemonSets and the like {'goes' if known.staying == 1 else 'go'}"
    staying = f"; {goes} with the node" if known.staying else ""
    if not known.pods:
        return f"No pod would have to move{staying}."
    would = "and where each would land" if known.decision.verdict is not Verdict.IN_FLIGHT else "and its place"
    return f"Its {count(len(known.pods), 'pod')}, {would}{staying}:"


_MOST_NAMED: Final = 3
"""Pods without a place that are named with what excludes the other nodes."""


def _fitting(known: NodeExplanation) -> Iterator[str]:
    """Yield whether all of them fit at once, and for those that do not which rule excludes most nodes."""
    if known.refusal:
        yield f"Some may find no place, depending on the scheduler's order: {known.refusal}."
        yield from islice(filter(None, map(_excluding_rule, known.pods)), _MOST_NAMED)
    elif known.decision.verdict is not Verdict.IN_FLIGHT:
        yield "All of them find a place, in every order that Ebb tries."


def _excluding_rule(place: PodPlace) -> str:
    """Return the rule that excludes most nodes for a pod without a place; empty if it has one or none is known."""
    choice = place.landing.choice
    if place.landing.node or not choice.most:
        return ""
    most = choice.most
    rule = f"{most.rule.value} {most.detail}".strip()
    others = count(choice.nodes, "other node")
    return f"{place.pod.key} has no place: {rule} excludes {most.nodes:,} of {others}. {most.rule.sentence}"
