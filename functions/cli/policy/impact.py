"""What a change of policy means on one picture of a cluster: two plans, two ladders, and the reasons that differ.

Pure: what the core planned in, differences out. Must not word them: a page does.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from functions.cli.analysis.forecast.ladder import Ladder
from functions.cli.plan.legend import HOLDING, LegendEntry, WordKind, legend
from shared.core.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class ReasonChange:
    """A reason that keeps other nodes than before; None where it keeps none."""

    old: LegendEntry | None
    new: LegendEntry | None

    @property
    def entry(self) -> LegendEntry:
        """Return it as it is told, with its word and sentence."""
        return self.new or self.old  # type: ignore[return-value]  # of the two one is there

    @property
    def cost(self) -> int:
        """Return how much more money it holds, in micro-dollars per hour."""
        return (self.new.cost if self.new else 0) - (self.old.cost if self.old else 0)


@dataclass(frozen=True)
class Impact:
    """The plan and the ladder before and after; without ladders not all of the cluster is known."""

    before: Plan
    after: Plan
    ladders: tuple[Ladder, ...]
    notes: tuple[str, ...]

    def reasons(self) -> tuple[ReasonChange, ...]:
        """Return the reasons that keep more or fewer nodes, those that change most money first."""
        found = sorted(self._reasons(), key=lambda each: (-abs(each.cost), each.entry.word))
        return tuple(sorted(found, key=lambda each: HOLDING.index(each.entry.kind)))

    def _reasons(self) -> Iterator[ReasonChange]:
        old, new = _entries(self.before), _entries(self.after)
        for key in dict.fromkeys((*old, *new)):
            pair = ReasonChange(old.get(key), new.get(key))
            if (
                pair.old is None
                or pair.new is None
                or (pair.old.nodes, pair.old.cost) != (pair.new.nodes, pair.new.cost)
            ):
                yield pair


def _entries(plan: Plan) -> dict[tuple[WordKind, str], LegendEntry]:
    return {(each.kind, each.word): each for each in legend(plan) if each.kind in HOLDING}
