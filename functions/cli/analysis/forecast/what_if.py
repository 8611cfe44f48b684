"""Which single change would free most: each is made by itself in the steady state, and followed from there.

A change is tried only where nothing else keeps a node. What time opens by itself (a window, an age, a gap) is left out.
The base is the steady state of `ebb plan`; a change counts for what the same forecast adds with it. Counts bound the
work: the changes that hold most money are tried first, each for one round, and those that free most are followed on.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from functions.cli.analysis.changes import CHANGES, Change, Scope, Subject, lifted, workload_of
from functions.cli.analysis.exclusions import Exclusion, without_a_place
from functions.cli.analysis.forecast.at_rest import MOST_ROUNDS, PolicyAtRest, Rest
from functions.cli.analysis.forecast.bound import bound
from functions.cli.analysis.forecast.workings import Workings
from functions.cli.analysis.recommendations import Oversized, as_recommended, oversized
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.placement import Simulation
from shared.core.planning.bill import Savings
from shared.core.planning.candidates import AssessedNode, assess_nodes, counts_and_excess, with_savings
from shared.core.planning.prices import Prices
from shared.core.planning.selection import planned_simulation, savings_of
from shared.core.policy import Policy, PoolPolicy
from shared.core.reasons import Blocker, PodBlock, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.counts import NodeCounts
from shared.core.rules.disruption_budgets import lets_go
from shared.core.rules.drain_time import NO_TIME
from shared.core.rules.gates import blockers
from shared.core.rules.situation import Situation

_PART: Final = 5
"""Of the rounds for all changes together, the part for recommended requests, which may free many nodes."""


@dataclass(frozen=True, slots=True)
class Held:
    """A change, and the nodes that nothing else keeps; `cost` is what they would save, in micro-dollars per hour."""

    subject: Subject
    nodes: tuple[str, ...]
    cost: int


def subjects(situation: Situation, prices: Prices, workings: Workings) -> tuple[Held, ...]:
    """Return the changes that might free a node in steady state, those that hold most money first."""
    timeless = workings.situation(situation.snapshot, situation.state, without_calendar(situation.policy))
    savings = savings_of(timeless, prices)
    assessed = with_savings(assess_nodes(timeless), timeless, savings)
    counts, _ = counts_and_excess(timeless, assessed)
    simulation = planned_simulation(timeless, arrays_of=workings.arrays_of)
    rows: dict[_ChangeKey, list[tuple[Subject, Node]]] = {}
    for each in sorted(assessed, key=lambda row: bool(_gates(row, counts))):
        for subject in dict.fromkeys(_of(each, timeless, counts, simulation)):
            rows.setdefault(_key(subject), []).append((subject, each.node))
    held = (_held(key, own, savings) for key, own in rows.items())
    return tuple(sorted(held, key=lambda each: (-each.cost, each.subject.reason.value, each.subject.object)))


@dataclass(frozen=True, slots=True)
class _ChangeKey:
    """One change, of whichever of its reasons: both ratio limits, in all pools where one of them keeps nodes."""

    change: Change
    object: str
    detail: str


def _key(subject: Subject) -> _ChangeKey:
    change = CHANGES[subject.reason]
    return _ChangeKey(change, "" if change.how_of_all else subject.object, subject.detail)


def _held(key: _ChangeKey, own: Sequence[tuple[Subject, Node]], savings: Savings) -> Held:
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


@dataclass(frozen=True, slots=True)
class Freed:
    """What one change frees: nodes, and micro-dollars per hour, more than without it."""

    held: Held
    nodes: int
    saving: int
    is_rest: bool = True
    """Whether it was followed until no more nodes go; otherwise it frees at least so much."""
    rounds: int = 1
    """For how many rounds it was followed."""
    evictions: int = 0
    """Until then, those of the base among them."""
    listed: int = 0
    """The saving at list prices, which differs where capacity is committed."""

    @property
    def subject(self) -> Subject:
        return self.held.subject


@dataclass(frozen=True, slots=True)
class AsRecommended:
    """What is freed if these workloads requested what their VerticalPodAutoscalers recommend."""

    workloads: tuple[Oversized, ...]
    nodes: int
    saving: int
    is_rest: bool
    """Whether it was followed until no more nodes go; otherwise it frees at least so much."""


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The steady state, what each change that was tried frees, and those that were not tried."""

    base: PolicyAtRest
    freed: tuple[Freed, ...]
    """The least harm first, then the most money; those that free nothing by themselves last."""
    hopeless: tuple[Held, ...]
    """Those that cannot free anything, by the bound."""
    left: tuple[Held, ...]
    passing: tuple[Held, ...] = ()
    """Those that alone keep a node now, and none in steady state: by then something else keeps it, too."""
    recommended: AsRecommended | None = None
    """None where no workload requests more than is recommended for it."""


