"""Which single change would free most: each is made by itself in the steady state, and followed from there.

The base is the steady state of `ebb plan`; a change counts for what the same forecast adds with it. A setting that
keeps nodes now, and not alone in steady state, is also tried from now, as `ebb plan` with that setting. Counts bound
the work: the changes that hold most money are tried first, each for one round; those that free most are followed on.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from functions.cli.analysis.changes import Subject, lifted
from functions.cli.analysis.forecast.bound import bound
from functions.cli.analysis.forecast.relaxations import Held, Relaxations, relaxations
from functions.cli.analysis.forecast.steady_state import MOST_ROUNDS, PolicyAtRest, Rest
from functions.cli.analysis.recommendations import Oversized, as_recommended, oversized
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation

_PART: Final = 5
"""Of the rounds for all changes together, the part for recommended requests, which may free many nodes."""


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
    """Those that alone keep a node now, and not in steady state: by then something else keeps it, too."""
    recommended: AsRecommended | None = None
    """None where no workload requests more than is recommended for it."""


DoneOf = Callable[[int, int], None]
"""Called with how many changes are done, and of how many."""


def no_progress(_done: int, _of_all: int) -> None:
    """Show no progress."""


def why_not(base: PolicyAtRest, most: int, progress: DoneOf = no_progress) -> WhyNot:
    """Return what single changes free beyond a steady state; `most` are tried."""
    found = freed_from(base, relaxations(base), most, base.size.in_all, progress)
    return replace(found, recommended=_recommended(base))


def _recommended(base: PolicyAtRest) -> AsRecommended | None:
    workloads = oversized(base.rest.snapshot, base.prices)
    if not workloads:
        return None
    changed = Situation(as_recommended(base.rest.snapshot), ClusterState(), base.situation.policy)
    rounds = min(max(base.size.in_all // _PART, base.size.onward), MOST_ROUNDS)
    found = base.onward(changed.policy, changed.snapshot, rounds)
    return AsRecommended(workloads, *_Trial(base).gained(found), found.is_rest)


def freed_from(
    base: PolicyAtRest, changes: Relaxations, most: int, rounds: int, progress: DoneOf = no_progress
) -> WhyNot:
    """Return what `most` of these changes free; `rounds` bounds how long all of them together are followed.

    The settings that are tried from now have as many rounds again.
    """
    trial = _Trial(base, rounds)
    progress(0, min(most, len(changes.tried)))
    hopeless: list[Held] = []
    tried: list[Held] = []
    rest = iter(changes.tried)
    while len(tried) < most and (each := next(rest, None)):
        (tried if trial.may_free(each) else hopeless).append(each)
    first: list[Freed] = []
    for number, each in enumerate(tried, start=1):
        first.append(trial.begin(each))
        progress(number, len(tried))
    freed = trial.followed(first, rounds, progress)
    return WhyNot(base, tuple(sorted(freed, key=_rank)), tuple(hopeless), tuple(rest), changes.passing)


def _saving(freed: Freed) -> int:
    return freed.saving


def _rank(freed: Freed) -> tuple[Any, ...]:
    """Return what changes are sorted by: harmless ones first, then money; last are those that free nothing."""
    saving = freed.saving
    return not saving, freed.subject.harm, -saving, -freed.nodes, -freed.held.cost, freed.subject.object


class _Trial:
    """The steady state, in which changes are tried one at a time."""

    def __init__(self, base: PolicyAtRest, rounds: int = 0) -> None:
        self._base = base
        self._standing = base.standing
        self._from_now = rounds // max(base.rest.rounds, 1)
        """How many settings may be tried from now: each takes about as many rounds as the steady state did."""

    def begin(self, held: Held) -> Freed:
        """Return what a change frees in one round, or from now on where that is more."""
        onward = self.freed_by(held, 1)
        if not held.from_now or not self._from_now:
            return onward
        self._from_now -= 1
        again = self._base.from_now(lifted(self._base.situation, held.subject).policy)
        return max(onward, self._freed(held, again), key=_saving)

    def freed_by(self, held: Held, rounds: int) -> Freed:
        """Return what a change frees within so many rounds from the steady state on."""
        changed = lifted(self._standing, held.subject)
        return self._freed(held, self._base.onward(changed.policy, changed.snapshot, rounds))

    def gained(self, found: Rest) -> tuple[int, int]:
        """Return how many nodes go beyond the steady state, and what that saves."""
        saving = max(self._cost(self._base.anyway) - self._cost(found), 0)
        return found.gone - self._base.anyway.gone if saving else 0, saving

    def _freed(self, held: Held, found: Rest) -> Freed:
        nodes, saving = self.gained(found)
        listed = self._listed(self._base.anyway) - self._listed(found) if saving else 0
        return Freed(held, nodes, saving, found.is_rest, found.rounds, found.evictions, listed)

    def followed(self, first: Sequence[Freed], rounds: int, progress: DoneOf) -> Iterator[Freed]:
        """Yield the same, those followed on that freed most at first, as long as the rounds of all suffice."""
        going_on = sum(not each.is_rest for each in first)
        done = 0
        for each in sorted(first, key=_saving, reverse=True):
            if each.is_rest or rounds <= each.rounds:
                yield each
                continue
            again = self.freed_by(each.held, min(rounds, MOST_ROUNDS))
            rounds, done = rounds - again.rounds, done + 1
            progress(len(first) + done, len(first) + going_on)
            yield max(again, each, key=_saving)

    def may_free(self, held: Held) -> bool:
        """Whether the bound of the changed snapshot leaves anything to free; from now on it is not asked."""
        if held.from_now:
            return True
        least = bound(lifted(self._standing, held.subject).snapshot, self._base.bill, ClusterState())
        return (least.cost if least.bill is None else least.bill) < self._cost(self._base.rest)

    def _cost(self, rest: Rest) -> int:
        return self._base.bill.of_all(rest.snapshot.nodes)

    def _listed(self, rest: Rest) -> int:
        return self._base.prices.of_all(rest.snapshot.nodes)
