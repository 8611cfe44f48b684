"""What the search chooses among, and what a choice is worth: money first, then the least disruption, then balance.

Must not know why a node may go, nor where pods fit.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

Merit = tuple[int, int, int, int]
"""Compared from left to right, more is better: see `Tally.merit`."""


@dataclass(frozen=True)
class Candidate:
    """A node that may go."""

    name: str
    cost: int
    """In micro-dollars per hour."""
    disruption: int = 0
    """What the evictions would cost, in any unit."""
    groups: tuple[str, ...] = ()
    """The groups of which a minimum must stay."""
    first: bool = False
    """Whether it goes whatever it saves, and so is never weighed against others: it is empty, or has expired."""


@dataclass(frozen=True)
class Minimum:
    """Of a group of nodes so many are left, and so many must be; a `balanced` one should stay as large as its like."""

    left: int
    least: int
    balanced: bool = False


@dataclass
class Tally:
    """What the nodes taken are worth together."""

    minimums: Mapping[str, Minimum]
    saving: int = 0
    disruption: int = 0
    evictions: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    """By group."""

    def add(self, candidate: Candidate, evictions: int, nodes: int = 1) -> None:
        """Count a candidate in, or out again."""
        self.saving += nodes * candidate.cost
        self.disruption += nodes * candidate.disruption
        self.evictions += nodes * evictions
        for group in candidate.groups:
            self.taken[group] += nodes

    def has_room_for(self, candidate: Candidate) -> bool:
        """Whether every minimum leaves room for the candidate to go."""
        groups = ((self.minimums[group], self.taken[group]) for group in candidate.groups)
        return all(minimum.left - taken > minimum.least for minimum, taken in groups)

    @property
    def merit(self) -> Merit:
        """Money; then what evictions cost; then how many they are; then how evenly the groups are left."""
        balanced = ((group, each.left) for group, each in self.minimums.items() if each.balanced)
        uneven = sum((left - self.taken[group]) ** 2 for group, left in balanced)
        return self.saving, -self.disruption, -self.evictions, -uneven
