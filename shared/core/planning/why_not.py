"""Which single change would free most money: each taken away by itself, and planned anew.

Nothing is guessed: a change counts for what the search reaches on the changed picture beyond what it reaches now.
Bounded by how many are tried, those that hold most money first. Must not make a change, nor say that one is wise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from shared.core.planning.lifting import Subject
from shared.core.planning.lifts import lifted
from shared.core.planning.prices import Prices
from shared.core.planning.reach import Reach, reach
from shared.core.planning.selection import planned_simulation
from shared.core.planning.subjects import Held, subjects
from shared.core.reasons import Unremovable
from shared.core.rules.situation import Situation

_LIMITS: Final = frozenset({
    Unremovable.PAUSED,
    Unremovable.POOL_AT_MINIMUM,
    Unremovable.RESOURCE_MINIMUM,
    Unremovable.MINIMUM_NODES,
    Unremovable.MINIMUM_NON_TAINTED,
    Unremovable.TOO_FEW_UNDERUTILIZED,
    Unremovable.NO_EXCESS,
})  # fmt: skip


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
        freed.append(freed_by(held, base, prices))
    told(len(tried), len(tried))
    ranked = sorted(freed, key=lambda each: (-each.saving, -each.nodes, -each.held.cost, each.subject.object))
    return WhyNot(len(base.nodes), base.saving, tuple(ranked), found[most:])


def freed_by(held: Held, base: Reach, prices: Prices) -> Freed:
    """Return what one change frees beyond what the policy reaches without it."""
    found = reach(lifted(base.situation, held.subject), prices)
    nodes, saving = _anyway(base, held, found, prices)
    return Freed(held, len(found.nodes) - nodes, found.saving - saving) if found.saving > saving else Freed(held, 0, 0)


def _anyway(base: Reach, held: Held, found: Reach, prices: Prices) -> tuple[int, int]:
    """Return how many nodes, and what they cost, could go without the change: what the search found, or better.

    Where the search found on the changed picture what it had missed before, that is no merit of the change. What must
    remain is known to the search alone: of a limit that was taken away nothing can be said of its nodes without it.
    """
    if held.subject.reason in _LIMITS:
        return len(base.nodes), base.saving
    simulation = planned_simulation(base.situation)
    candidates = {each.node.name: each.node for each in base.rows if each.is_candidate}
    left = [name for name in found.nodes if name in candidates and simulation.try_remove(name) is None]
    saving = sum(prices.of(candidates[name]).per_hour for name in left)
    return (len(left), saving) if saving > base.saving else (len(base.nodes), base.saving)
