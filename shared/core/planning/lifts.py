"""Taking one thing away from a picture or a policy: what `why-not` plans anew. One line for each reason that can be.

Each lift changes what its reason is about and nothing else. Must not judge whether a change is wise: who reads the
answer does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final, NamedTuple

from msgspec import structs

from shared.core.cluster import names
from shared.core.cluster.disruption_budget import PodDisruptionBudget
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Owner, Pod, PodClass
from shared.core.cluster.resources import NOTHING
from shared.core.cluster.selectors import NO_SCHEDULE, Labels, Taint
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.exclusions import Exclusion
from shared.core.policy import (
    ConsolidationPolicy,
    Jobs,
    KubeSystemPods,
    Limit,
    LongGrace,
    Policy,
    SingleReplicas,
)
from shared.core.reasons import PodBlock, Reason, Unremovable
from shared.core.rules.situation import Situation


class Scope(StrEnum):
    """What one change is about."""

    WORKLOAD = "workload"
    BUDGET = "budget"
    NAMESPACE = "namespace"
    NODE = "node"
    TAINT = "taint"
    """A key of the nodes of one pool."""
    POOL = "pool"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Subject:
    """One change: what it takes away, and from what (a workload, a PDB, a namespace, a node, a pool)."""

    reason: Reason
    object: str = ""
    """As `namespace/kind/name`, `namespace/name` or a name; empty where it is the cluster's."""
    detail: str = ""
    """The key of a taint."""


Lift = Callable[[Situation, Subject], Situation]


class Lifting(NamedTuple):
    """What the reason's change is about, and how it is made."""

    scope: Scope
    lift: Lift


def workload_of(situation: Situation, pod: Pod) -> str:
    """Return what a change of the pod's template is made on: its workload, or the pod itself."""
    known = situation.snapshot.workloads.get(pod.spec.workload)
    return (known.name if known else "") or pod.spec.workload or pod.key


def _picture(change: Callable[[Snapshot, Subject], Snapshot]) -> Lift:
    def lift(situation: Situation, subject: Subject) -> Situation:
        return Situation(change(situation.snapshot, subject), situation.state, situation.policy)

    return lift


def _policy(change: Callable[[Policy, Subject], Policy]) -> Lift:
    def lift(situation: Situation, subject: Subject) -> Situation:
        return Situation(situation.snapshot, situation.state, change(situation.policy, subject))

    return lift


def _template(change: Callable[[PodClass], PodClass]) -> Lifting:
    """Change the template of one workload: all of its pods, wherever they lie."""

    def lift(situation: Situation, subject: Subject) -> Situation:
        changed: dict[PodClass, PodClass] = {}

        def pod_with(pod: Pod) -> Pod:
            if workload_of(situation, pod) != subject.object:
                return pod
            if pod.spec not in changed:
                changed[pod.spec] = change(pod.spec)
            return structs.replace(pod, spec=changed[pod.spec])

        snapshot = situation.snapshot
        pods = tuple(map(pod_with, snapshot.pods))
        known = {changed_to.workload: snapshot.workloads[spec.workload]
                 for spec, changed_to in changed.items() if spec.workload in snapshot.workloads}  # fmt: skip
        picture = replace(snapshot, pods=pods, workloads={**snapshot.workloads, **known})
        return Situation(picture, situation.state, situation.policy)

    return Lifting(Scope.WORKLOAD, lift)


def _without(labels: Labels, *keys: str) -> Labels:
    return {key: value for key, value in labels.items() if key not in keys}


def _allowed(spec: PodClass) -> PodClass:
    keys = (*names.POD_OPT_OUTS, names.OPT_OUT_UNTIL)
    labels = _without(spec.labels, *names.POD_OPT_OUT_LABELS, names.OPT_OUT_UNTIL)
    return replace(spec, annotations=_without(spec.annotations, *keys), labels=labels)


def _owned(spec: PodClass) -> PodClass:
    return replace(spec, owner=Owner("ReplicaSet", spec.owner.name if spec.owner else "alone"))


def _safe(spec: PodClass) -> PodClass:
    return replace(spec, annotations={**spec.annotations, names.SAFE_TO_EVICT: "true"})


def _narrowly_tolerant(spec: PodClass) -> PodClass:
    ours = Taint(names.OUR_TAINT, NO_SCHEDULE, "order")
    return replace(spec, tolerations=tuple(each for each in spec.tolerations if not each.tolerates(ours)))


def _spec(**fields: Any) -> Lifting:
    return _template(lambda spec: replace(spec, **fields))


def _pool(**fields: Any) -> Lifting:
    """Change settings of one pool in the policy."""

    def change(policy: Policy, subject: Subject) -> Policy:
        return replace(policy, pools={**policy.pools, subject.object: replace(policy.pool(subject.object), **fields)})

    return Lifting(Scope.POOL, _policy(change))


