"""How one thing is taken away from a picture or a policy: on a template, a budget, a node, a pool or the whole cluster.

Each changes what it is about and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, NamedTuple

from msgspec import structs

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Owner, Pod, PodClass
from shared.core.cluster.selectors import NO_SCHEDULE, Labels, Taint
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.policy import Limit, Policy
from shared.core.reasons import Reason
from shared.core.rules.situation import Situation

_REPLICA_SET: Final = "/ReplicaSet/"


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
    """Return what a change of the pod's template is made on: its workload, or the pod itself.

    Where ReplicaSets were not read, a Deployment is known by the hash that it puts on its ReplicaSets' names and pods.
    """
    known = situation.snapshot.workloads.get(pod.spec.workload)
    name = (known.name if known else "") or pod.spec.workload or pod.key
    made_by_deployment = f"-{pod.spec.labels.get(names.TEMPLATE_HASH_LABEL, '/')}"
    if _REPLICA_SET in name and name.endswith(made_by_deployment):
        return name.removesuffix(made_by_deployment).replace(_REPLICA_SET, "/Deployment/", 1)
    return name


def on_picture(change: Callable[[Snapshot, Subject], Snapshot]) -> Lift:
    def lift(situation: Situation, subject: Subject) -> Situation:
        return Situation(change(situation.snapshot, subject), situation.state, situation.policy)

    return lift


def on_policy(change: Callable[[Policy, Subject], Policy]) -> Lift:
    def lift(situation: Situation, subject: Subject) -> Situation:
        return Situation(situation.snapshot, situation.state, change(situation.policy, subject))

    return lift


def on_template(change: Callable[[PodClass], PodClass]) -> Lifting:
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


def without(labels: Labels, *keys: str) -> Labels:
    return {key: value for key, value in labels.items() if key not in keys}


def without_opt_outs(spec: PodClass) -> PodClass:
    keys = (*names.POD_OPT_OUTS, names.OPT_OUT_UNTIL)
    labels = without(spec.labels, *names.POD_OPT_OUT_LABELS, names.OPT_OUT_UNTIL)
    return replace(spec, annotations=without(spec.annotations, *keys), labels=labels)


def with_an_owner(spec: PodClass) -> PodClass:
    return replace(spec, owner=Owner("ReplicaSet", spec.owner.name if spec.owner else "alone"))


def safe_to_evict(spec: PodClass) -> PodClass:
    return replace(spec, annotations={**spec.annotations, names.SAFE_TO_EVICT: "true"})


def narrowly_tolerant(spec: PodClass) -> PodClass:
    ours = Taint(names.OUR_TAINT, NO_SCHEDULE, "order")
    return replace(spec, tolerations=tuple(each for each in spec.tolerations if not each.tolerates(ours)))


def with_spec(**fields: Any) -> Lifting:
    return on_template(lambda spec: replace(spec, **fields))


def with_pool(**fields: Any) -> Lifting:
    """Change settings of one pool in the policy."""

    def change(policy: Policy, subject: Subject) -> Policy:
        return replace(policy, pools={**policy.pools, subject.object: replace(policy.pool(subject.object), **fields)})

    return Lifting(Scope.POOL, on_policy(change))


def with_cluster(**fields: Any) -> Lifting:
    return Lifting(Scope.CLUSTER, on_policy(lambda policy, _: replace(policy, **fields)))


def ignoring_taint(policy: Policy, subject: Subject) -> Policy:
    pool = policy.pool(subject.object)
    own = replace(pool, ignore_taints=pool.ignore_taints | {subject.detail})
    return replace(policy, pools={**policy.pools, subject.object: own})


def no_headroom(policy: Policy, _: Subject) -> Policy:
    pools = {name: replace(pool, headroom_percent=0) for name, pool in policy.pools.items()}
    return replace(policy, pools=pools, other_pools=replace(policy.other_pools, headroom_percent=0))


def one_may_go(snapshot: Snapshot, subject: Subject) -> Snapshot:
    def changed(budget: PodDisruptionBudget) -> PodDisruptionBudget:
        if budget.key != subject.object:
            return budget
        allowed = max(budget.disruptions_allowed, 1)
        one = Limit(count=1)
        return replace(budget, disruptions_allowed=allowed, min_available=None, max_unavailable=one, observed=True)

    return replace(snapshot, disruption_budgets=tuple(map(changed, snapshot.disruption_budgets)))


def no_budget(snapshot: Snapshot, subject: Subject) -> Snapshot:
    kept = tuple(each for each in snapshot.disruption_budgets if each.key != subject.object)
    return replace(snapshot, disruption_budgets=kept)


def open_namespace(snapshot: Snapshot, subject: Subject) -> Snapshot:
    labels = without(snapshot.namespaces.get(subject.object, {}), names.EVICTIONS_LABEL)
    return replace(snapshot, namespaces={**snapshot.namespaces, subject.object: labels})


def on_node(change: Callable[[Node], Node]) -> Lifting:
    def changed(snapshot: Snapshot, subject: Subject) -> Snapshot:
        nodes = (change(node) if node.name == subject.object else node for node in snapshot.nodes)
        return replace(snapshot, nodes=tuple(nodes))

    return Lifting(Scope.NODE, on_picture(changed))


def without_node_opt_outs(node: Node) -> Node:
    keys = (*names.NODE_OPT_OUTS, names.OPT_OUT_UNTIL)
    return replace(node, annotations=without(node.annotations, *keys), labels=without(node.labels, *keys))


def with_node_pool(**fields: Any) -> Lifting:
    """Change a node pool of GKE."""

    def change(snapshot: Snapshot, subject: Subject) -> Snapshot:
        own = replace(snapshot.pools[subject.object], **fields)
        return replace(snapshot, pools={**snapshot.pools, subject.object: own})

    return Lifting(Scope.POOL, on_picture(change))
