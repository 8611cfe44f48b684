"""May this pod be moved off its node? Ordered rules; the tuples below are the policy, read them first.

The rules are the cluster autoscaler's (simulator/drainability/rules), because a node with a pod that blocks
the autoscaler would be drained in vain, with the settings of this policy and GKE's flags. All blockers of a
pod are kept for the explanation; the first names its verdict. Must not ask whether there is room elsewhere.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.pod_kinds import is_daemon, is_finished, is_mirror
from shared.core.cluster.selectors import NO_SCHEDULE, Taint
from shared.core.cluster.snapshot import Pod, PodClass, PodDisruptionBudget, Volume
from shared.core.cluster.workloads import UNKNOWN, Workload
from shared.core.policy import (
    DrainSettings,
    KubeSystemPods,
    LocalStorage,
    LongGrace,
    PodRules,
    PoolPolicy,
    SingleReplicas,
)
from shared.core.reasons import Blocker, Finding, PodBlock
from shared.core.rules.do_not_disrupt import pod_opt_out
from shared.core.rules.unmodelled import unmodelled
from shared.core.rules.workload_rules import WORKLOAD_RULES, WorkloadContext, is_single, too_few_available, too_young

REPLICATED: Final = frozenset({"ReplicationController", "Job", "ReplicaSet", "StatefulSet"})
"""Controllers that create a pod again; others the cluster autoscaler does not trust to (rule Replicated)."""
KUBE_SYSTEM: Final = "kube-system"
STUCK_AFTER: Final = timedelta(seconds=30)
"""A pod that outlives its deletion by grace + 30 s is left to die where it is (rule LongTerminating)."""
PASSES_BY_ITSELF: Final = frozenset(
    {PodBlock.JOB_RUNNING, PodBlock.ROLLING_OUT, PodBlock.TOO_YOUNG_POD, PodBlock.STILL_TERMINATING}
)
"""Blocks that only ask to come again later."""
WAITS: Final = PASSES_BY_ITSELF | {PodBlock.WAITS_FOR_COMPLETION}


@dataclass(frozen=True)
class DrainContext:
    """What the rules know besides the pod: the PDBs, the settings of the node's pool, the time and the workloads.

    Answers that only depend on a pod's class are remembered, so keep one context for a pool and a pass.
    """

    disruption_budgets: tuple[PodDisruptionBudget, ...]
    policy: PoolPolicy | PodRules
    now: datetime
    workloads: Mapping[str, Workload] = field(default_factory=dict)
    drain: DrainSettings = field(default_factory=DrainSettings)
    """How long a drain lasts, and the grace that an eviction asks for at most."""
    _budgets: dict[PodClass, tuple[PodDisruptionBudget, ...]] = field(default_factory=dict, repr=False, compare=False)
    _findings: dict[PodClass, tuple[Finding, ...]] = field(default_factory=dict, repr=False, compare=False)
    _short: dict[PodClass, Finding | None] = field(default_factory=dict, repr=False, compare=False)
    _by_namespace: dict[str, list[PodDisruptionBudget]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for budget in self.disruption_budgets:
            self._by_namespace.setdefault(budget.namespace, []).append(budget)

    def budgets_of(self, spec: PodClass) -> tuple[PodDisruptionBudget, ...]:
        """Return the PDBs that match a pod."""
        if spec not in self._budgets:
            near = self._by_namespace.get(spec.namespace, ())
            self._budgets[spec] = tuple(budget for budget in near if budget.matches(spec))
        return self._budgets[spec]

    def findings_of(self, spec: PodClass) -> tuple[Finding, ...]:
        """Return what blocks every pod of a class, in the order of the rules."""
        if spec not in self._findings:
            own = (finding for rule in BLOCKING_BY_CLASS for finding in rule(spec, self))
            guards = (finding for guard in WORKLOAD_RULES for finding in guard(self.workload_context(spec)))
            self._findings[spec] = (*own, *guards, *unmodelled(spec))
        return self._findings[spec]

    def short_of(self, spec: PodClass) -> Finding | None:
        """Return what keeps every Ready pod of a class while too many of its workload are away."""
        if spec not in self._short:
            self._short[spec] = too_few_available(self.workload_context(spec))
        return self._short[spec]

    def workload_context(self, spec: PodClass) -> WorkloadContext:
        workload = self.workloads.get(spec.workload, UNKNOWN)
        return WorkloadContext(spec, workload, self.policy, protected=bool(self.budgets_of(spec)))


def _long_terminating(pod: Pod, now: datetime) -> bool:
    if pod.deleting is None:
        return False
    return pod.deleting + timedelta(seconds=pod.spec.grace_seconds) + STUCK_AFTER < now


def _not_safe_to_evict(spec: PodClass, _: DrainContext) -> Iterable[Finding]:
    if spec.annotations.get(names.SAFE_TO_EVICT) == "false":
        yield Finding(PodBlock.NOT_SAFE_TO_EVICT, f"{names.SAFE_TO_EVICT}=false")


def _on_completion(spec: PodClass, _: DrainContext) -> Iterable[Finding]:
    if spec.annotations.get(names.SAFE_TO_EVICT) == "on-completion":
        yield Finding(PodBlock.WAITS_FOR_COMPLETION, f"{names.SAFE_TO_EVICT}=on-completion")


def _not_replicated(spec: PodClass, _: DrainContext) -> Iterable[Finding]:
    """Block even what is safe to evict: nothing would create the pod again (docs/decisions/predecessors.md)."""
    if spec.owner is None:
        yield Finding(PodBlock.NOT_REPLICATED, "no controller")
    elif spec.owner.kind not in REPLICATED:
        yield Finding(PodBlock.NOT_REPLICATED, f"{spec.owner.kind} {spec.owner.name}")


def _kube_system(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """Under `evict` we move these pods ourselves, so the autoscaler's PDB-or-one-hour rule finds none of them."""
    left = context.policy.kube_system_pods is KubeSystemPods.LEAVE
    if left and spec.namespace == KUBE_SYSTEM and not _safe_to_evict(spec):
        yield Finding(PodBlock.KUBE_SYSTEM)


