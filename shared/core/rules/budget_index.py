"""Which PodDisruptionBudgets match a pod, found by a label: comparing each with each is most of a plan's time.

Almost every budget names labels that its pods carry, so that only those need a look that name one of the pod's.
Must not judge a budget.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from shared.core.cluster.disruption_budget import PodDisruptionBudget
from shared.core.cluster.pod import PodClass

_Key = tuple[str, str, str]
_ANY: Final = ""


class BudgetIndex:
    """The budgets by namespace and by one label that they ask for; those that ask for none under an empty one."""

    def __init__(self, budgets: Iterable[PodDisruptionBudget]) -> None:
        self._rows: dict[_Key, list[tuple[int, PodDisruptionBudget]]] = {}
        for number, budget in enumerate(budgets):
            for key in _keys(budget):
                self._rows.setdefault(key, []).append((number, budget))

    def matching(self, spec: PodClass) -> tuple[PodDisruptionBudget, ...]:
        """Return the budgets that match a pod, in the order in which they were given."""
        near = (row for key in _keys_of(spec) for row in self._rows.get(key, ()))
        found = {number: budget for number, budget in near if budget.matches(spec)}
        return tuple(found[number] for number in sorted(found))


def _keys(budget: PodDisruptionBudget) -> Iterator[_Key]:
    """Yield under which labels a budget is found: the values of the first `In`, one of which its pods must carry."""
    asked = budget.selector.requirements if budget.selector is not None else ()
    label = next((each for each in asked if each.operator == "In"), None)
    if label is None:
        yield budget.namespace, _ANY, _ANY
    else:
        yield from ((budget.namespace, label.key, value) for value in dict.fromkeys(label.values))


def _keys_of(spec: PodClass) -> Iterator[_Key]:
    yield spec.namespace, _ANY, _ANY
    yield from ((spec.namespace, key, value) for key, value in spec.labels.items())
