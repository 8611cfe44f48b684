"""Which single change would free most money: each taken away by itself, and planned anew.

Nothing is guessed: a change counts for what the search reaches on the changed picture beyond what it reaches now.
Bounded by how many are tried, those that hold most money first. Must not make a change, nor say that one is wise.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from shared.core.placement.exclusions import Exclusion
from shared.core.planning.lifts import Subject, lifted
from shared.core.planning.prices import Prices
from shared.core.planning.reach import Reach, reach
from shared.core.planning.selection import planned_simulation
from shared.core.planning.subjects import Held, subjects
from shared.core.rules.situation import Situation


@dataclass(frozen=True, slots=True)
class Freed:
    """What one change frees: nodes and micro-dollars per hour more than without it; `held` is what stood on it."""

    held: Held
    nodes: int
    saving: int

    @property
    def subject(self) -> Subject:
        return self.held.subject


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What the policy reaches now, what each change that was tried frees, and those that were not tried."""

    nodes: int
    saving: int
    freed: tuple[Freed, ...]
    """The most money first; those that free nothing by themselves last."""
    left: tuple[Held, ...]


def why_not(
    situation: Situation, prices: Prices, most: int, told: Callable[[int, int], None] = lambda _done, _all: None
) -> WhyNot:
    """Return what single changes free. `most` are tried; `told` hears how many of them are done."""
    base = reach(situation, prices)
    found = subjects(base, prices)
    tried = found[:most]
    freed = []
    for number, held in enumerate(tried):
        told(number, len(tried))
        freed.append(_freed(base, held, prices))
    told(len(tried), len(tried))
    ranked = sorted(freed, key=lambda each: (-each.saving, -each.nodes, -each.held.cost, each.subject.object))
    return WhyNot(len(base.nodes), base.saving, tuple(ranked), found[most:])


def _freed(base: Reach, held: Held, prices: Prices) -> Freed:
    found = reach(lifted(base.situation, held.subject), prices)
    if found.saving <= base.saving or _without_it(base, held, found):
        return Freed(held, 0, 0)
    return Freed(held, len(found.nodes) - len(base.nodes), found.saving - base.saving)


def _without_it(base: Reach, held: Held, found: Reach) -> bool:
    """Whether the same nodes fit as things are: then the change frees nothing that a longer search would not."""
    if not isinstance(held.subject.reason, Exclusion):
        return False
    simulation = planned_simulation(base.situation)
    candidates = {each.node.name for each in base.rows if each.is_candidate}
    return all(_removes(simulation.try_remove, candidates, found))


def _removes(remove: Callable[[str], object], candidates: set[str], found: Reach) -> Iterator[bool]:
    for name in found.nodes:
        yield name in candidates and remove(name) is None
