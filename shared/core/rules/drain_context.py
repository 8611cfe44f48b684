"""What the rules about pods know besides the pod, and what the PodDisruptionBudgets that match it keep.

Almost every budget selects by labels that its pods carry; without an index each pod is compared with each budget.
They keep a node by the eviction API's own answer. A PDB that allows nothing now keeps it for now; one that asks for all
of its pods, or whose pods its controller cannot count, until its owner fixes it.
Source: kubernetes, registry/core/pod/storage/eviction.go; controller/disruption/disruption.go.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final

from shared.core.cluster.pod import Phase, Pod, PodClass
from shared.core.cluster.selectors import Labels
from shared.core.cluster.workloads import UNKNOWN, PodDisruptionBudget, Workload
from shared.core.policy import DrainSettings, PodRules, PoolPolicy
from shared.core.reasons import Finding, PodBlock
from shared.core.rules.unmodelled import VolumeFacts

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


_MANY: Final = 10**6  # More replicas than any workload has: what a budget refuses of these it refuses of any number.


def several_pdbs(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    matching = context.budgets_of(spec)
    if len(matching) > 1:
        yield Finding(PodBlock.SEVERAL_PDBS, ", ".join(budget.key for budget in matching))


def pdb_exhausted(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    """Several pods under one PDB that allows one are no block: they are drained in turns."""
    if pod.phase is Phase.PENDING or pod.deleting is not None:
        return ()  # the eviction API asks no PDB for these
    workload = context.workload_of(pod.spec)
    shut = (budget for budget in context.budgets_of(pod.spec) if not lets_go(budget, pod))
    return [Finding(never_allows(budget, workload) or PodBlock.PDB_EXHAUSTED, _state(budget)) for budget in shut]


def lets_go(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """Whether the eviction API would let a running pod go now."""
    # A pod that is not Ready takes nothing from the budget: `AlwaysAllow` lets it go, and `IfHealthyBudget` does
    # while as many as must stay are healthy. A status of an older spec allows nothing else.
    enough = budget.always_evict_unhealthy or budget.current_healthy >= budget.desired_healthy > 0
    return (enough and not pod.ready) or (budget.observed and budget.disruptions_allowed > 0)


def never_allows(budget: PodDisruptionBudget, workload: Workload) -> PodBlock | None:
    """Return why the budget could not allow a disruption even with all pods healthy; None if it could."""
    # An integer minAvailable is compared with the pods that there are, or with those that the workload wants where
    # that is more: a replica that is only being replaced makes no budget unsatisfiable.
    counted = budget.expected_pods if budget.observed else 0
    pods = max(counted, workload.wanted or 0) or _MANY
    # Pods that are there and expected by no controller have none, or one whose scale counts none.
    counts_nobody = budget.observed and budget.expected_pods == 0 < budget.current_healthy and workload.wanted is None
    if budget.fault or counts_nobody:
        return PodBlock.PDB_UNCOUNTED
    return PodBlock.PDB_NEVER_ALLOWS if budget.must_stay(pods) >= pods else None


def _state(budget: PodDisruptionBudget) -> str:
    if budget.fault:
        return f"{budget.key}: {budget.fault}"
    if not budget.observed:
        return f"{budget.key}, changed and not yet looked at by its controller"
    healthy = f"{budget.current_healthy} of {budget.expected_pods} healthy"
    return f"{budget.key}, {healthy}, {budget.desired_healthy} must stay"
