"""Which pods are moved without a gap or not at all: their Deployment starts others first, and nobody evicts them.

A rollout with maxUnavailable 0 ends an old pod only once a new one is available: a drain that restarts the Deployment
waits, and never asks for an eviction (docs/decisions/single-replicas.md).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.policy import SingleReplicas
from shared.core.reasons import Blocker, Finding, PodBlock
from shared.core.rules.drain_context import DrainContext, never_allows
from shared.core.rules.pod_rules import is_single
from shared.core.rules.unmodelled import held_by_one_node

ASKS: Final = "true"
FORBIDS: Final = "false"
START: Final = timedelta(minutes=2)
"""What a new pod takes to be scheduled, pulled and Ready, where nothing else is known."""


def is_surged(spec: PodClass, context: DrainContext) -> bool:
    """Whether the pod is moved without a gap or not at all: all there is of its workload, or under a shut PDB."""
    # Policy or annotation ask for it; `never` of the policy keeps single replicas whatever an annotation asks.
    if spec not in context.surged:
        workload = context.workload_of(spec)
        asked = _is_asked_for(workload, context.policy.single_replicas)
        context.surged[spec] = asked and (is_single(spec, workload) or _is_shut_in(spec, workload, context))
    return context.surged[spec]


def _is_asked_for(workload: Workload, setting: SingleReplicas) -> bool:
    """An annotation that cannot be read is no reason to make a gap."""
    if setting is SingleReplicas.SURGE:
        return True
    wish = workload.deployment.wish if workload.deployment else ""
    return setting is not SingleReplicas.NEVER and wish not in {"", FORBIDS}


def _is_shut_in(spec: PodClass, workload: Workload, context: DrainContext) -> bool:
    """Whether a PodDisruptionBudget never lets one of a Deployment's pods go."""
    budgets = context.budgets_of(spec) if workload.deployment is not None else ()
    return any(never_allows(budget, workload) for budget in budgets)


def surges_of(moving: Iterable[Pod], context: DrainContext) -> tuple[tuple[Deployment, ...], tuple[Pod, ...]]:
    found: dict[str, Deployment] = {}
    evicted: list[Pod] = []
    for pod in moving:
        deployment = context.workload_of(pod.spec).deployment
        if deployment is not None and pod.deleting is None and is_surged(pod.spec, context):
            found[deployment.name] = deployment
        else:
            evicted.append(pod)
    return tuple(found[name] for name in sorted(found)), tuple(evicted)


def cannot_surge(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    if not is_surged(spec, context):
        return
    workload = context.workload_of(spec)
    deployment = workload.deployment
    if deployment is None or spec.namespace == names.KUBE_SYSTEM:
        yield _impossible(f"{workload.name}: {'not a Deployment' if deployment is None else names.KUBE_SYSTEM}")
        return
    yield from deployment_findings(deployment)
    for rule in _OF_THE_POD:
        yield from rule(spec, context)


def _impossible(detail: str) -> Finding:
    return Finding(PodBlock.SURGE_IMPOSSIBLE, detail)


def deployment_findings(deployment: Deployment) -> Iterator[Finding]:
    if deployment.wish == FORBIDS:
        yield Finding(PodBlock.SURGE_FORBIDDEN, f"{names.SURGE}={FORBIDS}")
    elif deployment.wish not in {"", ASKS}:
        yield Finding(PodBlock.SURGE_FORBIDDEN, f"{names.SURGE}={deployment.wish!r}, which is neither true nor false")
    strategy = _strategy(deployment)
    if strategy:
        yield _impossible(f"{deployment.name}: {strategy}")
    if deployment.available < deployment.wanted:
        detail = f"{deployment.name}: {deployment.available} of {deployment.wanted} available"
        yield Finding(PodBlock.SURGE_NOT_READY, detail)


def _strategy(deployment: Deployment) -> str:
    if not deployment.rolling_update:
        return "Recreate"
    if deployment.paused:
        return "paused"
    if deployment.unavailable:
        return f"{deployment.unavailable} may be unavailable"
    return "" if deployment.surge else "maxSurge 0"


def _next_to_itself(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """The new pod starts while the old one stands: what keeps the two apart by more than a node may find no place."""
    namespace = context.namespaces.get(spec.namespace, {})
    apart = {
        term.topology_key
        for term in spec.anti_affinity
        if term.topology_key != names.HOSTNAME_LABEL and term.matches(spec.namespace, namespace, spec.labels)
    }
    spread = {
        constraint.topology_key
        for constraint in spec.hard_spread
        if constraint.topology_key != names.HOSTNAME_LABEL and constraint.counts(spec.labels)
    }
    if apart | spread:
        yield _impossible(f"kept apart from its own kind by {', '.join(sorted(apart | spread))}")


def _disk(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    held = held_by_one_node(spec, context.volumes)
    if held:
        yield _impossible(f"one node at a time can mount {', '.join(held)}")


def _quota(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """Find a namespace that admits another such pod only once the old one is gone."""
    # A Deployment that waits for its pods' end starts a surging one all the same (podReplacementPolicy).
    workload = context.workload_of(spec)
    if spec.replaced_at_end and not workload.replaced_at_end:
        yield _impossible(f"{workload.name}: no ResourceQuota for one more pod")


def _min_ready(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """The old pod goes only once the new one has been Ready for so long: a drain that ends before begins in vain."""
    deployment, most = context.workload_of(spec).deployment, context.drain.timeout
    if deployment is not None and deployment.min_ready and deployment.min_ready + START >= most:
        detail = f"{deployment.min_ready.total_seconds():g} s of {most.total_seconds():g} s"
        yield _impossible(f"{deployment.name}: minReadySeconds, {detail}")


def _grace(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """Nobody cuts the grace of a pod that its controller ends."""
    most = context.drain.max_grace.total_seconds()
    if spec.grace_seconds > most:
        yield _impossible(f"grace of {spec.grace_seconds} s, most {most:g} s")


_OF_THE_POD: Final[tuple[Callable[[PodClass, DrainContext], Iterable[Finding]], ...]] = (
    _next_to_itself, _disk, _quota, _min_ready, _grace,
)  # fmt: skip


def restart_together(moving: Iterable[Pod], context: DrainContext) -> Iterator[Blocker]:
    """Yield the pods that would restart with others that run elsewhere."""
    # A rollout takes all replicas of a Deployment. Where all of them lie on the node, no more start than have to move,
    # and each has a place in the proof.
    rows = [pod for pod in moving if is_surged(pod.spec, context) and pod.deleting is None]
    here = Counter(context.workload_of(pod.spec).name for pod in rows)
    for pod in rows:
        workload = context.workload_of(pod.spec)
        if (workload.wanted or 0) > here[workload.name]:
            detail = f"{workload.name}: {here[workload.name]} of {workload.wanted} here"
            yield Blocker(PodBlock.SURGE_SCATTERED, pod.key, detail)
