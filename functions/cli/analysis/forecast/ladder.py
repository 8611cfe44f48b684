"""READ FIRST here. The scenarios: now, the autoscaler alone, the policy's steady state, relaxations, the bound."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from math import inf
from typing import Final

from msgspec import structs

from functions.cli.analysis.forecast.at_rest import Effort, Rest, beginning, left_alone, pace_of, reached, under_policy
from functions.cli.analysis.forecast.bound import bound
from functions.cli.analysis.forecast.open_pass import OpenPass
from functions.cli.analysis.forecast.relaxing import relaxations
from functions.cli.analysis.forecast.scheduling import SCORING
from functions.cli.analysis.forecast.scheduling import beginning as scheduling_of
from functions.cli.analysis.forecast.workings import Workings
from shared.core.cluster import names
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.assignments import NOTHING_REACHED, Reached
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.strategies import LEAST_ALLOCATED
from shared.core.planning.plan import NodeDecision
from shared.core.planning.prices import Prices
from shared.core.policy import Policy
from shared.core.reasons import Reason
from shared.core.records.state import PoolMarks
from shared.core.rules.situation import Situation


def with_pending_placed(snapshot: Snapshot) -> Snapshot:
    """Return the picture in which each pending pod runs that has a place now; the very same where none is pending."""
    waiting = {pod.key for pod in snapshot.pending}
    if not waiting:
        return snapshot
    avoided = {node.name for node in snapshot.nodes if node.has_taint(names.AUTOSCALER_CANDIDATE_TAINT)}
    simulation = scheduling_of(ClusterArrays(snapshot), SCORING.get(snapshot.profile, LEAST_ALLOCATED), avoided)
    places = {move.pod: move.node for move in simulation.assignments.steps() if move.pod in waiting}
    pods = (_running(pod, places[pod.key]) if pod.key in places else pod for pod in snapshot.pods)
    return replace(snapshot, pods=tuple(pods))


def _running(pod: Pod, node: str) -> Pod:
    return structs.replace(pod, node=node, phase=Phase.RUNNING, ready=True, unschedulable_since=None, nominated="")


@dataclass(frozen=True, slots=True)
class _Size:
    """How much is tried up to a size of nodes and pods together."""

    most: float
    effort: Effort
    onward: int
    """Rounds for each change in the ladder; 0: none is tried."""
    in_all: int
    """Rounds for all changes together where these are the question."""


_SIZES: Final = (
    _Size(400, Effort(share=0.1, slices=4, rounds=60), onward=12, in_all=600),
    _Size(3_000, Effort(share=0.1, slices=3, rounds=30), onward=4, in_all=300),
    _Size(30_000, Effort(share=0.5, slices=1, rounds=6), onward=2, in_all=60),
    _Size(inf, Effort(share=1.0, slices=1, rounds=2), onward=0, in_all=0),
)


@dataclass(frozen=True)
class PolicyAtRest:
    """What one policy comes to: the cluster once what is on its way out has left, at rest, and why each node stays."""

    situation: Situation
    """With what was pending where the scheduler would put it."""
    start: Rest
    rest: Rest
    decisions: tuple[NodeDecision, ...]
    prices: Prices
    size: _Size
    settled: bool
    """Whether no drain was left, nor tried in vain."""

    @cached_property
    def anyway(self) -> Rest:
        """What follows from the rest without any change: no merit of one. The rest itself where it is settled."""
        return self.rest if self.settled else self.onward(self.situation.policy, self.rest.snapshot)

    @property
    def saving(self) -> int:
        """What is saved until then, in micro-dollars an hour."""
        return self.prices.of_all(self.situation.snapshot.nodes) - self.prices.of_all(self.rest.snapshot.nodes)

    def onward(self, policy: Policy, snapshot: Snapshot, rounds: int = 0) -> Rest:
        """Return what the cluster at rest comes to from there with another policy, or another picture of it.

        `rounds` limits how long it is followed; 0 = as long as the ladder does.
        """
        changed = Situation(snapshot, self.situation.state, policy)
        effort = Effort(share=1.0, slices=1, rounds=rounds or max(self.size.onward, 1))
        passes = OpenPass(changed, None, self.prices, effort.share, self.rest.workings)
        start = Rest(snapshot, self.rest.gone, self.rest.evictions, workings=self.rest.workings)
        return under_policy(start, passes, pace_of(changed), effort)


def policy_at_rest(
    situation: Situation,
    marks: Mapping[str, PoolMarks],
    prices: Prices,
    *,
    assume_marked: bool = False,
    workings: Workings | None = None,
) -> PolicyAtRest:
    """Return where the policy comes to rest.

    `assume_marked`: as if all that could go had been marked long ago. `workings` are shared with what goes on from it.
    """
    snapshot = with_pending_placed(situation.snapshot)
    situation = Situation(snapshot, situation.state, situation.policy)
    things = len(snapshot.nodes) + len(snapshot.pods)
    size = next(each for each in _SIZES if things <= each.most)
    start = beginning(situation, workings or Workings())
    passes = OpenPass(situation, None if assume_marked else marks, prices, size.effort.share, start.workings)
    rest = under_policy(start, passes, pace_of(situation), size.effort)
    settled = rest.is_rest and not passes.has_kept
    return PolicyAtRest(situation, start, rest, passes.decisions, prices, size, settled)


class Rung(StrEnum):
    """A step of the ladder."""

    NOW = "now"
    AUTOSCALER_ALONE = "autoscaler_alone"
    POLICY_AT_REST = "policy_at_rest"
    RELAXED = "relaxed"
    BOUND = "bound"


@dataclass(frozen=True, slots=True)
class LadderStep:
    """One rung: what is left, in nodes and micro-dollars an hour, and the evictions until then."""

    rung: Rung
    nodes: int
    cost: int
    evictions: int = 0
    gone: int = 0
    """Nodes removed until then, those that were on their way out among them."""
    wish: str = ""
    """Of a relaxed rung: what was given up."""
    about: str = ""
    """And what that is about: a PodDisruptionBudget."""
    is_rest: bool = True
    """Whether it was followed until nothing more went."""


@dataclass(frozen=True)
class Ladder:
    """All rungs, from now to the bound."""

    now: LadderStep
    alone: LadderStep
    at_rest: LadderStep
    relaxed: tuple[LadderStep, ...]
    bound: LadderStep
    by: datetime | None
    """When the policy has come to rest; None where none of its nodes goes."""
    held_up: Mapping[Reason, int]
    """How many seconds each reason kept the node that was next."""
    never: Mapping[Reason, int]
    """How many nodes a limit keeps that does not open within half a year."""
    untried: bool
    """Whether the cluster is so large that relaxing was not tried, or not all rounds."""
    gone: frozenset[str] = frozenset()
    """The nodes of now that are not there any more at rest, by name."""
    begun: Snapshot | None = field(default=None, compare=False)
    """The picture of now, with what is pending where the scheduler would put it."""
    left: Snapshot | None = field(default=None, compare=False)
    """The picture at rest, with the pods where the scheduler would put them; pods compare by identity."""
    order: tuple[str, ...] = ()
    """The nodes that are gone at rest, one after another."""
    begins: Mapping[str, datetime] = field(default_factory=dict)
    """When the drain of each of them begins that goes by the policy; the others are the autoscaler's."""
    idle: tuple[LadderStep, ...] = ()
    """Wishes whose loss was tried, and lets no further node go by itself."""

    @property
    def reached(self) -> Reached:
        """What goes by the policy and the autoscaler, and where its pods lie then."""
        return reached(self.order, self.left) if self.left is not None else NOTHING_REACHED

    @property
    def steps(self) -> tuple[LadderStep, ...]:
        return (self.now, self.alone, self.at_rest, *self.relaxed, self.bound)


