"""A policy come to rest, and what follows from there once something is changed: the ladder and `why-not` share it.

How much is tried is limited by the cluster's size; equal input gives an equal rest. Must not compare.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Final

from functions.cli.analysis.forecast.at_rest import Effort, Rest, beginning, pace_of, under_policy
from functions.cli.analysis.forecast.open_pass import OpenPass
from functions.cli.analysis.forecast.pending import with_pending_placed
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.plan import NodeDecision
from shared.core.planning.prices import Prices
from shared.core.policy import Policy
from shared.core.records.state import PoolMarks
from shared.core.rules.situation import Situation


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
        passes = OpenPass(changed, {}, self.prices, effort.share, marked=True)
        start = Rest(snapshot, self.rest.gone, self.rest.evictions)
        return under_policy(start, passes, pace_of(changed), effort)


def policy_at_rest(
    situation: Situation, marks: Mapping[str, PoolMarks], prices: Prices, *, assume_marked: bool = False
) -> PolicyAtRest:
    """Return where the policy comes to rest; `assume_marked`: as if all that could go had been marked long ago."""
    snapshot = with_pending_placed(situation.snapshot)
    situation = Situation(snapshot, situation.state, situation.policy)
    things = len(snapshot.nodes) + len(snapshot.pods)
    size = next(each for each in _SIZES if things <= each.most)
    start = beginning(situation)
    passes = OpenPass(situation, marks, prices, size.effort.share, marked=assume_marked)
    rest = under_policy(start, passes, pace_of(situation), size.effort)
    settled = rest.is_rest and not passes.has_kept
    return PolicyAtRest(situation, start, rest, passes.decisions, prices, size, settled)
