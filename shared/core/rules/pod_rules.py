"""The single rules about pods and what stands behind them: each answers for itself alone what keeps a pod."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.selectors import NO_LABELS
from shared.core.cluster.templates import DRAIN_TAINT
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.policy import DrainSettings, Jobs, KubeSystemPods, LocalStorage, LongGrace, SingleReplicas
from shared.core.reasons import Finding, PodBlock
from shared.core.rules.do_not_disrupt import pod_opt_out
from shared.core.rules.drain_context import DrainContext

REPLICATED: Final = frozenset({"ReplicationController", "Job", "ReplicaSet", "StatefulSet"})
"""Controllers that create a pod again; others the cluster autoscaler does not trust to (rule Replicated)."""
STUCK_AFTER: Final = timedelta(seconds=30)
"""A pod that outlives its deletion by grace + 30 s is left to die where it is (rule LongTerminating)."""


def long_terminating(pod: Pod, now: datetime) -> bool:
    if pod.deleting is None:
        return False
    return pod.deleting + timedelta(seconds=pod.spec.grace_seconds) + STUCK_AFTER < now


def not_safe_to_evict(spec: PodClass, _: DrainContext) -> Iterable[Finding]:
    if spec.annotations.get(names.SAFE_TO_EVICT) == "false":
        yield Finding(PodBlock.NOT_SAFE_TO_EVICT, f"{names.SAFE_TO_EVICT}=false")


def namespace_closed(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """Keep what `infra/admission.yaml` would not let the drainer evict."""
    labels = context.namespaces.get(spec.namespace, NO_LABELS)
    if labels.get(names.EVICTIONS_LABEL) == "never":
        yield Finding(PodBlock.NAMESPACE_CLOSED, f"{names.EVICTIONS_LABEL}=never on {spec.namespace}")


def names_responders(spec: PodClass, _: DrainContext) -> Iterable[Finding]:
    """Keep pods that name responders: the Eviction API ignores these, and only a controller in a cluster asks them."""
    if spec.eviction_responders:
        yield Finding(PodBlock.EVICTION_RESPONDERS, ", ".join(spec.eviction_responders))


def on_completion(spec: PodClass, _: DrainContext) -> Iterable[Finding]:
    if spec.annotations.get(names.SAFE_TO_EVICT) == "on-completion":
        yield Finding(PodBlock.WAITS_FOR_COMPLETION, f"{names.SAFE_TO_EVICT}=on-completion")


def not_replicated(spec: PodClass, _: DrainContext) -> Iterable[Finding]:
    """Block even what is safe to evict: nothing would create the pod again (docs/decisions/predecessors.md)."""
    if spec.owner is None:
        yield Finding(PodBlock.NOT_REPLICATED, "no controller")
    elif spec.owner.kind not in REPLICATED:
        yield Finding(PodBlock.NOT_REPLICATED, f"{spec.owner.kind} {spec.owner.name}")


def not_admitted(spec: PodClass, _: DrainContext) -> Iterable[Finding]:
    """Keep what its namespace would not let in again (docs/decisions/returns.md)."""
    for why in spec.refused_by:
        yield Finding(PodBlock.NOT_ADMITTED, why)


def kube_system(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """Under `evict` we move these pods ourselves, so the autoscaler's PDB-or-one-hour rule finds none of them."""
    left = context.policy.kube_system_pods is KubeSystemPods.LEAVE
    if left and spec.namespace == names.KUBE_SYSTEM and not is_safe_to_evict(spec):
        yield Finding(PodBlock.KUBE_SYSTEM)


