"""What PodDisruptionBudgets keep: the eviction API's own answer, and whether it could ever be another.

A PDB that allows nothing now keeps a node for now; one that asks for all of its pods, or whose pods its controller
cannot count, keeps it until its owner fixes it.
The cluster autoscaler looks at `disruptionsAllowed` alone; so does the node that is empty at last, and until then
the eviction API decides.
Source: kubernetes, registry/core/pod/storage/eviction.go; controller/disruption/disruption.go.
"""

from collections.abc import Iterable
from typing import Final

from shared.core.cluster.pod import Phase, Pod, PodClass
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.reasons import Finding, PodBlock
from shared.core.rules.drain_context import DrainContext

_MANY: Final = 10**6
"""More replicas than any workload has: what a budget refuses of these it refuses of any number."""


def several_pdbs(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    matching = context.budgets_of(spec)
    if len(matching) > 1:
        yield Finding(PodBlock.SEVERAL_PDBS, ", ".join(budget.key for budget in matching))


def pdb_exhausted(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    """Several pods under one PDB that allows one are no block: they are drained in turns."""
    if pod.phase is Phase.PENDING or pod.deleting is not None:
        return ()  # the eviction API asks no PDB for these
    workload = context.workload_of(pod.spec)
    return [_shut_budget(budget, workload) for budget in context.budgets_of(pod.spec) if not lets_go(budget, pod)]


def _shut_budget(budget: PodDisruptionBudget, workload: Workload) -> Finding:
    return Finding(never_allows(budget, workload) or PodBlock.PDB_EXHAUSTED, _state(budget))


def lets_go(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """Whether the eviction API would let a running pod go now.

    A pod that is not Ready takes nothing from the budget: `AlwaysAllow` lets it go, and `IfHealthyBudget` does while
    as many as must stay are healthy. A status of an older spec allows nothing else.
    """
    if not pod.ready:
        enough = budget.current_healthy >= budget.desired_healthy > 0
        if budget.always_evict_unhealthy or enough:
            return True
    return budget.observed and budget.disruptions_allowed > 0


def never_allows(budget: PodDisruptionBudget, workload: Workload) -> PodBlock | None:
    """Return why the budget could not allow a disruption even with all pods healthy; None if it could.

    An integer minAvailable is compared with the pods that there are (expectedPods), or with those that the workload
    wants where that is more: a replica that is only being replaced makes no budget unsatisfiable.
    """
    counted = budget.expected_pods if budget.observed else 0
    pods = max(counted, workload.wanted or 0) or _MANY
    if budget.fault or _counts_nobody(budget, workload):
        return PodBlock.PDB_UNCOUNTED
    return PodBlock.PDB_NEVER_ALLOWS if budget.must_stay(pods) >= pods else None


def _counts_nobody(budget: PodDisruptionBudget, workload: Workload) -> bool:
    """Whether its pods are there and expected by no controller: they have none, or one whose scale counts none.

    Pods of a workload that is known are expected, or about to go with its last replica.
    """
    return budget.observed and budget.expected_pods == 0 < budget.current_healthy and workload.wanted is None


def _state(budget: PodDisruptionBudget) -> str:
    if budget.fault:
        return f"{budget.key}: {budget.fault}"
    if not budget.observed:
        return f"{budget.key}, changed and not yet looked at by its controller"
    return (
        f"{budget.key}, {budget.current_healthy} of {budget.expected_pods} healthy, {budget.desired_healthy} must stay"
    )
