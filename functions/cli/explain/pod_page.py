"""The pages of a pod and of a workload: what keeps them, where pods would go, which rules exclude which nodes."""

from collections.abc import Iterator, Sequence
from typing import Final

from functions.cli.analysis.exclusions import NodeChoice
from functions.cli.analysis.explanation import NodeExplanation, PodPlace
from functions.cli.explain.parts import (
    NONE,
    WITH_ITS_NODE,
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
from functions.cli.explain.resolve import PodRow, kept_alone
from functions.cli.explain.usage import usage_text
from functions.cli.output.format import count, moment, monthly
from functions.cli.output.tables import DIM, Column, Table
from functions.cli.plan.view import PlanView
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import Resources
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.planning.steering import is_from_template

ALONE: Final = "alone: nodes that no other rule excludes; they would be open without it."
_EXCLUDED: Final = (
    Column("nodes", right=True), Column("alone", right=True), Column("excluded by", code=True),
    Column("meaning", wraps=True), Column("which", wraps=True, below=True),
    Column("what to do", wraps=True, below=True, style=DIM),
)  # fmt: skip


def page(view: PlanView, row: PodRow, namer: NodeNamer, measured: Resources | None = None) -> Iterator[PagePart]:
    """Yield the page; a pod without a place of its own goes with its node."""
    pod, node, place = row
    yield Title(pod.key)
    yield Facts(tuple(facts_of(view, node, place, measured, pod)))
    yield moving(place)
    if place is None:
        return
    if place.blockers:
        yield Causes(place.blockers)
    if not place.landing.fixed:
        yield from _choice(place.landing.choice, namer, pod.node)


def moving(place: PodPlace | None) -> str:
    if place is None:
        return "It keeps no node: it is a DaemonSet's, a mirror or finished pod, and goes with its node."
    if place.restarts:
        return f"The pod leaves without a gap: {place.restarts} is restarted, and ends it once another is available."
    return "What keeps the pod where it is:" if place.blockers else "The pod itself may be moved."


def facts_of(
    view: PlanView, node: NodeExplanation, place: PodPlace | None, measured: Resources | None, pod: Pod
) -> Iterator[Fact]:
    on = view.node(pod.node)
    yield "node", pod.node
    yield "verdict", ": ".join(part for part in (on.verdict, on.decision.reason, on.sentence) if part)
    yield "workload", pod.spec.workload or "no controller"
    yield "requests", ", ".join(_requests_lines(pod))
    if pod.spec.raised_by:
        yield "comes back as", f"{_amounts(pod.spec.requests)}, by {' and '.join(pod.spec.raised_by)}"
    if pod.spec.template_adds:
        yield "its template adds", ", ".join(pod.spec.template_adds)
    if place is not None:
        if pod.steered:
            yield "deletion cost", _cost(pod, place.workload)
        yield from _going(node, place)
    yield "seen at", moment(view.plan.taken_at)
    if measured is not None:
        yield "uses", f"{usage_text(measured, pod.requests)} (informs only)"


def _going(node: NodeExplanation, place: PodPlace) -> Iterator[Fact]:
    yield "would go to", place_of(place)
    yield "or else to", place.landing.runner_up or NONE
    yield "PDB", "; ".join(map(_budget, place.budgets)) or "none"
    if node.takes.rounds > 1:
        yield "its node", f"waits for {count(node.takes.rounds, 'round')} under {node.takes.limit}"


def _cost(pod: Pod, workload: Workload) -> str:
    standing = pod.spec.annotations.get(names.DELETION_COST, pod.steered)
    if is_from_template(pod, workload):
        return f"{standing}, from its pod template, which carries Ebb's mark ({names.STEERED}): Ebb leaves it alone"
    if standing != pod.steered:
        return f"{standing}, which somebody wrote over Ebb's {pod.steered}: Ebb leaves it alone"
    return f"{standing}, written by Ebb (steerScaleIn): a scale-in takes it before others"


def _requests_lines(pod: Pod) -> Iterator[str]:
    spec = pod.spec
    yield _amounts(pod.requests)
    rules = {
        "a node selector": spec.node_selector,
        "node affinity": spec.node_terms,
        "pod affinity": spec.affinity,
        "pod anti-affinity": spec.anti_affinity,
        "topology spread": spec.hard_spread,
        "host ports": spec.host_ports,
    }
    yield from (word for word, rule in rules.items() if rule)


def _amounts(given: Resources) -> str:
    return f"{given.cpu}m CPU, {given.memory >> 20:,} MiB"


def _budget(budget: PodDisruptionBudget) -> str:
    return (
        f"{budget.key} allows {budget.disruptions_allowed} now, "
        f"{budget.current_healthy} of {budget.expected_pods} healthy"
    )


def _choice(choice: NodeChoice, namer: NodeNamer, source: str) -> Iterator[PagePart]:
    """Yield how many nodes could take the pod, which, and what excludes the others."""
    which = f": {namer.text(choice.where.names, source)}" if choice.open else ""
    yield f"Of {count(choice.nodes, 'other node')} {choice.open:,} could take it now{which}."
    if choice.excluded:
        rows = (
            (f"{shut.nodes:,}", f"{shut.alone:,}", f"{shut.rule.value} {shut.detail}".strip(), shut.rule.sentence,
             namer.text(shut.where.names, source), shut.rule.remedy)
            for shut in choice.excluded
        )  # fmt: skip
        yield Table.of(_EXCLUDED, rows, foot=ALONE)


KEPT: Final = "What keeps its pods:"
PODS: Final = ("pod", "on", "which is", "would go to", "kept by")


def workload_page(
    view: PlanView, name: str, rows: Sequence[PodRow], namer: NodeNamer, width: int
) -> Iterator[PagePart]:
    yield Title(name)
    yield _sum_rows(rows)
    yield place_table(PODS, (_row(view, *row) for row in rows), (1, 3), namer, width)
    found = tuple(blocker for _, _, place in rows if place for blocker in place.blockers)
    if found:
        yield KEPT
        yield Causes(found)


def _sum_rows(rows: Sequence[PodRow]) -> str:
    nodes, alone = {node.decision.name for _, node, _ in rows}, kept_alone(rows)
    cost = sum(alone.values())
    listed = " at list prices" if any(node.worth for _, node, _ in rows) else ""
    kept = f"it alone keeps {count(len(alone), 'node')}{f' of {monthly(cost)} a month{listed}' if cost else ''}"
    effect = kept if alone else "it keeps no node by itself"
    return f"{count(len(rows), 'pod')} on {count(len(nodes), 'node')}; {effect}."


def _row(view: PlanView, pod: Pod, node: NodeExplanation, place: PodPlace | None) -> tuple[str, ...]:
    target, kept = (place_of(place), kept_by(place)) if place else (WITH_ITS_NODE, "")
    return pod.key, pod.node, view.node(node.decision.name).verdict, target, kept