def _cluster(**fields: Any) -> Lifting:
    return Lifting(Scope.CLUSTER, _policy(lambda policy, _: replace(policy, **fields)))


def _ignoring_taint(policy: Policy, subject: Subject) -> Policy:
    pool = policy.pool(subject.object)
    own = replace(pool, ignore_taints=pool.ignore_taints | {subject.detail})
    return replace(policy, pools={**policy.pools, subject.object: own})


def _no_headroom(policy: Policy, _: Subject) -> Policy:
    pools = {name: replace(pool, headroom_percent=0) for name, pool in policy.pools.items()}
    return replace(policy, pools=pools, other_pools=replace(policy.other_pools, headroom_percent=0))


def _one_may_go(snapshot: Snapshot, subject: Subject) -> Snapshot:
    def changed(budget: PodDisruptionBudget) -> PodDisruptionBudget:
        if budget.key != subject.object:
            return budget
        allowed = max(budget.disruptions_allowed, 1)
        one = Limit(count=1)
        return replace(budget, disruptions_allowed=allowed, min_available=None, max_unavailable=one, observed=True)

    return replace(snapshot, disruption_budgets=tuple(map(changed, snapshot.disruption_budgets)))


def _no_budget(snapshot: Snapshot, subject: Subject) -> Snapshot:
    kept = tuple(each for each in snapshot.disruption_budgets if each.key != subject.object)
    return replace(snapshot, disruption_budgets=kept)


def _open_namespace(snapshot: Snapshot, subject: Subject) -> Snapshot:
    labels = _without(snapshot.namespaces.get(subject.object, {}), names.EVICTIONS_LABEL)
    return replace(snapshot, namespaces={**snapshot.namespaces, subject.object: labels})


def _node(change: Callable[[Node], Node]) -> Lifting:
    def changed(snapshot: Snapshot, subject: Subject) -> Snapshot:
        nodes = (change(node) if node.name == subject.object else node for node in snapshot.nodes)
        return replace(snapshot, nodes=tuple(nodes))

    return Lifting(Scope.NODE, _picture(changed))


def _opted_in(node: Node) -> Node:
    keys = (*names.NODE_OPT_OUTS, names.OPT_OUT_UNTIL)
    return replace(node, annotations=_without(node.annotations, *keys), labels=_without(node.labels, *keys))


def _group(**fields: Any) -> Lifting:
    """Change a node pool of GKE."""

    def change(snapshot: Snapshot, subject: Subject) -> Snapshot:
        own = replace(snapshot.pools[subject.object], **fields)
        return replace(snapshot, pools={**snapshot.pools, subject.object: own})

    return Lifting(Scope.POOL, _picture(change))


