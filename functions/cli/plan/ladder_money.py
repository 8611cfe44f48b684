"""The money of a ladder, rounded once: what a reader subtracts from what comes out as it is printed.

What is saved is rounded, and each rung is what is left of the first. A year is said in as many digits as are known of
prices: three, or two of what is saved where that takes more. A month of several clusters is the sum of what is
printed of each. Must not word anything.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from functions.cli.analysis.forecast.ladder import Ladder, LadderStep, Rung
from functions.cli.format import dollars_a_month, rounded_year, whole_money, year_unit

_KNOWN_OF_SAVED: Final = 2
_SUMMED: Final[Mapping[Rung, Callable[[Ladder], LadderStep]]] = {
    Rung.NOW: lambda ladder: ladder.now,
    Rung.AUTOSCALER_ALONE: lambda ladder: ladder.alone,
    Rung.POLICY_AT_REST: lambda ladder: ladder.at_rest,
    Rung.BOUND: lambda ladder: ladder.bound,
}
"""The rungs that ladders have one of each, so that several add up."""


class LadderMoney:
    """Says what each rung of one ladder costs, and what lies between two; `parts` are those that it is the sum of."""

    def __init__(self, ladder: Ladder, parts: Sequence[Ladder] = ()) -> None:
        self._now, self._parts = ladder.now.cost, parts
        self._unit = min(
            year_unit(ladder.now.cost),
            year_unit(ladder.now.cost - ladder.at_rest.cost or ladder.now.cost, _KNOWN_OF_SAVED),
        )

    def month(self, step: LadderStep) -> str:
        return whole_money(self.whole_month(step), of=step.cost)

    def whole_month(self, step: LadderStep) -> int:
        if not self._parts:
            return month_beside(self._now, step.cost)
        return sum(month_beside(each.now.cost, _SUMMED[step.rung](each).cost) for each in self._parts)

    def year(self, step: LadderStep) -> str:
        return whole_money(rounded_year(self._now, self._unit) - self._saved_year(step), of=step.cost)

    def saved_month(self, step: LadderStep) -> str:
        return whole_money(self._saved_month(step), of=self._now - step.cost)

    def saved_year(self, step: LadderStep) -> str:
        return whole_money(self._saved_year(step), of=self._now - step.cost)

    def saved_share(self, step: LadderStep) -> str:
        """Return how much of what is paid now is saved, never more than is."""
        return f"{(self._now - step.cost) * 100 // self._now}%" if self._now else "0%"

    def between_months(self, one: LadderStep, other: LadderStep) -> str:
        """Return by how much a month of the one differs from one of the other, without a sign."""
        return whole_money(abs(self._saved_month(one) - self._saved_month(other)), of=abs(one.cost - other.cost))

    def between_years(self, one: LadderStep, other: LadderStep) -> str:
        return whole_money(abs(self._saved_year(one) - self._saved_year(other)), of=abs(one.cost - other.cost))

    def _saved_month(self, step: LadderStep) -> int:
        if not self._parts:
            return _month(self._now - step.cost)
        return sum(_month(each.now.cost - _SUMMED[step.rung](each).cost) for each in self._parts)

    def _saved_year(self, step: LadderStep) -> int:
        return rounded_year(self._now - step.cost, self._unit)


def month_beside(now: int, cost: int) -> int:
    """Return whole units of the currency for a month of what is left, beside what there was."""
    return _month(now) - _month(now - cost)


def _month(amount: int) -> int:
    return round(dollars_a_month(amount))
