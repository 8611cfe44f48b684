"""The rules that a policy may set for whole workloads: single replicas, Jobs, young pods, rollouts, lost replicas.

Users of Karpenter and of the cluster autoscaler have long asked for them; each answers for itself alone. A workload
that is not known is not kept. Must not ask whether there is room elsewhere.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.core.cluster.snapshot import Pod, PodClass
from shared.core.cluster.workloads import Workload
from shared.core.policy import Jobs, PodRules, PoolPolicy, SingleReplicas
from shared.core.reasons import Finding, PodBlock

JOB: Final = "Job"


@dataclass(frozen=True, slots=True)
class WorkloadContext:
    """Pods of one kind, what stands behind them, and the settings of the node's pool."""

    spec: PodClass
    workload: Workload
    policy: PoolPolicy | PodRules
    protected: bool
    """Whether a PodDisruptionBudget speaks for the pods."""


def _is_job(spec: PodClass) -> bool:
    return spec.owner is not None and spec.owner.kind == JOB


def is_single(spec: PodClass, workload: Workload) -> bool:
    """Whether the pod is all there is of its workload; a Job's pods are the Job setting's alone."""
    return workload.single and not _is_job(spec)


def _single_replica(context: WorkloadContext) -> Iterable[Finding]:
    if context.policy.single_replicas is SingleReplicas.NEVER and is_single(context.spec, context.workload):
        yield Finding(PodBlock.SINGLE_REPLICA, context.workload.name)


def _job(context: WorkloadContext) -> Iterable[Finding]:
    """Keep the work done so far: an evicted pod begins again, and a Job that allows no failure fails for good."""
    if context.spec.owner is None or not _is_job(context.spec) or context.policy.jobs is Jobs.MOVE:
        return
    reason = PodBlock.JOB if context.policy.jobs is Jobs.NEVER else PodBlock.JOB_RUNNING
    yield Finding(reason, context.spec.owner.name)


def _rolling_out(context: WorkloadContext) -> Iterable[Finding]:
    if context.workload.rolling:
        yield Finding(PodBlock.ROLLING_OUT, context.workload.name)


WORKLOAD_RULES: Final[tuple[Callable[[WorkloadContext], Iterable[Finding]], ...]] = (
    _single_replica,
    _job,
    _rolling_out,
)
"""What keeps all pods of a kind."""


def too_few_available(context: WorkloadContext) -> Finding | None:
    """Say that no Ready pod of the workload may go now, as a PodDisruptionBudget would.

    See docs/decisions/unprotected.md.
    """
    away = context.workload.away
    if context.protected or away is None:
        return None
    most = context.workload.may_be_away(context.policy.unprotected)
    detail = f"{context.workload.name}: {away} of {context.workload.wanted} away, {most} may be"
    return Finding(PodBlock.TOO_FEW_AVAILABLE, detail) if away >= most else None


def too_young(pod: Pod, policy: PoolPolicy | PodRules, now: datetime) -> Iterable[Finding]:
    """Let a pod settle first; at exactly minimumPodAge it may go. A pod that is leaving anyway keeps nothing."""
    minimum = policy.minimum_pod_age
    if not minimum or pod.created is None or pod.deleting is not None or now - pod.created >= minimum:
        return
    age = int((now - pod.created).total_seconds())
    yield Finding(PodBlock.TOO_YOUNG_POD, f"{age} s of {minimum.total_seconds():g} s")
