"""What the rules about pods know besides the pod, with an index of the PodDisruptionBudgets that match it.

Almost every budget selects by labels that its pods carry; without it each pod is compared with each budget.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final

from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import Labels
from shared.core.cluster.workloads import UNKNOWN, PodDisruptionBudget, Workload
from shared.core.policy import DrainSettings, PodRules, PoolPolicy
from shared.core.reasons import Finding
from shared.core.rules.volumes import VolumeFacts

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
        keys = ((_ANY, _ANY), *spec.labels.items())
        near = (row for label in keys for row in self._rows.get((spec.namespace, *label), ()))
        found = {number: budget for number, budget in near if budget.matches(spec)}
        return tuple(found[number] for number in sorted(found))


def _keys(budget: PodDisruptionBudget) -> Iterator[_Key]:
    """Yield under which labels a budget is found: the values of the first `In`, one of which its pods must carry."""
    asked = budget.selector.requirements if budget.selector is not None else ()
    label = next((requirement for requirement in asked if requirement.operator == "In"), None)
    if label is None:
        yield budget.namespace, _ANY, _ANY
    else:
        yield from ((budget.namespace, label.key, value) for value in dict.fromkeys(label.values))


@dataclass(frozen=True)
class DrainContext:
    """The PDBs, the settings of the node's pool, the time and the workloads."""

    # Keep one for a pool and a pass: it remembers.

    disruption_budgets: tuple[PodDisruptionBudget, ...]
    policy: PoolPolicy | PodRules
    now: datetime
    workloads: Mapping[str, Workload] = field(default_factory=dict)
    drain: DrainSettings = field(default_factory=DrainSettings)
    """How long a drain lasts, and the grace that an eviction asks for at most."""
    namespaces: Mapping[str, Labels] = field(default_factory=dict)
    """The labels of each; a drain's own step reads none, for the planner and its admission have asked."""
    volumes: VolumeFacts | None = None
    """What stands behind the pods' volumes; None in a step of a drain, which was admitted on them."""
    class_findings: dict[PodClass, tuple[Finding, ...]] = field(default_factory=dict, repr=False, compare=False)
    """What `pods` has found to block all pods of a class."""
    shortages: dict[tuple[PodClass, bool, bool, bool], tuple[Finding, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """What `pods.lacks_replicas` has found, by class and by whether a pod is Ready, pends and is not being deleted."""
    surged: dict[PodClass, bool] = field(default_factory=dict, repr=False, compare=False)
    """What `surges.is_surged` has found."""
    _budgets: dict[PodClass, tuple[PodDisruptionBudget, ...]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _index(self) -> BudgetIndex:
        return BudgetIndex(self.disruption_budgets)

    def budgets_of(self, spec: PodClass) -> tuple[PodDisruptionBudget, ...]:
        if spec not in self._budgets:
            self._budgets[spec] = self._index.matching(spec)
        return self._budgets[spec]

    def workload_of(self, spec: PodClass) -> Workload:
        return self.workloads.get(spec.workload, UNKNOWN)