LIFTS: Final[Mapping[Reason, Lifting]] = {
    PodBlock.NOT_SAFE_TO_EVICT: _template(
        lambda spec: replace(spec, annotations=_without(spec.annotations, names.SAFE_TO_EVICT))
    ),
    PodBlock.DO_NOT_DISRUPT: _template(_allowed),
    PodBlock.NAMESPACE_CLOSED: Lifting(Scope.NAMESPACE, _picture(_open_namespace)),
    PodBlock.NOT_REPLICATED: _template(_owned),
    PodBlock.LOCAL_STORAGE: _template(_safe),
    PodBlock.KUBE_SYSTEM: _pool(kube_system_pods=KubeSystemPods.EVICT),
    PodBlock.PDB_EXHAUSTED: Lifting(Scope.BUDGET, _picture(_one_may_go)),
    PodBlock.PDB_NEVER_ALLOWS: Lifting(Scope.BUDGET, _picture(_one_may_go)),
    PodBlock.SEVERAL_PDBS: Lifting(Scope.BUDGET, _picture(_no_budget)),
    PodBlock.SINGLE_REPLICA: _pool(single_replicas=SingleReplicas.MOVE),
    PodBlock.JOB: _pool(jobs=Jobs.MOVE),
    PodBlock.JOB_RUNNING: _pool(jobs=Jobs.MOVE),
    PodBlock.TOO_FEW_AVAILABLE: _pool(unprotected=Limit(percent=100)),
    PodBlock.GRACE_TOO_LONG: _pool(long_grace=LongGrace.CUT),
    PodBlock.TOLERATES_DRAIN_TAINT: _template(_narrowly_tolerant),
    PodBlock.NAMES_ITS_NODE: _spec(node_selector={}, node_terms=None),
    PodBlock.SCHEDULING_GATES: _spec(scheduling_gates=()),
    Exclusion.SELECTOR: _spec(node_selector={}, node_terms=None),
    Exclusion.ANTI_AFFINITY: _spec(anti_affinity=()),
    Exclusion.AFFINITY: _spec(affinity=()),
    Exclusion.HOST_PORT: _spec(host_ports=()),
    Exclusion.SPREAD: _spec(hard_spread=()),
    Exclusion.ROOM: Lifting(Scope.CLUSTER, _policy(_no_headroom)),
    Unremovable.POOL_DISABLED: _pool(enabled=True),
    Unremovable.NOT_AUTOSCALED: _group(autoscaled=True),
    Unremovable.POOL_AT_MINIMUM: _group(min_per_zone=0, min_total=0),
    Unremovable.RESOURCE_MINIMUM: Lifting(Scope.CLUSTER, _picture(lambda seen, _: replace(seen, minimum=NOTHING))),
    Unremovable.CORDONED_BY_OTHER: _node(lambda node: replace(node, unschedulable=False)),
    Unremovable.TAINTED: Lifting(Scope.TAINT, _policy(_ignoring_taint)),
    Unremovable.SCALE_DOWN_DISABLED: _node(_opted_in),
    Unremovable.NOT_EMPTY: _pool(consolidation_policy=ConsolidationPolicy.WHEN_UNDERUTILIZED),
    Unremovable.CPU_ABOVE_LIMIT: _pool(cpu_limit=Fraction(1)),
    Unremovable.MEMORY_ABOVE_LIMIT: _pool(memory_limit=Fraction(1)),
    Unremovable.ACCELERATOR_ABOVE_LIMIT: _pool(cpu_limit=Fraction(1)),
    Unremovable.CONSOLIDATION_OFF: _pool(consolidate_after=timedelta(minutes=5)),
    Unremovable.TOO_FEW_UNDERUTILIZED: _pool(required_count=1),
    Unremovable.NO_EXCESS: _pool(excess_threshold=Fraction(0)),
    Unremovable.PAUSED: _cluster(paused=False),
    Unremovable.MINIMUM_NODES: _cluster(minimum_nodes=0),
    Unremovable.MINIMUM_NON_TAINTED: _cluster(minimum_non_tainted_nodes=0),
    Unremovable.SAVING_TOO_SMALL: _pool(minimum_saving=Fraction(0)),
}
NOT_LIFTED: Final[Mapping[str, frozenset[Reason]]] = {
    "it passes by itself": frozenset({
        PodBlock.WAITS_FOR_COMPLETION, PodBlock.ROLLING_OUT, PodBlock.TOO_YOUNG_POD, PodBlock.STILL_TERMINATING,
        Unremovable.POOL_UPGRADING, Unremovable.GOING_AWAY, Unremovable.TOO_YOUNG, Unremovable.BACKING_OFF,
        Unremovable.MARKED_RECENTLY, Unremovable.RECENT_ADDITION, Unremovable.TIME_GAP, Unremovable.BREAKER_OPEN,
        Unremovable.FROZEN, Unremovable.OUTSIDE_WINDOWS, Unremovable.BUDGET, Unremovable.CLUSTER_BUDGET,
        Unremovable.RATE, Unremovable.NAMESPACE_RATE, Unremovable.WORKLOAD_MOVING, Unremovable.DRAIN_TOO_LONG,
        Unremovable.NODES_PER_PASS,
    }),
    "nobody can say where the pod would go without it": frozenset({
        PodBlock.FOREIGN_SCHEDULER, PodBlock.RESOURCE_CLAIMS, PodBlock.UNMODELLED, PodBlock.LOCAL_VOLUME,
        PodBlock.UNBOUND_CLAIM, PodBlock.SHARED_DISK, PodBlock.VOLUMES, Exclusion.VOLUME_PLACE,
        Exclusion.CLAIM_IN_USE, Exclusion.ATTACH_LIMIT,
    }),
    "it is a fact, or a fault to be mended, and no setting": frozenset({
        Unremovable.NO_POOL, Unremovable.POLICY_INVALID, Unremovable.ATOMIC_POOL, Unremovable.NOT_READY,
        Unremovable.NO_ALLOCATABLE, Unremovable.POOLS_UNKNOWN, Unremovable.NO_PLACE_FOR_PODS,
        Unremovable.KEPT_AS_DESTINATION, Exclusion.SHUT, Exclusion.TAINT,
    }),
    "each pod says why by itself": frozenset({Unremovable.BLOCKED_BY_POD}),
}  # fmt: skip
"""Why no change is planned for the other reasons; with `LIFTS` it names each reason once."""


def lifted(situation: Situation, subject: Subject) -> Situation:
    """Return the situation as it would be without that one thing."""
    return LIFTS[subject.reason].lift(situation, subject)
