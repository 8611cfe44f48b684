"""Which single changes might free a node: each is all that keeps it, now or in steady state.

What time opens by itself (a window, an age, a gap) is left out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from functions.cli.analysis.changes import CHANGES, Change, Scope, Subject, workload_of
from functions.cli.analysis.exclusions import Exclusion, without_a_place
from functions.cli.analysis.forecast.steady_state import PolicyAtRest
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.placement import Simulation
from shared.core.planning.bill import Savings
from shared.core.planning.candidates import AssessedNode, assess_nodes, counts_and_excess, with_savings
from shared.core.planning.selection import planned_simulation, savings_of
from shared.core.policy import Policy, PoolPolicy
from shared.core.reasons import Blocker, PodBlock, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.counts import NodeCounts
from shared.core.rules.disruption_budgets import lets_go
from shared.core.rules.drain_time import NO_TIME
from shared.core.rules.gates import blockers
from shared.core.rules.situation import Situation


@dataclass(frozen=True, slots=True)
class Held:
    """A change, and the nodes that nothing else keeps; `cost` is what they would save, in micro-dollars per hour."""

    subject: Subject
    nodes: tuple[str, ...]
    cost: int
    from_now: bool = False
    """Whether it alone keeps a node now that something else keeps, too, in steady state: so it is tried from now."""


@dataclass(frozen=True, slots=True)
class Relaxations:
    """The changes that might free a node, those that hold most money first.

    Settings of the policy are there for what they keep now and in steady state, other changes for the latter.
    """

    tried: tuple[Held, ...]
    passing: tuple[Held, ...] = ()
    """Other changes that alone keep a node now. It stays, and something else keeps it, too, in steady state."""


_KeptNode = tuple[Subject, Node]


def relaxations(base: PolicyAtRest) -> Relaxations:
    """Return the changes that might free a node of a steady state."""
    begun = Situation(base.start.snapshot, ClusterState(), base.situation.policy)
    now, _ = _rows(begun, base)
    standing, savings = _rows(base.standing, base)
    left = base.rest.snapshot.node_by_name
    passing: dict[_ChangeKey, list[_KeptNode]] = {}
    for key, own in now.items():
        known = {node.name for _, node in standing.get(key, ())}
        more = [row for row in own if row[1].name in left and row[1].name not in known]
        if more:
            passing[key] = more
    settings = {key: [*standing.pop(key, ()), *passing.pop(key)] for key in [*passing] if key.change.is_setting}
    tried = [_held(key, own, savings) for key, own in standing.items()]
    tried += [replace(_held(key, own, savings), from_now=True) for key, own in settings.items()]
    others = [_held(key, own, savings) for key, own in passing.items() if key not in standing]
    return Relaxations(_by_money(tried), _by_money(others))


def _by_money(held: Iterable[Held]) -> tuple[Held, ...]:
    return tuple(sorted(held, key=lambda each: (-each.cost, each.subject.reason.value, each.subject.object)))


def _rows(situation: Situation, base: PolicyAtRest) -> tuple[dict["_ChangeKey", list[_KeptNode]], Savings]:
    """Return by change the nodes that nothing else keeps in a situation, and what each node saves."""
    workings = base.rest.workings
    timeless = workings.situation(situation.snapshot, situation.state, without_calendar(situation.policy))
    savings = savings_of(timeless, base.prices)
    assessed = with_savings(assess_nodes(timeless), timeless, savings)
    counts, _ = counts_and_excess(timeless, assessed)
    simulation = planned_simulation(timeless, arrays_of=workings.arrays_of)
    rows: dict[_ChangeKey, list[_KeptNode]] = {}
    for each in sorted(assessed, key=lambda row: bool(_gates(row, counts))):
        for subject in dict.fromkeys(_of(each, timeless, counts, simulation)):
            rows.setdefault(_key(subject), []).append((subject, each.node))
    return rows, savings


@dataclass(frozen=True, slots=True)
class _ChangeKey:
    """One change, of whichever of its reasons: both ratio limits, in all pools where one of them keeps nodes."""

    change: Change
    object: str
    detail: str


def _key(subject: Subject) -> _ChangeKey:
    change = CHANGES[subject.reason]
    return _ChangeKey(change, "" if change.how_of_all else subject.object, subject.detail)


def _held(key: _ChangeKey, own: Sequence[_KeptNode], savings: Savings) -> Held:
    """Return the change with its most frequent reason; its object is the pool if it is about only one."""
    (reason, _), *_ = Counter(subject.reason for subject, _ in own).most_common(1)
    first, *others = {subject.object for subject, _ in own}
    nodes = {node.name: node for _, node in own}
    return Held(Subject(reason, "" if others else first, key.detail), tuple(nodes), savings.of_all(nodes.values()))


def _gates(assessed: AssessedNode, counts: NodeCounts) -> Sequence[Blocker]:
    """Return the closed gates that a change opens, of a node that nothing else of its own keeps."""
    if not assessed.is_candidate:
        return ()
    return [each for each in blockers(counts, assessed.node, assessed.reason) if each.reason in CHANGES]


def _of(assessed: AssessedNode, situation: Situation, counts: NodeCounts, simulation: Simulation) -> Iterator[Subject]:
    """Yield what alone keeps a node: one subject of its blockers, one gate, or whatever rules refuse its pods."""
    if assessed.claimed_by is not None:
        return
    if assessed.blockers:
        yield from _single(list(_of_blockers(assessed, situation)))
        return
    gates = [_of_gate(each, assessed.node) for each in _gates(assessed, counts)]
    if not gates:
        yield from _of_places(assessed, situation, simulation)
    elif len({_key(each) for each in gates}) == 1 and simulation.try_remove(assessed.node.name) is None:
        yield gates[0]


def _single(found: Sequence[Subject | None]) -> Iterator[Subject]:
    """Yield the first if one change takes all of them away."""
    known = [each for each in found if each is not None]
    if len(known) == len(found) and len({_key(each) for each in known}) == 1:
        yield known[0]


def _of_blockers(assessed: AssessedNode, situation: Situation) -> Iterator[Subject | None]:
    """Yield a subject for each thing in the way; None for what no change takes away."""
    for blocker in assessed.blockers:
        if blocker.reason is Unremovable.BLOCKED_BY_POD:
            continue
        if blocker.reason not in CHANGES:
            yield None
        elif isinstance(blocker.reason, PodBlock):
            yield from _of_pod(blocker, assessed.node, situation)
        else:
            yield _of_gate(blocker, assessed.node)


def _of_pod(blocker: Blocker, node: Node, situation: Situation) -> Iterator[Subject]:
    pod = next(each for each in situation.snapshot.pods_by_node[node.name] if each.key == blocker.object)
    match CHANGES[blocker.reason].scope:
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
    match CHANGES[blocker.reason].scope:
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
    for pod, choice in without_a_place(simulation, assessed.node.name):
        for excluded in choice.excluded:
            if not excluded.alone or excluded.rule not in CHANGES:
                continue
            if excluded.rule is Exclusion.ROOM:
                yield from _headroom(situation)
            else:
                yield Subject(excluded.rule, workload_of(situation, pod))


def _headroom(situation: Situation) -> Iterator[Subject]:
    if any(situation.policy.pool(pool).headroom_percent for pool in situation.snapshot.nodes_by_pool):
        yield Subject(Exclusion.ROOM)


def without_calendar(policy: Policy) -> Policy:
    """Return the policy without what time opens; an empty list of windows never opens, and stays."""
    return replace(
        policy,
        freezes=(),
        budgets=tuple(each for each in policy.budgets if each.schedule is None),
        pools={name: _timeless(pool) for name, pool in policy.pools.items()},
        other_pools=_timeless(policy.other_pools),
    )


def _timeless(pool: PoolPolicy) -> PoolPolicy:
    budgets = tuple(each for each in pool.budgets if each.schedule is None)
    windows = pool.windows if pool.windows == () else None
    return replace(pool, windows=windows, budgets=budgets, minimum_node_age=NO_TIME, minimum_pod_age=NO_TIME)