def _local_storage(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """Keep local data; kube-system's is scratch space, as in estafette (docs/decisions/predecessors.md)."""
    if context.policy.local_storage is LocalStorage.EVICT or _safe_to_evict(spec) or spec.namespace == KUBE_SYSTEM:
        return
    # The autoscaler splits this list at commas without trimming; so do we, or it would block where we do not.
    safe = spec.annotations.get(names.SAFE_LOCAL_VOLUMES, "").split(",")
    kept = [volume.name for volume in spec.volumes if _keeps_data(volume) and volume.name not in safe]
    if kept:
        yield Finding(PodBlock.LOCAL_STORAGE, ", ".join(kept))


def _keeps_data(volume: Volume) -> bool:
    return volume.kind == "hostPath" or (volume.kind == "emptyDir" and volume.detail != "Memory")


def _several_pdbs(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    matching = context.budgets_of(spec)
    if len(matching) > 1:
        yield Finding(PodBlock.SEVERAL_PDBS, ", ".join(budget.key for budget in matching))


def _grace_too_long(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """GKE's autoscaler gives a pod up to an hour; a drain of ours ends in minutes."""
    most = context.drain.max_grace.total_seconds()
    if context.policy.long_grace is LongGrace.KEEP and spec.grace_seconds > most:
        yield Finding(PodBlock.GRACE_TOO_LONG, f"{spec.grace_seconds} s of {most:g} s")


def _comes_back(spec: PodClass, _: DrainContext) -> Iterable[Finding]:
    """Block what our taint does not keep away; a cordon alone the autoscaler may lift."""
    taint = Taint(names.OUR_TAINT, NO_SCHEDULE, "order")
    if any(toleration.tolerates(taint) for toleration in spec.tolerations):
        yield Finding(PodBlock.TOLERATES_DRAIN_TAINT)


def _do_not_disrupt(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    opt_out = pod_opt_out(pod.spec.annotations, pod.spec.labels, pod.started, context.now)
    if opt_out is not None:
        yield Finding(PodBlock.DO_NOT_DISRUPT, opt_out)


def _still_terminating(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    """Whoever deleted the pod gave it longer than a drain lasts, which could only fail on it."""
    if pod.deleting is not None and pod.deleting - context.now > longest_drain(pod.spec, context.drain):
        yield Finding(PodBlock.STILL_TERMINATING, f"until {pod.deleting.isoformat()}")


def longest_drain(spec: PodClass, drain: DrainSettings) -> timedelta:
    """Return how long a drain waits for a pod of that class: the timeout and its grace, capped.

    See docs/acceptance.md row 89.
    """
    return drain.timeout + min(timedelta(seconds=spec.grace_seconds), drain.max_grace)


def _pdb_exhausted(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    """Several pods under one PDB that allows one are no block: they are drained in turns."""
    for budget in context.budgets_of(pod.spec):
        evictable_as_unhealthy = budget.always_evict_unhealthy and not pod.ready
        if budget.disruptions_allowed < 1 and not evictable_as_unhealthy:
            yield Finding(PodBlock.PDB_EXHAUSTED, budget.key)


def _too_few_available(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    """A pod that is not Ready, or leaves anyway, is away already."""
    short = context.short_of(pod.spec) if pod.ready and pod.deleting is None else None
    if short is not None:
        yield short


def _too_young(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    return too_young(pod, context.policy, context.now)


INTERRUPTING: Final[tuple[Callable[[Pod, datetime], bool], ...]] = (
    lambda pod, _: is_mirror(pod.spec),
    _long_terminating,
    lambda pod, _: is_daemon(pod.spec),
    lambda pod, _: is_finished(pod),
)
"""A pod that one of these matches is skipped, whatever else is true of it."""
BLOCKING_BY_CLASS: Final[tuple[Callable[[PodClass, DrainContext], Iterable[Finding]], ...]] = (
    _not_safe_to_evict,
    _not_replicated,
    _kube_system,
    _local_storage,
    _several_pdbs,
    _on_completion,
    _grace_too_long,
    _comes_back,
)
"""What blocks all pods of a kind; the rules of its workload (`WORKLOAD_RULES`) and what the placement does not model
(`unmodelled.UNMODELLED`) follow them."""
BLOCKING_BY_POD: Final[tuple[Callable[[Pod, DrainContext], Iterable[Finding]], ...]] = (
    _do_not_disrupt,
    _still_terminating,
    _pdb_exhausted,
    _too_few_available,
    _too_young,
)
"""What blocks this one pod now."""


def _safe_to_evict(spec: PodClass) -> bool:
    return spec.annotations.get(names.SAFE_TO_EVICT) == "true"


def skipped(pod: Pod, now: datetime) -> bool:
    """Whether the pod stays with its node: mirror, DaemonSet, finished, or dying for too long."""
    return any(rule(pod, now) for rule in INTERRUPTING)


def movable(pods: Iterable[Pod], now: datetime) -> tuple[Pod, ...]:
    """Return the pods that a drain must evict and that need a place elsewhere."""
    return tuple(pod for pod in pods if not skipped(pod, now))


def judge(pod: Pod, context: DrainContext) -> tuple[Blocker, ...]:
    """Return everything that keeps the pod; nothing keeps one that is skipped."""
    if skipped(pod, context.now):
        return ()
    by_pod = (finding for rule in BLOCKING_BY_POD for finding in rule(pod, context))
    findings = (*context.findings_of(pod.spec), *by_pod)
    return tuple(Blocker(finding.reason, pod.key, finding.detail) for finding in findings)


def blockers(pods: Iterable[Pod], context: DrainContext) -> tuple[Blocker, ...]:
    """Return everything that keeps these pods, in the order of the pods."""
    return tuple(blocker for pod in pods for blocker in judge(pod, context))


def avoided(pods: Iterable[Pod], context: DrainContext) -> bool:
    """Whether the node of these pods goes after all others, for a single replica on it (singleReplicas: avoid)."""
    if context.policy.single_replicas is not SingleReplicas.AVOID:
        return False
    rows = (context.workload_context(pod.spec) for pod in movable(pods, context.now))
    return any(is_single(each.spec, each.workload) for each in rows)
