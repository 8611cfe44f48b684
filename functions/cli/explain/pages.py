"""The pages of a node, a pod and a workload: what keeps them and how to change that, and where pods would go."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from rich.text import Text

from functions.cli.analysis.exclusions import NodeChoice
from functions.cli.analysis.explanation import NodeExplanation, NodeWorth, PodPlace
from functions.cli.analysis.openings import Closed
from functions.cli.analysis.pools import without_requests
from functions.cli.explain.resolve import PodRow, kept_alone
from functions.cli.output.answers import Causes, Fact, Facts, Heading, PagePart
from functions.cli.output.format import count, group, moment, monthly, percent, shorten_names
from functions.cli.output.tables import BOLD, DIM, Column, Table
from functions.cli.plan.sentences import length
from functions.cli.plan.tables import STYLES
from functions.cli.plan.view import NodeView, PlanView
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import Resources
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.planning.plan import NodeDecision, Verdict
from shared.core.planning.steering import is_from_template

_FEW: Final = 3
"""Nodes of a pool that are named."""
_MOST_POOLS: Final = 4
_NO_POOL: Final = "no pool"


class NodeNamer:
    """Names nodes of one cluster; `cut` leaves out what the names of a pool begin with, for a terminal."""

    def __init__(self, pools: Mapping[str, str], *, cut: bool) -> None:
        self.pools, self._all = pools, group((pool, name) for name, pool in pools.items())
        self._short = shorten_names(pools)[0] if cut else {}

    def text(self, names: Iterable[str], leaving: str = "") -> str:
        """Return the nodes in words, the most of a pool first; `leaving` is the node that a pool counts without."""
        own_of = group((self.pools[name], name) for name in names)
        found = sorted(own_of.items(), key=lambda row: (-len(row[1]), row[0]))
        parts = [self._of_pool(pool, own, leaving) for pool, own in found[:_MOST_POOLS]]
        rest = found[_MOST_POOLS:]
        if rest:
            parts.append(f"{sum(len(own) for _, own in rest):,} of {count(len(rest), 'more pool')}")
        return "; ".join(parts)

    def _of_pool(self, pool: str, own: Sequence[str], leaving: str) -> str:
        name, others = pool or _NO_POOL, [node for node in self._all[pool] if node != leaving]
        if len(own) == len(others) and len(own) > 1:
            return f"all {len(own):,} of {name}"
        first = ", ".join(self._short.get(node, node) for node in sorted(own)[:_FEW])
        more = f" and {len(own) - _FEW:,} more" if len(own) > _FEW else ""
        return f"{first}{more} of {name}"


NOWHERE = "nowhere"
NOT_SAID = "unknown"
NONE = "-"
WITH_ITS_NODE: Final = "with its node"
_WORDS: Final = frozenset({NOWHERE, NOT_SAID, NONE, WITH_ITS_NODE})


def place_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], nodes: Sequence[int], namer: NodeNamer, width: int
) -> Table:
    """Return one line for each row; if it does not fit, a pool stands for what names in the columns `nodes` share."""
    whole = Table.of([Column(title, code=True, wraps=True) for title in titles], rows)
    pools = {name: namer.pools.get(name, "") for at in nodes for name in whole.columns[at].cells if name not in _WORDS}
    if not pools or whole.width <= width:
        return whole
    names, lost = shorten_names(pools)
    short = {name: f"{pools[name]} {own}".lstrip() for name, own in names.items()}

    def shortened(column: Column) -> Column:
        return replace(column, cells=tuple(short.get(cell, cell) for cell in column.cells))

    columns = (shortened(column) if at in nodes else column for at, column in enumerate(whole.columns))
    return replace(whole, columns=tuple(columns), lead=lost)


def place_of(place: PodPlace) -> str:
    return NOT_SAID if place.landing.fixed else place.landing.node or NOWHERE


def kept_by(place: PodPlace) -> str:
    return ", ".join(dict.fromkeys(blocker.reason.value for blocker in place.blockers))


CLOSED: Final = "Gates that are closed now (a gate is a limit over many nodes, such as a window, a budget or a rate):"
_PODS_OF_NODE: Final = ("pod", "goes to", "or else to", "kept by")
_GATES: Final = (
    Column("gate", code=True, style=BOLD), Column("meaning", wraps=True), Column("what to do", wraps=True, below=True),
)  # fmt: skip


def node_page(view: PlanView, known: NodeExplanation, namer: NodeNamer, width: int) -> Iterator[PagePart]:
    node = view.node(known.decision.name)
    yield Heading(node.name, 1, code=True)
    yield Facts(tuple(node_facts(view, node, known)))
    if node.decision.blockers:
        yield "What keeps it; the first names the verdict:"
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
        yield place_table(_PODS_OF_NODE, rows, (1, 2), namer, width)
        yield from _fitting(known)


def node_facts(view: PlanView, node: NodeView, known: NodeExplanation) -> Iterator[Fact]:
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
    verdict = ": ".join(part for part in (node.verdict, decision.reason, node.sentence) if part)
    yield "verdict", Text(verdict, style=STYLES[decision.verdict])
    yield from _times(decision, known)
    if node.name in view.plan.wave:
        going = count(len(view.plan.wave), "node that goes", "nodes that go")
        yield "wave", f"number {view.plan.wave.index(node.name) + 1} of {going} as one set"
    if node.name in view.plan.costly:
        yield "costly", "costs more for its size than others: a soft taint lets pods avoid it"
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


def _times(decision: NodeDecision, known: NodeExplanation) -> Iterator[Fact]:
    if decision.marked_since is not None:
        yield "marked since", moment(decision.marked_since)
    if decision.verdict is Verdict.WAITING and decision.removable_at is not None:
        yield "removable at", moment(decision.removable_at)
    if known.takes.rounds:
        yield "drain", length(known.takes)


def _closed_gate(gate: Closed) -> tuple[str, str, str]:
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


ALONE: Final = "alone: nodes that no other rule excludes; they would be open without it."
_EXCLUDED: Final = (
    Column("nodes", right=True), Column("alone", right=True), Column("excluded by", code=True),
    Column("meaning", wraps=True), Column("which", wraps=True, below=True),
    Column("what to do", wraps=True, below=True, style=DIM),
)  # fmt: skip


def pod_page(view: PlanView, row: PodRow, namer: NodeNamer) -> Iterator[PagePart]:
    pod, _, place = row
    yield Heading(pod.key, 1, code=True)
    yield Facts(tuple(pod_facts(view, *row)))
    yield describe_move(place)
    if place is None:
        return
    if place.blockers:
        yield Causes(place.blockers)
    if not place.landing.fixed:
        yield from _choice(place.landing.choice, namer, pod.node)


def describe_move(place: PodPlace | None) -> str:
    if place is None:
        return "It keeps no node: it is a DaemonSet's, a mirror or finished pod, and goes with its node."
    if place.restarts:
        return f"The pod leaves without a gap: {place.restarts} is restarted, and ends it once another is available."
    return "What keeps the pod where it is:" if place.blockers else "The pod itself may be moved."


def pod_facts(view: PlanView, pod: Pod, node: NodeExplanation, place: PodPlace | None) -> Iterator[Fact]:
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
    which = f": {namer.text(choice.where.names, source)}" if choice.open else ""
    yield f"Of {count(choice.nodes, 'other node')} {choice.open:,} could take it now{which}."
    if choice.excluded:
        rows = (
            (f"{shut.nodes:,}", f"{shut.alone:,}", f"{shut.rule.value} {shut.detail}".strip(), shut.rule.sentence,
             namer.text(shut.where.names, source), shut.rule.remedy)
            for shut in choice.excluded
        )  # fmt: skip
        yield Table.of(_EXCLUDED, rows, foot=ALONE)


_PODS_OF_WORKLOAD: Final = ("pod", "on", "which is", "would go to", "kept by")


def workload_page(
    view: PlanView, name: str, rows: Sequence[PodRow], namer: NodeNamer, width: int
) -> Iterator[PagePart]:
    yield Heading(name, 1, code=True)
    yield _sum_rows(rows)
    yield place_table(_PODS_OF_WORKLOAD, (_row(view, *row) for row in rows), (1, 3), namer, width)
    found = tuple(blocker for _, _, place in rows if place for blocker in place.blockers)
    if found:
        yield "What keeps its pods:"
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
