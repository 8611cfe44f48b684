"""Which single change would free most money: each is made by itself on the cluster at rest, and followed from there.

Nothing is guessed: the base is the ladder's own rest, and a change counts for what the same forecast comes to with it
beyond what it comes to without. Bounded by counts: those that hold most money are tried first, each for one round, and
those that free most of them are followed on. Must not make a change, nor say that one is wise.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from functions.cli.analysis.forecast.at_rest import MOST_ROUNDS, Rest
from functions.cli.analysis.forecast.bound import bound
from functions.cli.analysis.forecast.policy_at_rest import PolicyAtRest, policy_at_rest
from functions.cli.analysis.lifting import Subject
from functions.cli.analysis.lifts import lifted
from functions.cli.analysis.subjects import Held, subjects
from shared.core.planning.prices import Prices
from shared.core.records.state import ClusterState, PoolMarks
from shared.core.rules.situation import Situation


@dataclass(frozen=True, slots=True)
class Freed:
    """What one change frees: nodes and micro-dollars per hour more at rest than without it.

    `held` is what stood on it.
    """

    held: Held
    nodes: int
    saving: int
    is_rest: bool = True
    """Whether it was followed until nothing more went; otherwise it frees at least so much."""
    rounds: int = 1
    """For how many rounds it was followed."""

    @property
    def subject(self) -> Subject:
        return self.held.subject


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The policy at rest, what each change that was tried frees, and those that were not tried."""

    base: PolicyAtRest
    freed: tuple[Freed, ...]
    """The most money first; those that free nothing by themselves last."""
    hopeless: tuple[Held, ...]
    """Those of which the bound says that they free nothing."""
    left: tuple[Held, ...]
    passing: tuple[Held, ...]
    """Those that alone keep a node now, and none at rest: by then something else keeps it, too."""


def why_not(
    situation: Situation,
    marks: Mapping[str, PoolMarks],
    prices: Prices,
    most: int,
    told: Callable[[int, int], None] = lambda _done, _all: None,
    *,
    assume_marked: bool = False,
) -> WhyNot:
    """Return what single changes free. `most` are tried; `told` hears how many of them are done."""
    return freed_from(policy_at_rest(situation, marks, prices, assume_marked=assume_marked), most, told)


def freed_from(base: PolicyAtRest, most: int, told: Callable[[int, int], None] = lambda _done, _all: None) -> WhyNot:
    """Return the same of a policy that has come to rest already."""
    trial = _Trial(base)
    found = subjects(trial.standing, base.prices)
    told(0, min(most, len(found)))
    hopeless, tried, left = trial.sorted_out(found, most)
    first: list[Freed] = []
    for number, held in enumerate(tried, start=1):
        first.append(trial.freed_by(held, 1))
        told(number, len(tried))
    freed = trial.followed(first, told)
    ranked = sorted(freed, key=lambda each: (-each.saving, -each.nodes, -each.held.cost, each.subject.object))
    return WhyNot(base, tuple(ranked), hopeless, left, trial.passing(found))


class _Trial:
    """The cluster at rest, on which changes are tried one at a time."""

    def __init__(self, base: PolicyAtRest) -> None:
        self._base = base
        self.standing = Situation(base.rest.snapshot, ClusterState(), base.situation.policy)
        """The cluster at rest: no drain is under way any more."""

    def passing(self, found: Iterable[Held]) -> tuple[Held, ...]:
        """Return what alone keeps a node as the cluster stands now, and is not among what was found at rest."""
        known = {held.subject for held in found}
        begun = Situation(self._base.start.snapshot, ClusterState(), self._base.situation.policy)
        return tuple(held for held in subjects(begun, self._base.prices) if held.subject not in known)

    def sorted_out(
        self, found: Iterable[Held], most: int
    ) -> tuple[tuple[Held, ...], tuple[Held, ...], tuple[Held, ...]]:
        """Return those that cannot free anything, as many of the others as are to be tried, and the rest."""
        hopeless: list[Held] = []
        tried: list[Held] = []
        left: list[Held] = []
        for held in found:
            if len(tried) == most:
                left.append(held)
            else:
                (tried if self._may_free(held) else hopeless).append(held)
        return tuple(hopeless), tuple(tried), tuple(left)

    def freed_by(self, held: Held, rounds: int) -> Freed:
        """Return what a change frees within so many rounds."""
        changed = lifted(self.standing, held.subject)
        found = self._base.onward(changed.policy, changed.snapshot, rounds)
        saving = self._cost(self._base.anyway) - self._cost(found)
        nodes = found.gone - self._base.anyway.gone if saving > 0 else 0
        return Freed(held, nodes, max(saving, 0), found.is_rest, found.rounds)

    def followed(self, first: Sequence[Freed], told: Callable[[int, int], None]) -> Iterator[Freed]:
        """Yield the same, those followed on that freed most at first, as long as the rounds of all suffice."""
        rounds = self._base.size.in_all
        going_on = sum(not each.is_rest for each in first)
        done = 0
        for each in sorted(first, key=lambda row: -row.saving):
            if each.is_rest or rounds <= each.rounds:
                yield each
                continue
            again = self.freed_by(each.held, min(rounds, MOST_ROUNDS))
            rounds, done = rounds - again.rounds, done + 1
            told(len(first) + done, len(first) + going_on)
            yield again

    def _may_free(self, held: Held) -> bool:
        """Whether the bound of the changed picture leaves anything to be freed."""
        least = bound(lifted(self.standing, held.subject).snapshot, self._base.prices, ClusterState())
        return least.cost < self._cost(self._base.rest)

    def _cost(self, rest: Rest) -> int:
        return self._base.prices.of_all(rest.snapshot.nodes)
