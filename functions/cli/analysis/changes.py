"""Single changes of cluster or policy, each a row: the reason that it takes away, what it lifts, and how it is made.

A change alters what it is about (a template, a budget, a node, a pool, the cluster) and nothing else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import IntEnum, StrEnum
from fractions import Fraction
from string import Template
from typing import Any, Final

from msgspec import structs

from functions.cli.analysis.exclusions import Exclusion
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Owner, Pod, PodClass
from shared.core.cluster.resources import NOTHING
from shared.core.cluster.selectors import NO_SCHEDULE, Labels, Taint
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.policy import ConsolidationPolicy, Jobs, KubeSystemPods, Limit, LongGrace, Policy, SingleReplicas
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


class Harm(IntEnum):
    """What a change takes away besides the limit; the least comes first."""

    NONE = 0
    REPLICA = 1
    """Harmless with two replicas; with one it makes a gap."""
    WEAKENS = 2
    """Takes away what somebody asked for: an opt-out, a constraint, time to end, work or data."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One change: what it takes away, and from what (a workload, a PDB, a namespace, a node, a pool)."""

    reason: Reason
    object: str = ""
    """As `namespace/kind/name`, `namespace/name` or a name; empty where it is the cluster's."""
    detail: str = ""
    """The key of a taint."""

    @property
    def name(self) -> str:
        """The word and the object; room alone would not show that only headroom goes."""
        word = "headroom" if self.reason is Exclusion.ROOM else self.reason.value
        return " ".join(filter(None, (word, self.object, self.detail)))

    @property
    def word(self) -> str:
        """The word of the scenario in JSON."""
        return CHANGES[self.reason].word or self.reason.value

    @property
    def harm(self) -> Harm:
        """How much the change takes away."""
        return CHANGES[self.reason].harm


Lift = Callable[[Situation, Subject], Situation]


@dataclass(frozen=True, slots=True)
class Change:
    """How one limit is taken away: in a situation, and by a person."""

    scope: Scope
    lift: Lift
    how: str
    """A command or a line of the policy, with $namespace, $kind, $name, $object and $detail."""
    word: str = ""
    """The word of the scenario in JSON, if it is not the reason's."""
    harm: Harm = Harm.NONE
    how_of_all: str = ""
    """The same for all pools, if that is one change; without it each pool has a change of its own."""

    @property
    def is_setting(self) -> bool:
        """Whether it is a line of the policy."""
        return self.how.startswith("policy: ")


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


_OWN: Final = "  # and in nodePools that set it"
_REPLICA_SET: Final = "/ReplicaSet/"
_PATCH: Final = "kubectl -n $namespace patch $kind $name --type merge -p "
_PATCHED: Final = frozenset({"deployment", "statefulset", "replicaset", "replicationcontroller", "rollout"})
"""Kinds whose template can be changed as they stand; that of a Job cannot."""
_OF_NEW_PODS: Final = "  # for pods that it makes from then on"
_UPDATE: Final = "gcloud container node-pools update $name --cluster CLUSTER --location LOCATION "


def _of_cluster(change: Callable[[Snapshot, Subject], Snapshot], scope: Scope, how: str, word: str = "") -> Change:
    def lift(situation: Situation, subject: Subject) -> Situation:
        return Situation(change(situation.snapshot, subject), situation.state, situation.policy)

    return Change(scope, lift, how, word)


def _of_policy(change: Callable[[Policy, Subject], Policy], scope: Scope, how: str, word: str = "") -> Change:
    def lift(situation: Situation, subject: Subject) -> Situation:
        return Situation(situation.snapshot, situation.state, change(situation.policy, subject))

    return Change(scope, lift, f"policy: {how}", word)


def _of_template(change: Callable[[PodClass], PodClass], how: str, word: str = "") -> Change:
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
        later = replace(snapshot, pods=pods, workloads={**snapshot.workloads, **known})
        return Situation(later, situation.state, situation.policy)

    return Change(Scope.WORKLOAD, lift, how, word)


def _weakens(change: Change) -> Change:
    return replace(change, harm=Harm.WEAKENS)


def _needs_replica(change: Change) -> Change:
    return replace(change, harm=Harm.REPLICA)


def _annotated(text: str, change: Callable[[PodClass], PodClass], note: str = "", word: str = "") -> Change:
    how = f'{_PATCH}\'{{"spec":{{"template":{{"metadata":{{"annotations":{{{text}}}}}}}}}}}\'{note}'
    return _of_template(change, how, word)


def _patched(field: str, change: Callable[[PodClass], PodClass], note: str = "") -> Change:
    return _of_template(change, f'{_PATCH}\'{{"spec":{{"template":{{"spec":{{{field}}}}}}}}}\'{note}')


