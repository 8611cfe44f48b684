"""What PodDisruptionBudgets keep: the eviction API's own answer, and whether it could ever be another.

A PDB that allows nothing now keeps a node for now; one that asks for all of its pods, or whose pods its controller
cannot count, keeps it until its owner fixes it.
Source: kubernetes, registry/core/pod/storage/eviction.go; controller/disruption/disruption.go.
"""

from collections.abc import Iterable
from typing import Final

from shared.core.cluster.pod import Phase, Pod, PodClass
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.reasons import Finding, PodBlock
from shared.core.rules.drain_context import DrainContext

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
