"""Which single changes there are to be tried on one picture: only of what stands in a node's way, with what it holds.

A change is worth trying only where nothing else keeps a node, so that money counts for a change where it stands alone.
What time opens by itself (a window, an age, a gap) is no answer, and left out. Must not try anything.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from functions.cli.analysis.exclusions import Exclusion
from functions.cli.analysis.landing import landings
from functions.cli.analysis.lifting import Scope, Subject, workload_of
from functions.cli.analysis.lifts import LIFTS
from functions.cli.analysis.timeless import without_calendar
from shared.core.cluster.disruption_budget import PodDisruptionBudget
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.placement import Simulation
from shared.core.planning.candidates import AssessedNode, assess_nodes, counts_and_excess, with_savings
from shared.core.planning.prices import Prices
from shared.core.planning.selection import planned_simulation
from shared.core.reasons import Blocker, PodBlock, Unremovable
from shared.core.rules.counts import NodeCounts
from shared.core.rules.disruption_budgets import lets_go
from shared.core.rules.gates import blockers
from shared.core.rules.situation import Situation


@dataclass(frozen=True, slots=True)
class Held:
    """A change, and the nodes that nothing else keeps; `cost` is theirs, in micro-dollars per hour."""

    subject: Subject
    nodes: tuple[str, ...]
    cost: int


def subjects(situation: Situation, prices: Prices) -> tuple[Held, ...]:
    """Return the changes that might free a node of a cluster at rest, those that hold most money first."""
    timeless = Situation(situation.snapshot, situation.state, without_calendar(situation.policy))
    assessed = with_savings(assess_nodes(timeless), timeless, prices)
    counts, _ = counts_and_excess(timeless, assessed)
    simulation = planned_simulation(timeless)
    rows: dict[Subject, list[Node]] = {}
    for each in sorted(assessed, key=lambda row: bool(_gates(row, counts))):
        found = dict.fromkeys(_of(each, timeless, counts, simulation))
        for subject in found:
            rows.setdefault(subject, []).append(each.node)
    held = (Held(each, tuple(node.name for node in own), prices.of_all(own)) for each, own in rows.items())
    return tuple(sorted(held, key=lambda each: (-each.cost, each.subject.reason.value, each.subject.object)))


def _gates(assessed: AssessedNode, counts: NodeCounts) -> Sequence[Blocker]:
    """Return the closed gates that a change opens, of a node that nothing else of its own keeps."""
    if not assessed.is_candidate:
        return ()
    return [each for each in blockers(counts, assessed.node, assessed.reason) if each.reason in LIFTS]


def _of(assessed: AssessedNode, situation: Situation, counts: NodeCounts, simulation: Simulation) -> Iterator[Subject]:
    """Yield what alone keeps a node: one subject of its blockers, one gate, or whatever rules refuse its pods."""
    if assessed.claimed_by is not None:
        return
    if assessed.blockers:
        found = set(_of_blockers(assessed, situation))
        if len(found) == 1:
            yield from (each for each in found if each is not None)
        return
    gates = {_of_gate(each, assessed.node) for each in _gates(assessed, counts)}
    if not gates:
        yield from _of_places(assessed, situation, simulation)
    elif len(gates) == 1 and simulation.try_remove(assessed.node.name) is None:
        yield from gates


def _of_blockers(assessed: AssessedNode, situation: Situation) -> Iterator[Subject | None]:
    """Yield a subject for each thing in the way; None for what no change takes away."""
    for blocker in assessed.blockers:
        if blocker.reason is Unremovable.BLOCKED_BY_POD:
            continue
        if blocker.reason not in LIFTS:
            yield None
        elif isinstance(blocker.reason, PodBlock):
            yield from _of_pod(blocker, assessed.node, situation)
        else:
            yield _of_gate(blocker, assessed.node)


def _of_pod(blocker: Blocker, node: Node, situation: Situation) -> Iterator[Subject]:
    pod = next(each for each in situation.snapshot.pods_by_node[node.name] if each.key == blocker.object)
    match LIFTS[blocker.reason].scope:
        case Scope.WORKLOAD:
            yield Subject(blocker.reason, workload_of(situation, pod))
        case Scope.NAMESPACE:
            yield Subject(blocker.reason, pod.spec.namespace)
        case Scope.BUDGET:
            yield from _of_budgets(blocker, pod, situation.drain_context(node.pool).budgets_of(pod.spec))
        case _:
            yield Subject(blocker.reason, node.pool)


def _of_budgets(blocker: Blocker, pod: Pod, own: Sequence[PodDisruptionBudget]) -> Iterator[Subject]:
    """Yield each budget that lets no pod go; where there are several for one pod, all but the first are too many."""
    if blocker.reason is PodBlock.SEVERAL_PDBS:
        yield from (Subject(blocker.reason, each.key) for each in own[1:])
    else:
        yield from (Subject(blocker.reason, each.key) for each in own if not lets_go(each, pod))


def _of_gate(blocker: Blocker, node: Node) -> Subject:
    match LIFTS[blocker.reason].scope:
        case Scope.NODE:
            return Subject(blocker.reason, node.name)
        case Scope.TAINT:
            return Subject(blocker.reason, node.pool, blocker.object)
        case Scope.POOL:
            return Subject(blocker.reason, node.pool)
        case _:
            return Subject(blocker.reason)


def _of_places(assessed: AssessedNode, situation: Situation, simulation: Simulation) -> Iterator[Subject]:
    """Yield the rules without which a pod that has no place would have one."""
    for landing in landings(simulation, assessed.node.name):
        if landing.node:
            continue
        for excluded in landing.choice.excluded:
            if not excluded.alone or excluded.rule not in LIFTS:
                continue
            if excluded.rule is Exclusion.ROOM:
                yield from _headroom(situation)
            else:
                yield Subject(excluded.rule, workload_of(situation, landing.pod))


def _headroom(situation: Situation) -> Iterator[Subject]:
    if any(situation.policy.pool(pool).headroom_percent for pool in situation.snapshot.nodes_by_pool):
        yield Subject(Exclusion.ROOM)
