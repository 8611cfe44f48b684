"""What is left when no more nodes go: by the autoscaler alone, and by a policy's passes with it.

Each round is a real pass without its pace, and what the autoscaler takes meanwhile of what it has announced. `pace` has
when nodes would go. The next round begins where the scheduler has placed the pods (docs/decisions/forecast.md).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from math import inf
from typing import Final

from msgspec import structs

from functions.cli.analysis.forecast.pace import HORIZON, Pace
from functions.cli.analysis.forecast.unpaced_pass import UnpacedPass, Workings
from shared.core.cluster import names
from shared.core.cluster.pod import Phase
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.packing import Reached
from shared.core.placement.strategies import LEAST_ALLOCATED
from shared.core.planning.autoscaler import DELETION, soonest, with_announced, without_announcements
from shared.core.planning.autoscaler_look import SCORING, Drained, begin_scheduling, drain_nodes, rounds_alone
from shared.core.planning.bill import Bill
from shared.core.planning.plan import NodeDecision
from shared.core.planning.prices import Prices
from shared.core.planning.selection import departing_nodes
from shared.core.policy import Policy
from shared.core.reasons import Reason
from shared.core.records.state import ClusterState, PoolMarks
from shared.core.rules.situation import Situation

MOST_ROUNDS: Final = 60
ONE_REMOVAL: Final = DELETION + timedelta(seconds=45)
"""How long the autoscaler takes for a node with pods: it taints, evicts, deletes, and waits before the next."""


@dataclass(frozen=True)
class Rest:
    snapshot: Snapshot
    gone: int = 0
    evictions: int = 0
    order: tuple[str, ...] = ()  # The nodes that are gone, one after another.
    begins: Mapping[str, datetime] = field(default_factory=dict)
    """When the drain of each node begins that goes by the policy; the others are the autoscaler's."""
    by: datetime | None = None  # When the last node of the policy's is deleted; None where none goes.
    held_up: Mapping[Reason, int] = field(default_factory=Counter[Reason])
    never: Mapping[Reason, int] = field(default_factory=Counter[Reason])
    is_rest: bool = True
    rounds: int = 0
    workings: Workings = field(default_factory=Workings, compare=False, repr=False)

    def after(self, step: Drained) -> "Rest":
        gone, evictions = self.gone + len(step.gone), self.evictions + step.evictions
        return replace(self, snapshot=step.snapshot, gone=gone, evictions=evictions, order=(*self.order, *step.gone))


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is tried in a cluster of at most so many nodes and pods together."""

    most: float
    share: float  # Of the nodes that may go in one round; a default budget allows a tenth at once.
    slices: int  # Into how many rounds the time is cut that the autoscaler needs for what it has announced.
    rounds: int
    onward: int  # Rounds for what goes on from the steady state, and for each relaxation of `ebb plan`.
    tried: int  # Relaxations that `ebb plan` tries.
    in_all: int  # Rounds for all changes of `ebb why-not` together.


_EFFORTS: Final = (
    Effort(400, share=0.1, slices=4, rounds=60, onward=12, tried=20, in_all=600),
    Effort(3_000, share=0.1, slices=3, rounds=30, onward=4, tried=9, in_all=300),
    Effort(30_000, share=0.5, slices=1, rounds=10, onward=2, tried=6, in_all=60),
    Effort(inf, share=1.0, slices=1, rounds=2, onward=1, tried=4, in_all=4),
)


def remove_departing(situation: Situation, workings: Workings) -> Rest:
    """Return the cluster as it stands once what is on its way out has left."""
    leaving = departing_nodes(situation.snapshot, situation.state)
    rest = Rest(with_announced(situation.snapshot, ()), workings=workings)
    return rest.after(drain_nodes(rest.snapshot, sorted(leaving), leaving, workings.arrays_of))


def removed_nodes(order: tuple[str, ...], left: Snapshot) -> Reached:
    return Reached(order, {pod.key: pod.node for pod in left.pods})


def left_alone(start: Rest) -> Rest:
    rest, workings, rounds = start, start.workings, 0
    for step in rounds_alone(start.snapshot, workings.unneeded, MOST_ROUNDS, workings.arrays_of):
        rest, rounds = rest.after(step), rounds + 1
    return replace(rest, is_rest=rounds < MOST_ROUNDS)


def under_policy(start: Rest, passes: UnpacedPass, pace: Pace, effort: Effort) -> Rest:
    """Return what the policy's passes and the autoscaler leave together."""
    find_unneeded, arrays_of = start.workings.unneeded, start.workings.arrays_of
    # the autoscaler waits at least so long with the first node that it finds unneeded
    first = soonest(start.snapshot, (start.snapshot.node_by_name[name] for name in find_unneeded(start.snapshot)))
    rest, is_rest, turns, rounds = start, False, _Turns(pace.now + first), 0
    while rounds < effort.rounds and not is_rest:
        rounds += 1
        names = find_unneeded(rest.snapshot)
        drains = passes.plan_drains(with_announced(rest.snapshot, names))
        until = turns.until(len(names), effort.slices) if names and drains else pace.now + 2 * HORIZON
        started = pace.let_go(drains, until)
        going = [drain.node.name for drain in drains if drain.node.name in started]
        never = {drain.node.name for drain in drains if drain.node.name in pace.never}
        if going and len(going) + len(never) == len(drains) and rounds < effort.rounds:
            until = min(until, pace.now)  # all have begun: the next pass does not wait for the autoscaler
        others = tuple(name for name in names if name not in going)
        taken = turns.take(others, until) if drains else others
        avoided = {*going, *names, *passes.wave}
        step = drain_nodes(rest.snapshot, [*going, *taken], avoided, arrays_of, by_autoscaler=taken)
        passes.keep(drain.node for drain in drains if drain.node.name in never.union(going).difference(step.gone))
        rest = rest.after(step)
        is_rest = not step.gone and not drains
        if names and drains:
            pace.wait_until(until)
    begins = {name: pace.begins[name] for name in rest.order if name in pace.begins}
    done = replace(rest, begins=begins, by=pace.ended, held_up=pace.held_up, never=_never(rest, passes, pace))
    return replace(done, is_rest=is_rest, rounds=rounds)


