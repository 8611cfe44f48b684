"""What PodDisruptionBudgets allow in a simulated cluster: how many of their pods there are, and how many are Ready.

Counted by class, so that no budget looks at each pod. Must not know nodes, nor what becomes of a pod.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from shared.core.cluster.disruption_budget import PodDisruptionBudget
from shared.core.cluster.pod import Pod, PodClass


@dataclass
class PodCounts:
    """Of one class: how many pods there are that are not on their way out, and how many of them are Ready."""

    living: int = 0
    ready: int = 0


class BudgetCounts:
    """The budgets of one cluster, each known by its number, with the pods that it counts."""

    def __init__(self, budgets: Sequence[PodDisruptionBudget]) -> None:
        self._budgets = budgets
        self._counts: dict[PodClass, PodCounts] = {}
        self._numbers: dict[PodClass, tuple[int, ...]] = {}
        self._classes: dict[int, list[PodCounts]] = {}

    def count(self, pod: Pod, number: int) -> None:
        """A pod has come (1), or is on its way out (-1)."""
        row = self._counts.get(pod.spec) or self._new(pod.spec)
        row.living += number
        row.ready += number if pod.ready else 0

    def became_ready(self, pod: Pod) -> None:
        self._counts[pod.spec].ready += 1

    def of(self, spec: PodClass) -> tuple[int, ...]:
        """Return the numbers of the budgets that match pods of the class."""
        if spec not in self._numbers:
            self._numbers[spec] = tuple(number for number, each in enumerate(self._budgets) if each.matches(spec))
        return self._numbers[spec]

    def allowed(self, number: int) -> int:
        """Return how many pods of a budget may go now."""
        return self._now(number, self._budgets[number]).disruptions_allowed

    def now(self) -> Iterator[PodDisruptionBudget]:
        """Yield every budget as its status says it now."""
        return (self._now(number, budget) for number, budget in enumerate(self._budgets))

    def _now(self, number: int, budget: PodDisruptionBudget) -> PodDisruptionBudget:
        rows = self._classes.get(number, ())
        living, ready = sum(row.living for row in rows), sum(row.ready for row in rows)
        must_stay = budget.must_stay(living)
        return replace(
            budget,
            expected_pods=living,
            current_healthy=ready,
            desired_healthy=must_stay,
            disruptions_allowed=max(ready - must_stay, 0) if living else 0,
            observed=True,
        )

    def _new(self, spec: PodClass) -> PodCounts:
        row = self._counts[spec] = PodCounts()
        for number in self.of(spec):
            self._classes.setdefault(number, []).append(row)
        return row
