"""Which single relaxation frees most: found where it is all that keeps a node, made by itself, followed from there.

It counts for what the forecast adds with it. A setting that keeps nodes now is tried from now, too; what time opens by
itself is left out. Those that hold most money are tried first.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from functions.cli.analysis.exclusions import Exclusion, without_a_place
from functions.cli.analysis.forecast.bound import bound
from functions.cli.analysis.forecast.steady_state import MOST_ROUNDS, PolicyAtRest, Rest
from functions.cli.analysis.relaxations import RELAXATIONS, Relaxation, RelaxationRow, Scope, workload_of
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.placement import Simulation
from shared.core.planning.bill import Savings
from shared.core.planning.candidates import AssessedNode, assess_nodes, counts_and_excess, with_pass_rules
from shared.core.planning.selection import planned_simulation, savings_of
from shared.core.policy import Policy, PoolPolicy
from shared.core.reasons import Blocker, PodBlock, Reason, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.counts import NodeCounts
from shared.core.rules.drain_context import lets_go
from shared.core.rules.drain_time import NO_TIME
from shared.core.rules.gates import blockers
from shared.core.rules.situation import Situation


@dataclass(frozen=True, slots=True)
class Held:
    """A relaxation, and the nodes that nothing else keeps; `cost` is what they would save, in micro-dollars an hour."""

    relaxation: Relaxation
    nodes: tuple[str, ...]
    cost: int
    from_now: bool = False
    """Whether it alone keeps a node now that something else keeps, too, in steady state: so it is tried from now."""


_Key = tuple[RelaxationRow, str, str]
_Kept = Mapping[_Key, Sequence[tuple[Relaxation, Node]]]  # By change: the nodes that nothing else keeps.


def find_relaxations(base: PolicyAtRest) -> tuple[tuple[Held, ...], tuple[Held, ...]]:
    """Return what might free a node, settings of the policy also now, and what alone keeps one only now.

    Of both what holds most money comes first. In steady state something else keeps the latter nodes, too.
    """
    now, _ = _kept_alone(Situation(base.start.snapshot, ClusterState(), base.situation.policy), base)
    at_rest, savings = _kept_alone(base.standing, base)
    only_now: dict[_Key, Sequence[tuple[Relaxation, Node]]] = {}
    for key, rows in now.items():
        known = {node.name for _, node in at_rest.get(key, ())}
        left = [row for row in rows if row[1].name in base.rest.snapshot.node_by_name and row[1].name not in known]
        if left:
            only_now[key] = left
    settings = {key: [*at_rest.get(key, ()), *only_now[key]] for key in only_now if key[0].policy}
    tried = [_held_change(key, rows, savings) for key, rows in at_rest.items() if key not in settings]
    tried += [replace(_held_change(key, rows, savings), from_now=True) for key, rows in settings.items()]
    passing = (_held_change(key, rows, savings) for key, rows in only_now.items() if key not in {**settings, **at_rest})
    return _by_money(tried), _by_money(passing)


def _by_money(held: Iterable[Held]) -> tuple[Held, ...]:
    return tuple(sorted(held, key=lambda one: (-one.cost, one.relaxation.reason.value, one.relaxation.object)))


def _held_change(key: _Key, rows: Sequence[tuple[Relaxation, Node]], savings: Savings) -> Held:
    """Return the change with its most frequent reason; its object is the pool if it is about only one."""
    (reason, _), *_ = Counter(relaxation.reason for relaxation, _ in rows).most_common(1)
    first, *others = {relaxation.object for relaxation, _ in rows}
    nodes = {node.name: node for _, node in rows}
    return Held(Relaxation(reason, "" if others else first, key[2]), tuple(nodes), savings.saving_of(nodes.values()))


def _kept_alone(situation: Situation, base: PolicyAtRest) -> tuple[_Kept, Savings]:
    """Return by change the nodes that nothing else keeps in a situation, and what each node saves."""
    workings = base.rest.workings
    timeless = workings.situation(situation.snapshot, situation.state, without_calendar(situation.policy))
    savings = savings_of(timeless, base.prices)
    assessed = with_pass_rules(assess_nodes(timeless), timeless, savings)
    counts, _ = counts_and_excess(timeless, assessed)
    simulation = planned_simulation(timeless, arrays_of=workings.arrays_of)
    rows: dict[_Key, list[tuple[Relaxation, Node]]] = {}
    # nodes without a closed gate come first: each removal that is proved stays in the simulation
    for one in sorted(assessed, key=lambda row: bool(_closed_gates(row, counts))):
        for relaxation in dict.fromkeys(_relaxations_of(one, timeless, counts, simulation)):
            rows.setdefault(relaxation.key, []).append((relaxation, one.node))
    return rows, savings


def _closed_gates(assessed: AssessedNode, counts: NodeCounts) -> Sequence[Blocker]:
    """Return the closed gates that a relaxation opens, of a node that nothing else of its own keeps."""
    if not assessed.is_candidate:
        return ()
    return [gate for gate in blockers(counts, assessed.node, assessed.reason) if gate.reason in RELAXATIONS]


def _relaxations_of(
    assessed: AssessedNode, situation: Situation, counts: NodeCounts, simulation: Simulation
) -> Iterator[Relaxation]:
    """Yield what alone keeps a node: one relaxation of its blockers, one gate, or whatever rules refuse its pods."""
    if assessed.claimed_by is not None:
        return
    found = assessed.blockers or _closed_gates(assessed, counts)
    if not found:
        yield from _of_places(assessed, situation, simulation)
        return
    known = [one for blocker in found for one in _of_blocker(blocker, assessed.node, situation)]
    one_change = all(known) and len({one.key for one in known if one}) == 1
    if one_change and (assessed.blockers or simulation.try_remove(assessed.node.name) is None):
        yield from filter(None, known[:1])


def _of_blocker(blocker: Blocker, node: Node, situation: Situation) -> Iterator[Relaxation | None]:
    """Yield a relaxation for each thing in the way; None for what none takes away."""
    reason, row = blocker.reason, RELAXATIONS.get(blocker.reason)
    if reason is Unremovable.BLOCKED_BY_POD:
        return
    match row.scope if row else None:
        case None:
            yield None
        case Scope.NODE:
            yield Relaxation(reason, node.name)
        case Scope.TAINT:
            yield Relaxation(reason, node.pool, blocker.object)
        case Scope.POOL:
            yield Relaxation(reason, node.pool)
        case Scope.CLUSTER:
            yield Relaxation(reason)
        case scope:
            pod = next(pod for pod in situation.snapshot.pods_by_node[node.name] if pod.key == blocker.object)
            yield from (Relaxation(reason, name) for name in _objects_of(pod, scope, reason, situation))


def _objects_of(pod: Pod, scope: Scope, reason: Reason, situation: Situation) -> Sequence[str]:
    """Return the pod's workload, its namespace, or each of its budgets that lets no pod go."""
    if scope is Scope.WORKLOAD:
        return [workload_of(situation.snapshot, pod)]
    if scope is Scope.NAMESPACE:
        return [pod.spec.namespace]
    pool = situation.snapshot.node_by_name[pod.node].pool
    own = situation.drain_context(pool).budgets_of(pod.spec)
    if reason is PodBlock.SEVERAL_PDBS:
        return [budget.key for budget in own[1:]]  # one may stay: all but the first are too many
    return [budget.key for budget in own if not lets_go(budget, pod)]


