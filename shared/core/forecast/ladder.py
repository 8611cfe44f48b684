"""READ FIRST here. The ladder: now, the autoscaler alone, this policy at rest, what relaxing adds, the bound.

Each rung is what is left of the same cluster: how many nodes, what they cost, how many evictions it took, by when. How
much is tried is limited by the cluster's size, and equal input gives an equal ladder. Must not word anything.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from shared.core.cluster.snapshot import Snapshot
from shared.core.forecast.at_rest import Effort, Rest, beginning, left_alone, pace_of, under_policy
from shared.core.forecast.bound import bound
from shared.core.forecast.open_pass import OpenPass
from shared.core.forecast.relaxing import Relaxation, relaxations
from shared.core.planning.prices import Prices
from shared.core.reasons import Reason
from shared.core.records.state import ClusterState, PoolMarks
from shared.core.rules.situation import Situation


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
    left: Snapshot | None = field(default=None, compare=False)
    """The picture at rest, with the pods where the scheduler would put them; pods compare by identity."""
    order: tuple[str, ...] = ()
    """The nodes that are gone at rest, one after another."""
    begins: Mapping[str, datetime] = field(default_factory=dict)
    """When the drain of each of them begins that goes by the policy; the others are the autoscaler's."""

    @property
    def steps(self) -> tuple[LadderStep, ...]:
        return (self.now, self.alone, self.at_rest, *self.relaxed, self.bound)


_UP_TO: Final = (
    (400, Effort(share=0.1, slices=4, rounds=60), Effort(share=1.0, slices=1, rounds=12)),
    (3_000, Effort(share=0.1, slices=3, rounds=30), Effort(share=1.0, slices=1, rounds=4)),
    (30_000, Effort(share=0.5, slices=1, rounds=6), Effort(share=1.0, slices=1, rounds=1)),
)
_LARGE: Final = Effort(share=1.0, slices=1, rounds=2)


def _efforts(snapshot: Snapshot) -> tuple[Effort, Effort | None]:
    """Return how much is tried, and for each wish given up; in large clusters wishes are not tried."""
    size = len(snapshot.nodes) + len(snapshot.pods)
    return next(((effort, wishes) for most, effort, wishes in _UP_TO if size <= most), (_LARGE, None))


def ladder(
    situation: Situation, marks: Mapping[str, PoolMarks], prices: Prices, *, assume_marked: bool = False
) -> Ladder:
    """Return the ladder of a cluster; `assume_marked`: as if each node that could go had been marked long ago."""
    snapshot = situation.snapshot
    effort, wishes = _efforts(snapshot)
    start = beginning(situation)
    alone = left_alone(start)
    passes = OpenPass(situation, marks, prices, effort.share, marked=assume_marked)
    rest = under_policy(start, passes, pace_of(situation), effort)
    relaxed = tuple(_relaxed(situation, rest, passes, prices, wishes)) if wishes else ()
    least = bound(snapshot, prices, situation.state)
    return Ladder(
        now=LadderStep(Rung.NOW, len(snapshot.nodes), cost(snapshot, prices)),
        alone=_step(Rung.AUTOSCALER_ALONE, alone, prices),
        at_rest=_step(Rung.POLICY_AT_REST, rest, prices),
        relaxed=relaxed,
        bound=LadderStep(Rung.BOUND, least.nodes, least.cost),
        by=rest.by,
        held_up=rest.held_up,
        never=rest.never,
        untried=wishes is None or not rest.is_rest,
        gone=frozenset(node.name for node in snapshot.nodes) - {node.name for node in rest.snapshot.nodes},
        left=rest.snapshot,
        order=rest.order,
        begins=rest.begins,
    )


def cost(snapshot: Snapshot, prices: Prices) -> int:
    """Return what all nodes cost, in micro-dollars an hour."""
    return sum(prices.of(node).per_hour for node in snapshot.nodes)


def _step(rung: Rung, rest: Rest, prices: Prices, wish: str = "", about: str = "") -> LadderStep:
    nodes = len(rest.snapshot.nodes)
    return LadderStep(rung, nodes, cost(rest.snapshot, prices), rest.evictions, rest.gone, wish, about)


def _relaxed(
    situation: Situation, rest: Rest, passes: OpenPass, prices: Prices, effort: Effort
) -> Iterator[LadderStep]:
    """Yield a rung for each wish whose loss lets further nodes go, the best first."""
    rows = [
        _step(Rung.RELAXED, _without(each, situation.state, rest, prices, effort), prices, each.word, each.about)
        for each in relaxations(situation.policy, rest.snapshot, passes.decisions)
    ]
    yield from sorted((each for each in rows if each.gone > rest.gone), key=lambda each: each.cost)


def _without(relaxation: Relaxation, state: ClusterState, rest: Rest, prices: Prices, effort: Effort) -> Rest:
    situation = Situation(relaxation.snapshot, state, relaxation.policy)
    passes = OpenPass(situation, {}, prices, effort.share, marked=True)
    start = Rest(relaxation.snapshot, rest.gone, rest.evictions)
    return under_policy(start, passes, pace_of(situation), effort)