def _with_spec(**fields: Any) -> Callable[[PodClass], PodClass]:
    return lambda spec: replace(spec, **fields)


def _of_pool(line: str, note: str = "", word: str = "", *, of_all: bool = True, **fields: Any) -> Change:
    """Change settings of one pool in the policy, or of all: a subject without an object."""

    def change(policy: Policy, subject: Subject) -> Policy:
        if not subject.object:
            pools = {name: replace(pool, **fields) for name, pool in policy.pools.items()}
            return replace(policy, pools=pools, other_pools=replace(policy.other_pools, **fields))
        return replace(policy, pools={**policy.pools, subject.object: replace(policy.pool(subject.object), **fields)})

    one = _of_policy(change, Scope.POOL, f"nodePools: {{$name: {{{line}}}}}{note}", word)
    return replace(one, how_of_all=f"policy: defaults: {{{line}}}{note or _OWN}" if of_all else "")


def _of_all(line: str, **fields: Any) -> Change:
    return _of_policy(lambda policy, _: replace(policy, **fields), Scope.CLUSTER, line)


def _of_node_pool(how: str, **fields: Any) -> Change:
    """Change a node pool of GKE."""

    def change(snapshot: Snapshot, subject: Subject) -> Snapshot:
        own = replace(snapshot.pools[subject.object], **fields)
        return replace(snapshot, pools={**snapshot.pools, subject.object: own})

    return _of_cluster(change, Scope.POOL, f"{_UPDATE}{how}")


def _of_node(change: Callable[[Node], Node], how: str) -> Change:
    def changed(snapshot: Snapshot, subject: Subject) -> Snapshot:
        nodes = (change(node) if node.name == subject.object else node for node in snapshot.nodes)
        return replace(snapshot, nodes=tuple(nodes))

    return _of_cluster(changed, Scope.NODE, how)


def _without(labels: Labels, *keys: str) -> Labels:
    return {key: value for key, value in labels.items() if key not in keys}


def _without_opt_outs(spec: PodClass) -> PodClass:
    keys = (*names.POD_OPT_OUTS, names.OPT_OUT_UNTIL)
    labels = _without(spec.labels, *names.POD_OPT_OUT_LABELS, names.OPT_OUT_UNTIL)
    return replace(spec, annotations=_without(spec.annotations, *keys), labels=labels)


def _without_node_opt_outs(node: Node) -> Node:
    keys = (*names.NODE_OPT_OUTS, names.OPT_OUT_UNTIL)
    return replace(node, annotations=_without(node.annotations, *keys), labels=_without(node.labels, *keys))


def _with_an_owner(spec: PodClass) -> PodClass:
    return replace(spec, owner=Owner("ReplicaSet", spec.owner.name if spec.owner else "alone"))


def _narrowly_tolerant(spec: PodClass) -> PodClass:
    ours = Taint(names.OUR_TAINT, NO_SCHEDULE, "order")
    return replace(spec, tolerations=tuple(each for each in spec.tolerations if not each.tolerates(ours)))


def _ignoring_taint(policy: Policy, subject: Subject) -> Policy:
    pool = policy.pool(subject.object)
    own = replace(pool, ignore_taints=pool.ignore_taints | {subject.detail})
    return replace(policy, pools={**policy.pools, subject.object: own})


def _one_may_go(snapshot: Snapshot, subject: Subject) -> Snapshot:
    def changed(budget: PodDisruptionBudget) -> PodDisruptionBudget:
        if budget.key != subject.object:
            return budget
        allowed = max(budget.disruptions_allowed, 1)
        one = Limit(count=1)
        return replace(
            budget, disruptions_allowed=allowed, min_available=None, max_unavailable=one, observed=True, fault=""
        )

    return replace(snapshot, disruption_budgets=tuple(map(changed, snapshot.disruption_budgets)))


def _no_budget(snapshot: Snapshot, subject: Subject) -> Snapshot:
    kept = tuple(each for each in snapshot.disruption_budgets if each.key != subject.object)
    return replace(snapshot, disruption_budgets=kept)


def _open_namespace(snapshot: Snapshot, subject: Subject) -> Snapshot:
    labels = _without(snapshot.namespaces.get(subject.object, {}), names.EVICTIONS_LABEL)
    return replace(snapshot, namespaces={**snapshot.namespaces, subject.object: labels})


# fmt: off
_ANYWHERE: Final = _weakens(_of_template(_with_spec(node_selector={}, node_terms=None),
    "use preferred instead of required node affinity or nodeSelector in $object"))
_NO_LIMITS: Final = _of_pool("scaleDownCPURequestRatioLimit: 1, scaleDownMemoryRequestRatioLimit: 1",
    word="limits", cpu_limit=Fraction(1), memory_limit=Fraction(1))