def _of_places(assessed: AssessedNode, situation: Situation, simulation: Simulation) -> Iterator[Relaxation]:
    """Yield the rules without which a pod that has no place would have one."""
    pools = situation.snapshot.nodes_by_pool
    headroom = any(situation.policy.pool(pool).headroom_percent for pool in pools)
    for pod, choice in without_a_place(simulation, assessed.node.name):
        for excluded in choice.excluded:
            if not excluded.alone or excluded.rule not in RELAXATIONS:
                continue
            if excluded.rule is not Exclusion.ROOM:
                yield Relaxation(excluded.rule, workload_of(situation.snapshot, pod))
            elif headroom:
                yield Relaxation(Exclusion.ROOM)


def without_calendar(policy: Policy) -> Policy:
    """Return the policy without what time opens; an empty list of windows never opens, and stays."""
    return replace(
        policy,
        freezes=(),
        budgets=tuple(budget for budget in policy.budgets if budget.schedule is None),
        pools={name: _timeless(pool) for name, pool in policy.pools.items()},
        other_pools=_timeless(policy.other_pools),
    )


def _timeless(pool: PoolPolicy) -> PoolPolicy:
    budgets = tuple(budget for budget in pool.budgets if budget.schedule is None)
    windows = pool.windows if pool.windows == () else None
    return replace(pool, windows=windows, budgets=budgets, minimum_node_age=NO_TIME, minimum_pod_age=NO_TIME)


