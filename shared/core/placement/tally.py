"""What the nodes that a search has taken are worth together, and whether enough is left for one more."""
# Money counts first.

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

Lost = Callable[[Sequence[int]], int]
"""Returns how many micro-dollars an hour nodes of these amounts save less than they cost (`planning.bill`)."""
LITTLE: Final = 10  # Micro-dollars an hour, less than a cent a month: a node that saves no more saves nothing.
Merit = tuple[int, int, int, int, int]  # Compared from left to right, more is better: see `Tally.merit`.


@dataclass(frozen=True, slots=True)
class Use:
    """What taking a node takes of a supply that must not run out, and how much must be left for that."""

    supply: str
    takes: int
    needs: int
    left: int  # How much there is before any node is taken.
    balanced: bool = False  # Whether what is left should stay as large as its like, in squares.


@dataclass(frozen=True, slots=True)
class Candidate:
    name: str
    cost: int  # Its price, in micro-dollars per hour.
    disruption: int = 0  # What the evictions would cost, in any unit.
    uses: tuple[Use, ...] = ()
    rank: int = 0  # Its place among the candidates by what else is preferred: of equals the earlier goes.
    first: bool = False
    """Whether it goes whatever it saves, and so is never weighed against others: it is empty, or has expired."""
    amounts: tuple[int, ...] = ()  # What it takes off what commitments may cover; empty where nothing is committed.


@dataclass
class Tally:
    """What the nodes taken are worth together; `lost` is what they save less than they cost, None for nothing."""

    lost: Lost | None = None
    balanced: Mapping[str, int] = field(default_factory=dict)
    """How much there is of each supply that should stay as large as its like."""
    cost: int = 0
    disruption: int = 0
    evictions: int = 0
    ranks: int = 0
    used: Counter[str] = field(default_factory=Counter)  # By supply.
    gone: tuple[int, ...] = ()  # The amounts of all.

    def add(self, candidate: Candidate, evictions: int, nodes: int = 1) -> None:
        self.cost += nodes * candidate.cost
        self.disruption += nodes * candidate.disruption
        self.evictions += nodes * evictions
        self.ranks += nodes * candidate.rank
        for use in candidate.uses:
            self.used[use.supply] += nodes * use.takes
        if self.lost:
            self.gone = self._gone(candidate, nodes)

    def _gone(self, candidate: Candidate, nodes: int) -> tuple[int, ...]:
        gone = self.gone or (0,) * len(candidate.amounts)
        return tuple(have + nodes * own for have, own in zip(gone, candidate.amounts, strict=True))

    @property
    def saving(self) -> int:
        return self.cost - (self.lost(self.gone) if self.lost and self.gone else 0)

    def saved_by(self, candidate: Candidate, *, taken: bool = False) -> int:
        """Return what a candidate adds to the saving; of one that is taken: what it has added to that of all others."""
        if self.lost is None:
            return candidate.cost
        rows = (self._gone(candidate, -1), self.gone) if taken else (self.gone, self._gone(candidate, 1))
        before, after = (self.lost(gone) if gone else 0 for gone in rows)
        return candidate.cost - (after - before)

    def is_for_nothing(self, candidate: Candidate, *, taken: bool = False) -> bool:
        """Whether commitments cover all that the candidate costs; of one that is taken: whether the others suffice."""
        if self.lost is None or candidate.first:
            return False
        return self.saved_by(candidate, taken=taken) <= LITTLE < candidate.cost

    def has_room_for(self, candidate: Candidate) -> bool:
        return all(use.left - self.used[use.supply] >= use.needs for use in candidate.uses)

    @property
    def merit(self) -> Merit:
        """Money; what evictions cost; how many they are; how evenly the supplies are left; the ranks."""
        uneven = sum((left - self.used[name]) ** 2 for name, left in self.balanced.items())
        return self.saving, -self.disruption, -self.evictions, -uneven, -self.ranks