_PREFERRED: Final = "use preferredDuringSchedulingIgnoredDuringExecution in $object: "
_GAP: Final = _weakens(_of_pool("singleReplicas: move", "  # makes a gap; better: run two replicas",
    single_replicas=SingleReplicas.MOVE))
_JOBS: Final = _weakens(_of_pool("jobs: move", "  # running Jobs lose their work so far", "jobs", jobs=Jobs.MOVE))
CHANGES: Final[Mapping[Reason, Change]] = {
    PodBlock.NOT_SAFE_TO_EVICT: _weakens(_annotated(f'"{names.SAFE_TO_EVICT}":null',
        lambda spec: replace(spec, annotations=_without(spec.annotations, names.SAFE_TO_EVICT)))),
    PodBlock.DO_NOT_DISRUPT: _weakens(_annotated('"ANNOTATION":null', _without_opt_outs,
        "  # the annotation that ebb explain names")),
    PodBlock.NAMESPACE_CLOSED: _weakens(_of_cluster(_open_namespace, Scope.NAMESPACE,
        f"kubectl label namespace $name {names.EVICTIONS_LABEL}-")),
    PodBlock.NOT_REPLICATED: _of_template(_with_an_owner, "run $object under a Deployment or StatefulSet"),
    PodBlock.LOCAL_STORAGE: _weakens(_annotated(f'"{names.SAFE_TO_EVICT}":"true"',
        lambda spec: replace(spec, annotations={**spec.annotations, names.SAFE_TO_EVICT: "true"}),
        "  # if the data may be lost", "local_storage")),
    PodBlock.KUBE_SYSTEM: _weakens(_of_pool("kubeSystemPods: evict", kube_system_pods=KubeSystemPods.EVICT)),
    PodBlock.PDB_EXHAUSTED: _needs_replica(_of_cluster(_one_may_go, Scope.BUDGET,
        "kubectl -n $namespace describe pdb $name  # its owner runs one more healthy replica", "pdb")),
    PodBlock.PDB_NEVER_ALLOWS: _needs_replica(_of_cluster(_one_may_go, Scope.BUDGET,
        "kubectl -n $namespace patch pdb $name --type merge -p "
        '\'{"spec":{"minAvailable":null,"maxUnavailable":1}}\'  # if two or more replicas run; else add one first',
        "pdb")),
    PodBlock.PDB_UNCOUNTED: _needs_replica(_of_cluster(_one_may_go, Scope.BUDGET,
        "kubectl -n $namespace patch pdb $name --type merge -p "
        '\'{"spec":{"minAvailable":COUNT,"maxUnavailable":null}}\'  # COUNT: one less than its pods, or fewer',
        "pdb")),
    PodBlock.SEVERAL_PDBS: _weakens(_of_cluster(_no_budget, Scope.BUDGET,
        "kubectl -n $namespace delete pdb $name  # pods with several cannot be evicted; keep the strictest")),
    PodBlock.SINGLE_REPLICA: _GAP,
    PodBlock.SURGE_FORBIDDEN: _GAP,
    PodBlock.SURGE_IMPOSSIBLE: _GAP,
    PodBlock.JOB: _JOBS,
    PodBlock.JOB_RUNNING: _JOBS,
    PodBlock.TOO_FEW_AVAILABLE: _weakens(_of_pool("unprotected: 100%", "  # better: restore the missing replicas",
        unprotected=Limit(percent=100))),
    PodBlock.GRACE_TOO_LONG: _weakens(_of_pool("longGrace: cut", long_grace=LongGrace.CUT)),
    PodBlock.TOLERATES_DRAIN_TAINT: _patched('"tolerations":[…]', _narrowly_tolerant,
        "  # name the taints that it should tolerate"),
    PodBlock.NAMES_ITS_NODE: _ANYWHERE,
    PodBlock.SCHEDULING_GATES: _weakens(_patched('"schedulingGates":null', _with_spec(scheduling_gates=()))),
    Exclusion.SELECTOR: _ANYWHERE,
    Exclusion.ANTI_AFFINITY: _weakens(_of_template(_with_spec(anti_affinity=()), f"{_PREFERRED}podAntiAffinity")),
    Exclusion.AFFINITY: _weakens(_of_template(_with_spec(affinity=()), f"{_PREFERRED}podAffinity")),
    Exclusion.HOST_PORT: _of_template(_with_spec(host_ports=()), "use a Service instead of hostPort in $object"),
    Exclusion.SPREAD: _needs_replica(_of_template(_with_spec(hard_spread=()),
        "run one more replica of $object, or set whenUnsatisfiable: ScheduleAnyway in topologySpreadConstraints")),
    Exclusion.ROOM: _weakens(replace(_of_pool("headroom: 0%",
        "  # leaves pods Pending more often (docs/decisions/robust-fit.md)", "headroom", headroom_percent=0),
        scope=Scope.CLUSTER)),
    Unremovable.POOL_DISABLED: _of_pool("enabled: true", word="pools", of_all=False, enabled=True),
    Unremovable.NOT_AUTOSCALED: _of_node_pool("--enable-autoscaling --min-nodes 0 --max-nodes MAX", autoscaled=True),
    Unremovable.POOL_AT_MINIMUM: _of_node_pool(
        "--enable-autoscaling --min-nodes 0  # --total-min-nodes 0 if its minimum is of all zones together",
        min_per_zone=0, min_total=0),
    Unremovable.RESOURCE_MINIMUM: _of_cluster(lambda seen, _: replace(seen, minimum=NOTHING), Scope.CLUSTER,
        "gcloud container clusters update CLUSTER --location LOCATION --enable-autoprovisioning "
        "--min-cpu 1 --max-cpu MAX --min-memory 1 --max-memory MAX  # each maximum as it is"),
    Unremovable.CORDONED_BY_OTHER: _weakens(_of_node(lambda node: replace(node, unschedulable=False),
        "kubectl uncordon $name")),
    Unremovable.TAINTED: _of_policy(_ignoring_taint, Scope.TAINT, "nodePools: {$name: {ignoreTaints: [$detail]}}"),
    Unremovable.SCALE_DOWN_DISABLED: _weakens(_of_node(_without_node_opt_outs,
        f"kubectl annotate node $name {names.SCALE_DOWN_DISABLED}-  # or the annotation or label in ebb explain")),
    Unremovable.NOT_EMPTY: _of_pool("disruption: {consolidationPolicy: WhenUnderutilized}",
        consolidation_policy=ConsolidationPolicy.WHEN_UNDERUTILIZED),
    Unremovable.CPU_ABOVE_LIMIT: _NO_LIMITS,
    Unremovable.MEMORY_ABOVE_LIMIT: _NO_LIMITS,
    Unremovable.ACCELERATOR_ABOVE_LIMIT: _NO_LIMITS,
    Unremovable.CONSOLIDATION_OFF: _of_pool("disruption: {consolidateAfter: 5m}",
        consolidate_after=timedelta(minutes=5)),
    Unremovable.TOO_FEW_UNDERUTILIZED: _of_pool("scaleDownRequiredUnderutilizedNodeCount: 1", word="required_count",
        required_count=1),
    Unremovable.NO_EXCESS: _of_pool("excessNodesThreshold: 0", word="excess", excess_threshold=Fraction(0)),
    Unremovable.PAUSED: _of_all("paused: false", paused=False),
    Unremovable.MINIMUM_NODES: _weakens(_of_all("cluster: {minimumNodes: 0}", minimum_nodes=0)),
    Unremovable.MINIMUM_NON_TAINTED: _weakens(_of_all("cluster: {minimumNonTaintedNodes: 0}",
        minimum_non_tainted_nodes=0)),
    Unremovable.SAVING_TOO_SMALL: _of_pool("minimumSavingPerEviction: 0", minimum_saving=Fraction(0)),
}
"""A reason without a row passes by itself, or is no setting: see its remedy."""
# fmt: on