def local_storage(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """Keep local data; kube-system's is scratch space, as in estafette (docs/decisions/predecessors.md)."""
    evicted = context.policy.local_storage is LocalStorage.EVICT or spec.namespace == names.KUBE_SYSTEM
    if evicted or is_safe_to_evict(spec):
        return
    # The autoscaler splits this list at commas without trimming; so do we, or it would block where we do not.
    safe = spec.annotations.get(names.SAFE_LOCAL_VOLUMES, "").split(",")
    local = [
        row for row in spec.volumes if row.kind == "hostPath" or (row.kind == "emptyDir" and row.detail != "Memory")
    ]
    if kept := [volume.name for volume in local if volume.name not in safe]:
        yield Finding(PodBlock.LOCAL_STORAGE, ", ".join(kept))


def grace_too_long(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """GKE's autoscaler gives a pod up to an hour; a drain of ours ends in minutes."""
    most = context.drain.max_grace.total_seconds()
    if context.policy.long_grace is LongGrace.KEEP and spec.grace_seconds > most:
        yield Finding(PodBlock.GRACE_TOO_LONG, f"{spec.grace_seconds} s of {most:g} s")


def comes_back(spec: PodClass, _: DrainContext) -> Iterable[Finding]:
    """Block what our taint does not keep away; a cordon alone the autoscaler may lift."""
    if any(toleration.tolerates(DRAIN_TAINT) for toleration in spec.tolerations):
        detail = "tolerations of its template" if "tolerations" in spec.template_adds else ""
        yield Finding(PodBlock.TOLERATES_DRAIN_TAINT, detail)


def do_not_disrupt(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    opt_out = pod_opt_out(pod.spec.annotations, pod.spec.labels, pod.started, context.now)
    return () if opt_out is None else (Finding(PodBlock.DO_NOT_DISRUPT, opt_out),)


def still_terminating(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    """Its deletion lasts longer than a drain, which could only fail."""
    if pod.deleting is None or pod.deleting - context.now <= longest_drain(pod.spec, context.drain):
        return ()
    return (Finding(PodBlock.STILL_TERMINATING, f"until {pod.deleting.isoformat()}"),)


def longest_drain(spec: PodClass, drain: DrainSettings) -> timedelta:
    """Return how long a drain waits for a pod: the timeout and its grace, capped (docs/acceptance.md row 89)."""
    return drain.timeout + min(timedelta(seconds=spec.grace_seconds), drain.max_grace)


def is_safe_to_evict(spec: PodClass) -> bool:
    return spec.annotations.get(names.SAFE_TO_EVICT) == "true"


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
        yield Finding(PodBlock.ROLLING_OUT, f"{workload.name}{_why_halted(workload.deployment)}")


def _why_halted(deployment: Deployment | None) -> str:
    """Return why a rollout does not go on by itself, in words; empty where it does, as far as is known."""
    if deployment is None:
        return ""
    return ", paused" if deployment.paused else "" if deployment.progressing else ", past its progress deadline"


def too_few_available(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    """A pod that is not Ready, or leaves anyway, is away already."""
    short = shortage(pod.spec, context) if pod.ready and pod.deleting is None else None
    return () if short is None else (short,)


def shortage(spec: PodClass, context: DrainContext) -> Finding | None:
    """Refuse if no Ready pod of the workload may go now, as a PodDisruptionBudget would."""
    # docs/decisions/evictions.md.
    workload = context.workload_of(spec)
    if context.budgets_of(spec) or workload.replicas_away is None:
        return None
    most = workload.may_be_away(context.policy.unprotected)
    detail = f"{workload.name}: {workload.replicas_away} of {workload.wanted} away, {most} may be"
    return Finding(PodBlock.TOO_FEW_AVAILABLE, detail) if workload.replicas_away >= most else None


def too_young(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    """Let a pod settle first; at exactly minimumPodAge it may go. A pod that is leaving anyway keeps nothing."""
    minimum = context.policy.minimum_pod_age
    if not minimum or pod.created is None or pod.deleting is not None or context.now - pod.created >= minimum:
        return ()
    age = int((context.now - pod.created).total_seconds())
    return (Finding(PodBlock.TOO_YOUNG_POD, f"{age} s of {minimum.total_seconds():g} s"),)