@dataclass(frozen=True, slots=True)
class Freed:
    """What one relaxation frees: nodes, and micro-dollars per hour, more than without it."""

    held: Held
    nodes: int
    saving: int
    rest: Rest  # What is left then; where it is no rest, the relaxation frees at least so much.

    @property
    def relaxation(self) -> Relaxation:
        return self.held.relaxation


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The steady state, what each relaxation that was tried frees, and those that were not tried."""

    base: PolicyAtRest
    freed: tuple[Freed, ...]
    """In their order: the least harm first, then the most money; those that free nothing by themselves last."""
    hopeless: tuple[Held, ...]  # Those that cannot free anything, by the bound.
    left: tuple[Held, ...]
    passing: tuple[Held, ...] = ()


DoneOf = Callable[[int, int], None]  # Called with how many relaxations are done, and of how many.


def no_progress(_done: int, _of_all: int) -> None:
    """Show no progress."""


def why_not(base: PolicyAtRest, most: int, progress: DoneOf = no_progress) -> WhyNot:
    """Return what single relaxations free beyond a steady state; `most` are tried."""
    changes, passing = find_relaxations(base)
    found = try_relaxations(base, changes, most, base.effort.in_all, progress)
    return replace(found, passing=passing)


def try_relaxations(
    base: PolicyAtRest, changes: Sequence[Held], most: int, rounds: int, progress: DoneOf = no_progress
) -> WhyNot:
    """Return what `most` of these relaxations free; `rounds` bounds how long all of them together are followed.

    Each has an equal part of what is left of them. The settings that are tried from now have as many rounds again; each
    takes about as many as the steady state did.
    """
    progress(0, min(most, len(changes)))
    hopeless: list[Held] = []
    tried: list[Held] = []
    rest = iter(changes)
    while len(tried) < most and (held := next(rest, None)):
        (tried if _may_free(base, held) else hopeless).append(held)
    followed: list[Freed] = []
    from_now = [held for held in tried if held.from_now][: rounds // max(base.rest.rounds, 1)]
    # what holds most money comes last: it has the rounds that the others have left
    for done, held in enumerate(reversed(tried)):
        changed = held.relaxation.apply(base.standing)
        part = min(max(rounds // (len(tried) - done), 1), MOST_ROUNDS)
        freed = _freed_by(base, held, base.onward(changed.policy, changed.snapshot, part))
        rounds -= freed.rest.rounds
        if held in from_now:
            again = base.from_now(held.relaxation.apply(base.situation).policy)
            freed = max(freed, _freed_by(base, held, again), key=attrgetter("saving"))
        followed.append(freed)
        progress(done + 1, len(tried))
    return WhyNot(base, tuple(sorted(followed, key=_rank)), tuple(hopeless), tuple(rest))


def _rank(freed: Freed) -> tuple[Any, ...]:
    """Return what relaxations are sorted by: harmless ones first, then money; last are those that free nothing."""
    relaxation, saving = freed.relaxation, freed.saving
    return not saving, relaxation.row.harm, -saving, -freed.nodes, -freed.held.cost, relaxation.object


def _may_free(base: PolicyAtRest, held: Held) -> bool:
    """Whether the bound of the changed snapshot leaves anything to free; from now on it is not asked."""
    if held.from_now:
        return True
    least = bound(held.relaxation.apply(base.standing).snapshot, base.bill, ClusterState())
    return (least.cost if least.bill is None else least.bill) < base.bill.cost_of(base.rest.snapshot.nodes)


def _freed_by(base: PolicyAtRest, held: Held, found: Rest) -> Freed:
    """Return the change with the nodes that go beyond the steady state, and what that saves."""
    anyway, cost = base.anyway, base.bill.cost_of
    saving = max(cost(anyway.snapshot.nodes) - cost(found.snapshot.nodes), 0)
    return Freed(held, found.gone - anyway.gone if saving else 0, saving, found)
