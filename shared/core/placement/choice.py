"""What the search chooses among, and what a choice is worth: money first, then the least disruption.

Must not know why a node may go, nor where pods fit.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

Merit = tuple[int, int, int, int, int]
"""Compared from left to right, more is better: see `Tally.merit`."""


@dataclass(frozen=True, slots=True)
class Use:
    """What taking a node takes of something that must not run out, and how much of it must be left for that."""

    supply: str
    takes: int
    needs: int


@dataclass(frozen=True, slots=True)
class Supply:
    """So much is left; what is `balanced` should stay as large as its like, in squares."""

    left: int
    balanced: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that may go."""

    name: str
    cost: int
    """In micro-dollars per hour."""
    disruption: int = 0
    """What the evictions would cost, in any unit."""
    uses: tuple[Use, ...] = ()
    rank: int = 0
    """Its place among the candidates by what else is preferred: of equals the earlier goes."""
    first: bool = False
    """Whether it goes whatever it saves, and so is never weighed against others: it is empty, or has expired."""


@dataclass
class Tally:
    """What the nodes taken are worth together."""

    supplies: Mapping[str, Supply]
    saving: int = 0
    disruption: int = 0
    evictions: int = 0
    ranks: int = 0
    used: Counter[str] = field(default_factory=Counter)
    """By supply."""

    def add(self, candidate: Candidate, evictions: int, nodes: int = 1) -> None:
        """Count a candidate in, or out again."""
        self.saving += nodes * candidate.cost
        self.disruption += nodes * candidate.disruption
        self.evictions += nodes * evictions
        self.ranks += nodes * candidate.rank
        for use in candidate.uses:
            self.used[use.supply] += nodes * use.takes

    def has_room_for(self, candidate: Candidate) -> bool:
        """Whether enough is left of everything for the candidate to go."""
        return all(self.supplies[use.supply].left - self.used[use.supply] >= use.needs for use in candidate.uses)

    @property
    def merit(self) -> Merit:
        """Money; what evictions cost; how many they are; how evenly the supplies are left; the ranks."""
        balanced = ((supply, each.left) for supply, each in self.supplies.items() if each.balanced)
        uneven = sum((left - self.used[supply]) ** 2 for supply, left in balanced)
        return self.saving, -self.disruption, -self.evictions, -uneven, -self.ranks