def lifted(situation: Situation, subject: Subject) -> Situation:
    """Return the situation as it would be without that one thing."""
    return CHANGES[subject.reason].lift(situation, subject)


def how(subject: Subject) -> str:
    """Return the command or line that makes the change."""
    namespace, kind, name = _parts(subject)
    given = {"namespace": namespace, "kind": kind, "name": name, "object": subject.object, "detail": subject.detail}
    change = CHANGES[subject.reason]
    text = change.how if subject.object or not change.how_of_all else change.how_of_all
    return Template(_written(text, kind)).safe_substitute(given)


def _written(text: str, kind: str) -> str:
    """Return the command, or the change of the template alone where no command can make it, and what it takes."""
    if not text.startswith(_PATCH):
        return text
    if kind not in _PATCHED:
        return f"in the pod template from which $object is made: {text.removeprefix(_PATCH)}"
    return f"{text}{_OF_NEW_PODS if kind == 'replicaset' else ''}"


def _parts(subject: Subject) -> tuple[str, str, str]:
    """Return namespace, kind and name of what is changed, as far as it has them."""
    parts = subject.object.split("/")
    if CHANGES[subject.reason].scope is Scope.WORKLOAD:
        namespace, *kinds, name = parts
        return namespace, (kinds[0] if kinds else "pod").lower(), name
    return (parts[0], "", parts[-1]) if len(parts) > 1 else ("", "", subject.object)