def ladder(
    situation: Situation, marks: Mapping[str, PoolMarks], prices: Prices, *, assume_marked: bool = False
) -> Ladder:
    """Return the ladder of a cluster; `assume_marked`: as if each node that could go had been marked long ago."""
    return ladder_of(policy_at_rest(situation, marks, prices, assume_marked=assume_marked))


def ladder_of(told: PolicyAtRest) -> Ladder:
    """Return the same of a policy that has come to rest already."""
    situation, prices, snapshot = told.situation, told.prices, told.situation.snapshot
    rest, tried = told.rest, told.size.onward > 0
    wishes = tuple(_relaxed(told)) if tried else ()
    least = bound(snapshot, prices, situation.state)
    return Ladder(
        now=LadderStep(Rung.NOW, len(snapshot.nodes), prices.of_all(snapshot.nodes)),
        alone=_step(Rung.AUTOSCALER_ALONE, left_alone(told.start), prices),
        at_rest=_step(Rung.POLICY_AT_REST, rest, prices),
        relaxed=tuple(each for each in wishes if each.gone > told.anyway.gone),
        bound=LadderStep(Rung.BOUND, least.nodes, least.cost),
        by=rest.by,
        held_up=rest.held_up,
        never=rest.never,
        untried=not tried or not rest.is_rest,
        begun=snapshot,
        gone=frozenset(node.name for node in snapshot.nodes) - {node.name for node in rest.snapshot.nodes},
        left=rest.snapshot,
        order=rest.order,
        begins=rest.begins,
        idle=tuple(each for each in wishes if each.gone <= told.anyway.gone),
    )


def _step(rung: Rung, rest: Rest, prices: Prices, wish: str = "", about: str = "") -> LadderStep:
    nodes = rest.snapshot.nodes
    return LadderStep(rung, len(nodes), prices.of_all(nodes), rest.evictions, rest.gone, wish, about, rest.is_rest)


def _relaxed(told: PolicyAtRest) -> Iterator[LadderStep]:
    """Yield what comes of each wish that alone keeps a node, the best first."""
    wishes = relaxations(told.situation.policy, told.rest.snapshot, told.decisions)
    rows = ((each, told.onward(each.policy, each.snapshot)) for each in wishes)
    steps = (_step(Rung.RELAXED, rest, told.prices, each.word, each.about) for each, rest in rows)
    yield from sorted(steps, key=lambda each: each.cost)