def _never(rest: Rest, passes: UnpacedPass, pace: Pace) -> Counter[Reason]:
    """Return what keeps nodes for good that could go together in steady state, with how many it keeps."""
    shut = pace.never.keys() & rest.snapshot.node_by_name.keys()
    return Counter(pace.never[name] for name in passes.together(rest.snapshot, shut)) if shut else Counter()


@dataclass
class _Turns:
    """When the autoscaler is free for its next node."""

    free: datetime

    def until(self, nodes: int, slices: int) -> datetime:
        """Return the end of the round: so many of the nodes' slices on."""
        return self.free + -(-nodes // slices) * ONE_REMOVAL

    def take(self, names: tuple[str, ...], until: datetime) -> tuple[str, ...]:
        taken = names[: max(0, (until - self.free) // ONE_REMOVAL)]
        self.free += len(taken) * ONE_REMOVAL
        return taken


def with_pending_placed(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot in which each pending pod runs that has a place now; the same object if none is pending."""
    waiting = {pod.key for pod in snapshot.pending}
    if not waiting:
        return snapshot
    avoided = {node.name for node in snapshot.nodes if node.has_taint(names.AUTOSCALER_CANDIDATE_TAINT)}
    simulation = begin_scheduling(
        ClusterArrays(without_announcements(snapshot)), SCORING.get(snapshot.profile, LEAST_ALLOCATED), avoided
    )
    places = {move.pod: move.node for move in simulation.assignments.steps() if move.pod in waiting}
    running = {"phase": Phase.RUNNING, "ready": True, "unschedulable_since": None, "nominated": ""}
    pods = (
        structs.replace(pod, node=places[pod.key], **running) if pod.key in places else pod for pod in snapshot.pods
    )
    return replace(snapshot, pods=tuple(pods))


def follow_policy(
    start: Rest, situation: Situation, marks: Mapping[str, PoolMarks] | None, prices: Prices, effort: Effort
) -> tuple[Rest, UnpacedPass]:
    """Return what a policy's passes and the autoscaler leave; None for marks: all are from long ago."""
    passes = UnpacedPass(situation, marks, prices, effort.share, start.workings)
    return under_policy(start, passes, Pace(situation), effort), passes


@dataclass(frozen=True)
class PolicyAtRest:
    """The steady state of one policy, from the cluster without what is on its way out, and why each node stays."""

    situation: Situation  # With what was pending where the scheduler would put it.
    start: Rest
    rest: Rest
    decisions: tuple[NodeDecision, ...]
    prices: Prices
    effort: Effort
    settled: bool  # Whether no drain was left, nor tried in vain.
    marks: Mapping[str, PoolMarks] | None = None  # None: as if all removable nodes had been marked long ago.

    @cached_property
    def anyway(self) -> Rest:
        """What follows without any change, which counts for none; the steady state itself if it is settled."""
        return self.rest if self.settled else self.onward(self.situation.policy, self.rest.snapshot)

    @property
    def standing(self) -> Situation:
        """The steady state as a situation: no drain is under way any more."""
        return Situation(self.rest.snapshot, ClusterState(), self.situation.policy)

    @cached_property
    def bill(self) -> Bill:
        situation = self.situation
        return Bill.of(self.prices, situation.policy.commitments, situation.snapshot.nodes, situation.now)

    @property
    def saving(self) -> int:
        """What is saved until then, in micro-dollars an hour."""
        return self.bill.cost_of(self.situation.snapshot.nodes) - self.bill.cost_of(self.rest.snapshot.nodes)

    def onward(self, policy: Policy, snapshot: Snapshot, rounds: int = 0) -> Rest:
        """Return what follows from the steady state under a changed policy or in a changed cluster.

        0 rounds = as many as for a relaxation of `ebb plan`.
        """
        start = Rest(snapshot, self.rest.gone, self.rest.evictions, workings=self.rest.workings)
        changed = Situation(snapshot, self.situation.state, policy)
        effort = replace(self.effort, share=1.0, slices=1, rounds=rounds or self.effort.onward)
        return follow_policy(start, changed, None, self.prices, effort)[0]

    def from_now(self, policy: Policy) -> Rest:
        changed = Situation(self.situation.snapshot, self.situation.state, policy)
        return follow_policy(self.start, changed, self.marks, self.prices, self.effort)[0]


def find_steady_state(
    situation: Situation,
    marks: Mapping[str, PoolMarks],
    prices: Prices,
    *,
    assume_marked: bool = False,
    workings: Workings | None = None,
) -> PolicyAtRest:
    """`assume_marked`: as if all removable nodes had been marked long ago. `workings` are shared with what follows."""
    snapshot = with_pending_placed(situation.snapshot)
    situation = Situation(snapshot, situation.state, situation.policy)
    things = len(snapshot.nodes) + len(snapshot.pods)
    effort = next(effort for effort in _EFFORTS if things <= effort.most)
    start, known = remove_departing(situation, workings or Workings()), None if assume_marked else marks
    rest, passes = follow_policy(start, situation, known, prices, effort)
    settled = rest.is_rest and not passes.kept
    return PolicyAtRest(situation, start, rest, passes.decisions, prices, effort, settled, known)
