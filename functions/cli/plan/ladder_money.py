"""The money of a ladder, rounded once: what a reader subtracts from what comes out as it is printed.

What is saved is rounded, and each rung is what is left of the first. A year is said in as many digits as are known of
prices: three, or two of what is saved where that takes more. Must not word anything.
"""

from typing import Final

from functions.cli.format import dollars_a_month, rounded_year, whole_money, year_unit
from shared.core.forecast.ladder import Ladder, LadderStep

_KNOWN_OF_SAVED: Final = 2


class LadderMoney:
    """Says what each rung of one ladder costs, and what lies between two."""

    def __init__(self, ladder: Ladder) -> None:
        self._now = ladder.now.cost
        self._unit = min(
            year_unit(ladder.now.cost),
            year_unit(ladder.now.cost - ladder.at_rest.cost or ladder.now.cost, _KNOWN_OF_SAVED),
        )

    def month(self, step: LadderStep) -> str:
        return whole_money(self.whole_month(step), of=step.cost)

    def whole_month(self, step: LadderStep) -> int:
        return _month(self._now) - self._saved_month(step)

    def year(self, step: LadderStep) -> str:
        return whole_money(rounded_year(self._now, self._unit) - self._saved_year(step), of=step.cost)

    def saved_month(self, step: LadderStep) -> str:
        return whole_money(self._saved_month(step), of=self._now - step.cost)

    def saved_year(self, step: LadderStep) -> str:
        return whole_money(self._saved_year(step), of=self._now - step.cost)

    def between_months(self, one: LadderStep, other: LadderStep) -> str:
        """Return by how much a month of the one differs from one of the other, without a sign."""
        return whole_money(abs(self._saved_month(one) - self._saved_month(other)), of=abs(one.cost - other.cost))

    def between_years(self, one: LadderStep, other: LadderStep) -> str:
        return whole_money(abs(self._saved_year(one) - self._saved_year(other)), of=abs(one.cost - other.cost))

    def _saved_month(self, step: LadderStep) -> int:
        return _month(self._now - step.cost)

    def _saved_year(self, step: LadderStep) -> int:
        return rounded_year(self._now - step.cost, self._unit)


def _month(amount: int) -> int:
    return round(dollars_a_month(amount))
