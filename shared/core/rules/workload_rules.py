"""The rules that a policy may set for whole workloads: single replicas, Jobs, young pods, rollouts, lost replicas.

Users of Karpenter and of the cluster autoscaler have long asked for them; each answers for itself alone. A workload
that is not known is not kept. `pods` lists them in order.
Must not ask whether there is room elsewhere.
"""

from collections.abc import Iterable
from typing import Final

from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.workloads import Workload
from shared.core.policy import Jobs, SingleReplicas
from shared.core.reasons import Finding, PodBlock
from shared.core.rules.drain_context import DrainContext

JOB: Final = "Job"


def _is_job(spec: PodClass) -> bool:
    return spec.owner is not None and spec.owner.kind == JOB


def is_single(spec: PodClass, workload: Workload) -> bool:
    """Whether the pod is all there is of its workload; a Job's pods are the Job setting's alone."""
    return workload.single and not _is_job(spec)


def single_replica(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    workload = context.workload_of(spec)
    if context.policy.single_replicas is SingleReplicas.NEVER and is_single(spec, workload):
        yield Finding(PodBlock.SINGLE_REPLICA, workload.name)


def job(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """Keep the work done so far: an evicted pod begins again, and a Job that allows no failure fails for good."""
    if spec.owner is None or not _is_job(spec) or context.policy.jobs is Jobs.MOVE:
        return
    reason = PodBlock.JOB if context.policy.jobs is Jobs.NEVER else PodBlock.JOB_RUNNING
    yield Finding(reason, spec.owner.name)


def rolling_out(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    workload = context.workload_of(spec)
    if workload.rolling:
        yield Finding(PodBlock.ROLLING_OUT, workload.name)


def too_few_available(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    """A pod that is not Ready, or leaves anyway, is away already."""
    short = shortage(pod.spec, context) if pod.ready and pod.deleting is None else None
    if short is not None:
        yield short


def shortage(spec: PodClass, context: DrainContext) -> Finding | None:
    """Say that no Ready pod of the workload may go now, as a PodDisruptionBudget would.

    See docs/decisions/evictions.md.
    """
    if spec not in context.shortages:
        context.shortages[spec] = _shortage(spec, context)
    return context.shortages[spec]


def _shortage(spec: PodClass, context: DrainContext) -> Finding | None:
    workload = context.workload_of(spec)
    if context.is_protected(spec) or workload.away is None:
        return None
    most = workload.may_be_away(context.policy.unprotected)
    detail = f"{workload.name}: {workload.away} of {workload.wanted} away, {most} may be"
    return Finding(PodBlock.TOO_FEW_AVAILABLE, detail) if workload.away >= most else None


def too_young(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    """Let a pod settle first; at exactly minimumPodAge it may go. A pod that is leaving anyway keeps nothing."""
    minimum = context.policy.minimum_pod_age
    if not minimum or pod.created is None or pod.deleting is not None or context.now - pod.created >= minimum:
        return
    age = int((context.now - pod.created).total_seconds())
    yield Finding(PodBlock.TOO_YOUNG_POD, f"{age} s of {minimum.total_seconds():g} s")
