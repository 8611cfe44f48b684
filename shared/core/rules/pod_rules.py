"""The single rules about pods: each says for itself alone what keeps a pod. `pods` lists them in order.

Must not ask what stands behind the pod (`workload_rules`), nor whether there is room elsewhere.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.pod import Pod, PodClass, Volume
from shared.core.cluster.selectors import NO_LABELS, NO_SCHEDULE, Taint
from shared.core.policy import DrainSettings, KubeSystemPods, LocalStorage, LongGrace
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
    """Keep what the Eviction API would take past those whom it names: only a controller of a cluster asks them."""
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
    if left and spec.namespace == names.KUBE_SYSTEM and not _safe_to_evict(spec):
        yield Finding(PodBlock.KUBE_SYSTEM)


def local_storage(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """Keep local data; kube-system's is scratch space, as in estafette (docs/decisions/predecessors.md)."""
    if (
        context.policy.local_storage is LocalStorage.EVICT
        or _safe_to_evict(spec)
        or spec.namespace == names.KUBE_SYSTEM
    ):
        return
    # The autoscaler splits this list at commas without trimming; so do we, or it would block where we do not.
    safe = spec.annotations.get(names.SAFE_LOCAL_VOLUMES, "").split(",")
    kept = [volume.name for volume in spec.volumes if _keeps_data(volume) and volume.name not in safe]
    if kept:
        yield Finding(PodBlock.LOCAL_STORAGE, ", ".join(kept))


def _keeps_data(volume: Volume) -> bool:
    return volume.kind == "hostPath" or (volume.kind == "emptyDir" and volume.detail != "Memory")


def grace_too_long(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """GKE's autoscaler gives a pod up to an hour; a drain of ours ends in minutes."""
    most = context.drain.max_grace.total_seconds()
    if context.policy.long_grace is LongGrace.KEEP and spec.grace_seconds > most:
        yield Finding(PodBlock.GRACE_TOO_LONG, f"{spec.grace_seconds} s of {most:g} s")


def comes_back(spec: PodClass, _: DrainContext) -> Iterable[Finding]:
    """Block what our taint does not keep away; a cordon alone the autoscaler may lift."""
    taint = Taint(names.OUR_TAINT, NO_SCHEDULE, "order")
    if any(toleration.tolerates(taint) for toleration in spec.tolerations):
        yield Finding(PodBlock.TOLERATES_DRAIN_TAINT)


def do_not_disrupt(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    opt_out = pod_opt_out(pod.spec.annotations, pod.spec.labels, pod.started, context.now)
    if opt_out is not None:
        yield Finding(PodBlock.DO_NOT_DISRUPT, opt_out)


def still_terminating(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    """Whoever deleted the pod gave it longer than a drain lasts, which could only fail on it."""
    if pod.deleting is not None and pod.deleting - context.now > longest_drain(pod.spec, context.drain):
        yield Finding(PodBlock.STILL_TERMINATING, f"until {pod.deleting.isoformat()}")


def longest_drain(spec: PodClass, drain: DrainSettings) -> timedelta:
    """Return how long a drain waits for a pod of that class: the timeout and its grace, capped.

    See docs/acceptance.md row 89.
    """
    return drain.timeout + min(timedelta(seconds=spec.grace_seconds), drain.max_grace)


def _safe_to_evict(spec: PodClass) -> bool:
    return spec.annotations.get(names.SAFE_TO_EVICT) == "true"