DoneOf = Callable[[int, int], None]
"""Called with how many changes are done, and of how many."""


def no_progress(_done: int, _of_all: int) -> None:
    """Show no progress."""


def why_not(base: PolicyAtRest, most: int, progress: DoneOf = no_progress) -> WhyNot:
    """Return what single changes free beyond a steady state; `most` are tried."""
    held = subjects(base.standing, base.prices, base.rest.workings)
    found = freed_from(base, held, most, base.size.in_all, progress)
    passing = _passing(base, {_key(each.subject) for each in held})
    return replace(found, passing=passing, recommended=_recommended(base))


def _recommended(base: PolicyAtRest) -> AsRecommended | None:
    workloads = oversized(base.rest.snapshot, base.prices)
    if not workloads:
        return None
    changed = Situation(as_recommended(base.rest.snapshot), ClusterState(), base.situation.policy)
    rounds = min(max(base.size.in_all // _PART, base.size.onward), MOST_ROUNDS)
    nodes, saving, rest = _Trial(base).onward(changed, rounds)
    return AsRecommended(workloads, nodes, saving, rest.is_rest)


def freed_from(
    base: PolicyAtRest, held: Sequence[Held], most: int, rounds: int, progress: DoneOf = no_progress
) -> WhyNot:
    """Return what `most` of these changes free; `rounds` bounds how long all of them together are followed."""
    trial = _Trial(base)
    progress(0, min(most, len(held)))
    hopeless: list[Held] = []
    tried: list[Held] = []
    rest = iter(held)
    while len(tried) < most and (each := next(rest, None)):
        (tried if trial.may_free(each) else hopeless).append(each)
    first: list[Freed] = []
    for number, each in enumerate(tried, start=1):
        first.append(trial.freed_by(each, 1))
        progress(number, len(tried))
    freed = trial.followed(first, rounds, progress)
    return WhyNot(base, tuple(sorted(freed, key=_rank)), tuple(hopeless), tuple(rest))


def _rank(freed: Freed) -> tuple[Any, ...]:
    """Return what changes are sorted by: harmless ones first, then money; last are those that free nothing."""
    saving = freed.saving
    return not saving, freed.subject.harm, -saving, -freed.nodes, -freed.held.cost, freed.subject.object


def _passing(base: PolicyAtRest, known: Collection[_ChangeKey]) -> tuple[Held, ...]:
    """Return what alone keeps a node now, and is not among what was found in steady state."""
    begun = Situation(base.start.snapshot, ClusterState(), base.situation.policy)
    return tuple(held for held in subjects(begun, base.prices, base.rest.workings) if _key(held.subject) not in known)


class _Trial:
    """The steady state, in which changes are tried one at a time."""

    def __init__(self, base: PolicyAtRest) -> None:
        self._base = base
        self._standing = base.standing

    def freed_by(self, held: Held, rounds: int) -> Freed:
        """Return what a change frees within so many rounds."""
        nodes, saving, found = self.onward(lifted(self._standing, held.subject), rounds)
        listed = self._listed(self._base.anyway) - self._listed(found) if saving else 0
        return Freed(held, nodes, saving, found.is_rest, found.rounds, found.evictions, listed)

    def onward(self, changed: Situation, rounds: int) -> tuple[int, int, Rest]:
        """Return how many nodes go beyond the steady state, what that saves, and what is left."""
        found = self._base.onward(changed.policy, changed.snapshot, rounds)
        saving = max(self._cost(self._base.anyway) - self._cost(found), 0)
        nodes = found.gone - self._base.anyway.gone if saving else 0
        return nodes, saving, found

    def followed(self, first: Sequence[Freed], rounds: int, progress: DoneOf) -> Iterator[Freed]:
        """Yield the same, those followed on that freed most at first, as long as the rounds of all suffice."""
        going_on = sum(not each.is_rest for each in first)
        done = 0
        for each in sorted(first, key=lambda row: -row.saving):
            if each.is_rest or rounds <= each.rounds:
                yield each
                continue
            again = self.freed_by(each.held, min(rounds, MOST_ROUNDS))
            rounds, done = rounds - again.rounds, done + 1
            progress(len(first) + done, len(first) + going_on)
            yield again

    def may_free(self, held: Held) -> bool:
        """Whether the bound of the changed snapshot leaves anything to free."""
        least = bound(lifted(self._standing, held.subject).snapshot, self._base.bill, ClusterState())
        return (least.cost if least.bill is None else least.bill) < self._cost(self._base.rest)

    def _cost(self, rest: Rest) -> int:
        return self._base.bill.of_all(rest.snapshot.nodes)

    def _listed(self, rest: Rest) -> int:
        return self._base.prices.of_all(rest.snapshot.nodes)


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
