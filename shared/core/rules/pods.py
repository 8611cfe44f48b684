"""May this pod be moved off its node? Ordered rules; the two tuples below are the policy, read them first.

The rules are the cluster autoscaler's (simulator/drainability/rules), because a node with a pod that blocks it would
be drained in vain. All blockers of a pod are kept for the explanation; the first names its verdict.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

from shared.core.cluster.pod import Phase, Pod, PodClass
from shared.core.policy import SingleReplicas
from shared.core.reasons import Blocker, Finding
from shared.core.rules import pod_rules as rules
from shared.core.rules.drain_context import DrainContext, pdb_exhausted, several_pdbs
from shared.core.rules.surges import cannot_surge, is_surged, restart_together
from shared.core.rules.unmodelled import find_unmodelled


def lacks_replicas(pod: Pod, context: DrainContext) -> Iterable[Finding]:
    """Ask what limits how many may be away; of what is moved without a gap none ever is."""
    alike = pod.spec, pod.ready, pod.phase is Phase.PENDING, pod.deleting is None
    if alike not in context.shortages:
        surged = is_surged(pod.spec, context)
        found = () if surged else (*pdb_exhausted(pod, context), *rules.too_few_available(pod, context))
        context.shortages[alike] = found
    return context.shortages[alike]


CLASS_RULES: Final[tuple[Callable[[PodClass, DrainContext], Iterable[Finding]], ...]] = (
    # what the autoscaler would not move, or nobody would bring back
    rules.not_safe_to_evict, rules.not_replicated, rules.not_admitted, rules.kube_system, rules.local_storage,
    several_pdbs, rules.on_completion,
    # what the drainer may not evict
    rules.namespace_closed, rules.names_responders,
    # what a drain could not end
    rules.grace_too_long, rules.comes_back,
    # what the policy keeps of whole workloads
    rules.single_replica, cannot_surge, rules.job, rules.rolling_out,
    # what the proof of placement does not model (`unmodelled.UNMODELLED`, `unmodelled.VOLUME_BLOCKS`)
    lambda spec, context: find_unmodelled(spec, context.volumes),
)  # fmt: skip
"""What blocks all pods of a class."""
POD_RULES: Final[tuple[Callable[[Pod, DrainContext], Iterable[Finding]], ...]] = (
    # what was asked for this pod, and what has begun
    rules.do_not_disrupt, rules.still_terminating,
    # how many may be away
    lacks_replicas,
    # its age
    rules.too_young,
)  # fmt: skip
"""What blocks this one pod now."""


def stays_with_node(pod: Pod, now: datetime) -> bool:
    """Whether the pod stays with its node, whatever else is true: mirror, DaemonSet, finished, dying too long."""
    return pod.spec.stays or pod.phase.finished or rules.long_terminating(pod, now)


def movable(pods: Iterable[Pod], now: datetime) -> tuple[Pod, ...]:
    """Return the pods that a drain must evict and that need a place elsewhere."""
    return tuple(pod for pod in pods if not stays_with_node(pod, now))


def judge(pod: Pod, context: DrainContext) -> tuple[Blocker, ...]:
    """Return everything that keeps the pod; nothing keeps one that is skipped."""
    return () if stays_with_node(pod, context.now) else _judge_moving(pod, context)


def _judge_moving(pod: Pod, context: DrainContext) -> tuple[Blocker, ...]:
    spec = pod.spec
    if spec not in context.class_findings:
        context.class_findings[spec] = tuple(finding for rule in CLASS_RULES for finding in rule(spec, context))
    found = [*context.class_findings[spec]]
    for rule in POD_RULES:
        found.extend(rule(pod, context))
    return tuple(Blocker(finding.reason, pod.key, finding.detail) for finding in found) if found else ()


def blockers(moving: Iterable[Pod], context: DrainContext) -> tuple[Blocker, ...]:
    """Return everything that keeps these pods, which are `movable`, in their order."""
    pods = tuple(moving)
    return (*(blocker for pod in pods for blocker in _judge_moving(pod, context)), *restart_together(pods, context))


def goes_last(moving: Iterable[Pod], context: DrainContext) -> bool:
    """Whether the node of these `movable` pods goes after all others, for a single replica (singleReplicas: avoid)."""
    if context.policy.single_replicas is not SingleReplicas.AVOID:
        return False
    return any(rules.is_single(pod.spec, context.workload_of(pod.spec)) for pod in moving)
