"""The table of relaxations: what takes a reason away, each a row that alters what it is about and nothing else."""

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
    WORKLOAD = "workload"
    BUDGET = "budget"
    NAMESPACE = "namespace"
    NODE = "node"
    TAINT = "taint"
    POOL = "pool"
    CLUSTER = "cluster"


class Harm(IntEnum):
    """What a relaxation takes away besides the limit; the least comes first."""

    NONE = 0
    REPLICA = 1  # Harmless with two replicas; with one it makes a gap.
    WEAKENS = 2  # Takes away what somebody asked for: an opt-out, a constraint, time to end, work or data.

    @property
    def sentence(self) -> str:
        return ("", "needs a second replica", "weakens a protection: ask its owner first")[self]


@dataclass(frozen=True, slots=True)
class RelaxationRow:
    """How one reason is taken away: in a situation, and by a person; its sentence is the reason's without an own."""

    scope: Scope
    remedy: str  # A command or a line of the policy, with $namespace, $kind, $name, $object and $detail.
    harm: Harm = Harm.NONE
    cluster: "Callable[[Snapshot, Relaxation], Snapshot] | None" = None
    """What changes the cluster; None leaves it as it is."""
    policy: "Callable[[Policy, Relaxation], Policy] | None" = None
    title: str = ""  # What it is called; without one it is called by the reason that it takes away.
    word: str = ""  # The word of the scenario in JSON, if it is not the reason's.
    sentence: str = ""
    remedy_of_all: str = ""
    """The same for all pools, if that is one change; without it each pool has a change of its own."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One relaxation: the reason that it takes away, and from what."""

    reason: Reason
    object: str = ""
    """As `namespace/kind/name`, `namespace/name` or a name; empty where it is the cluster's, or of all pools."""
    detail: str = ""

    @property
    def row(self) -> RelaxationRow:
        return RELAXATIONS[self.reason]

    @property
    def key(self) -> tuple[RelaxationRow, str, str]:
        """What is one change, of whichever of its reasons: both ratio limits, in all pools where one keeps nodes."""
        return self.row, "" if self.row.remedy_of_all else self.object, self.detail

    @property
    def name(self) -> str:
        if self.row.title:
            return ": ".join(filter(None, (self.row.title, self.object)))
        return f"without {' '.join(filter(None, (self.reason.value, self.object, self.detail)))}"

    @property
    def word(self) -> str:
        return self.row.word or self.reason.value

    @property
    def sentence(self) -> str:
        return self.row.sentence or f"{self.reason}: {self.reason.sentence}"

    @property
    def remedy(self) -> str:
        parts = self.object.split("/")
        namespace, kind, name = (parts[0] if len(parts) > 1 else ""), "", parts[-1]
        text = self.row.remedy if self.object or not self.row.remedy_of_all else self.row.remedy_of_all
        if self.row.scope is Scope.WORKLOAD:
            namespace, *kinds, name = parts
            kind = (kinds[0] if kinds else "pod").lower()
            text = _of_kind(text, kind)
        given = {"namespace": namespace, "kind": kind, "name": name, "object": self.object, "detail": self.detail}
        return Template(text).safe_substitute(given)

    def apply(self, situation: Situation) -> Situation:
        snapshot, policy = situation.snapshot, situation.policy
        return Situation(
            self.row.cluster(snapshot, self) if self.row.cluster else snapshot,
            situation.state,
            self.row.policy(policy, self) if self.row.policy else policy,
        )


def _of_kind(text: str, kind: str) -> str:
    """Return the command, or the change of the template alone where no command can make it, and what it takes."""
    if not text.startswith(_PATCH):
        return text
    if kind not in _PATCHED:
        return f"in the pod template from which $object is made: {text.removeprefix(_PATCH)}"
    return f"{text}{_OF_NEW_PODS if kind == 'replicaset' else ''}"


def workload_of(snapshot: Snapshot, pod: Pod) -> str:
    """Return what a change of the pod's template is made on: its workload, or the pod itself.

    Where ReplicaSets were not read, a Deployment is known by the hash that it puts on its ReplicaSets' names and pods.
    """
    known = snapshot.workloads.get(pod.spec.workload)
    name = (known.name if known else "") or pod.spec.workload or pod.key
    made_by_deployment = f"-{pod.spec.labels.get(names.TEMPLATE_HASH_LABEL, '/')}"
    if _REPLICA_SET in name and name.endswith(made_by_deployment):
        return name.removesuffix(made_by_deployment).replace(_REPLICA_SET, "/Deployment/", 1)
    return name


_NEEDS_REPLICA, _WEAKENS = Harm.REPLICA, Harm.WEAKENS
_OWN: Final = "  # and in nodePools that set it"
_REPLICA_SET: Final = "/ReplicaSet/"
_PATCH: Final = "kubectl -n $namespace patch $kind $name --type merge -p "
_PATCHED: Final = frozenset({"deployment", "statefulset", "replicaset", "replicationcontroller", "rollout"})
"""Kinds whose template can be changed as they stand; that of a Job cannot."""
_OF_NEW_PODS: Final = "  # for pods that it makes from then on"
_UPDATE: Final = "gcloud container node-pools update $name --cluster CLUSTER --location LOCATION "


def _of_template(
    change: Callable[[PodClass], PodClass], remedy: str, harm: Harm = Harm.NONE, **more: Any
) -> RelaxationRow:
    """Change the template of one workload: all of its pods, wherever they lie."""

    def change_pods(snapshot: Snapshot, relaxation: Relaxation) -> Snapshot:
        changed: dict[PodClass, PodClass] = {}

        def pod_with(pod: Pod) -> Pod:
            if workload_of(snapshot, pod) != relaxation.object:
                return pod
            if pod.spec not in changed:
                changed[pod.spec] = change(pod.spec)
            return structs.replace(pod, spec=changed[pod.spec])

        pods, workloads = tuple(map(pod_with, snapshot.pods)), snapshot.workloads
        known = {new.workload: workloads[old.workload] for old, new in changed.items() if old.workload in workloads}
        return replace(snapshot, pods=pods, workloads={**workloads, **known})

    return RelaxationRow(Scope.WORKLOAD, remedy, harm, change_pods, **more)


def _patch(fields: str, note: str = "") -> str:
    return f'{_PATCH}\'{{"spec":{{"template":{{{fields}}}}}}}\'{note}'


def _annotate(text: str, note: str = "") -> str:
    return _patch(f'"metadata":{{"annotations":{{{text}}}}}', note)


def _with_spec(**fields: Any) -> Callable[[PodClass], PodClass]:
    return lambda spec: replace(spec, **fields)


def _of_pool(
    line: str, fields: Mapping[str, Any], harm: Harm = Harm.NONE, note: str = "", **more: Any
) -> RelaxationRow:
    """Change settings of one pool in the policy, or of all: a relaxation without an object."""

    def change(policy: Policy, relaxation: Relaxation) -> Policy:
        if not relaxation.object:
            pools = {name: replace(pool, **fields) for name, pool in policy.pools.items()}
            return replace(policy, pools=pools, other_pools=replace(policy.other_pools, **fields))
        own = replace(policy.pool(relaxation.object), **fields)
        return replace(policy, pools={**policy.pools, relaxation.object: own})

    one, of_all = f"policy: nodePools: {{$name: {{{line}}}}}{note}", f"policy: defaults: {{{line}}}{note or _OWN}"
    return RelaxationRow(Scope.POOL, one, harm, policy=change, **{"remedy_of_all": of_all, **more})


def _of_all(line: str, harm: Harm = Harm.NONE, **fields: Any) -> RelaxationRow:
    return RelaxationRow(Scope.CLUSTER, f"policy: {line}", harm, policy=lambda policy, _: replace(policy, **fields))


def _of_node_pool(flags: str, **fields: Any) -> RelaxationRow:

    def change(snapshot: Snapshot, relaxation: Relaxation) -> Snapshot:
        own = replace(snapshot.pools[relaxation.object], **fields)
        return replace(snapshot, pools={**snapshot.pools, relaxation.object: own})

    return RelaxationRow(Scope.POOL, f"{_UPDATE}{flags}", cluster=change)


def _of_node(change: Callable[[Node], Node], remedy: str) -> RelaxationRow:
    def change_node(snapshot: Snapshot, relaxation: Relaxation) -> Snapshot:
        nodes = (change(node) if node.name == relaxation.object else node for node in snapshot.nodes)
        return replace(snapshot, nodes=tuple(nodes))

    return RelaxationRow(Scope.NODE, remedy, _WEAKENS, change_node)


def _without_key(labels: Labels, *keys: str) -> Labels:
    return {key: value for key, value in labels.items() if key not in keys}


def _without_opt_outs(spec: PodClass) -> PodClass:
    keys = (*names.POD_OPT_OUTS, names.OPT_OUT_UNTIL)
    labels = _without_key(spec.labels, *names.POD_OPT_OUT_LABELS, names.OPT_OUT_UNTIL)
    return replace(spec, annotations=_without_key(spec.annotations, *keys), labels=labels)


def _without_node_opt_outs(node: Node) -> Node:
    keys = (*names.NODE_OPT_OUTS, names.OPT_OUT_UNTIL)
    return replace(node, annotations=_without_key(node.annotations, *keys), labels=_without_key(node.labels, *keys))


def _with_an_owner(spec: PodClass) -> PodClass:
    return replace(spec, owner=Owner("ReplicaSet", spec.owner.name if spec.owner else "alone"))


def _narrowly_tolerant(spec: PodClass) -> PodClass:
    ours = Taint(names.OUR_TAINT, NO_SCHEDULE, "order")
    return replace(spec, tolerations=tuple(one for one in spec.tolerations if not one.tolerates(ours)))


def _ignoring_taint(policy: Policy, relaxation: Relaxation) -> Policy:
    pool = policy.pool(relaxation.object)
    own = replace(pool, ignore_taints=pool.ignore_taints | {relaxation.detail})
    return replace(policy, pools={**policy.pools, relaxation.object: own})


def _one_may_go(snapshot: Snapshot, relaxation: Relaxation) -> Snapshot:
    def let_one_go(budget: PodDisruptionBudget) -> PodDisruptionBudget:
        if budget.key != relaxation.object:
            return budget
        allowed, one = max(budget.disruptions_allowed, 1), Limit(count=1)
        counted = replace(budget, disruptions_allowed=allowed, observed=True, fault="")
        return replace(counted, min_available=None, max_unavailable=one)

    return replace(snapshot, disruption_budgets=tuple(map(let_one_go, snapshot.disruption_budgets)))


def _no_budget(snapshot: Snapshot, relaxation: Relaxation) -> Snapshot:
    kept = (budget for budget in snapshot.disruption_budgets if budget.key != relaxation.object)
    return replace(snapshot, disruption_budgets=tuple(kept))


def _open_namespace(snapshot: Snapshot, relaxation: Relaxation) -> Snapshot:
    labels = _without_key(snapshot.namespaces.get(relaxation.object, {}), names.EVICTIONS_LABEL)
    return replace(snapshot, namespaces={**snapshot.namespaces, relaxation.object: labels})


# fmt: off
_ANYWHERE: Final = _of_template(_with_spec(node_selector={}, node_terms=None),
    "use preferred instead of required node affinity or nodeSelector in $object", _WEAKENS)
_NO_LIMITS: Final = _of_pool("scaleDownCPURequestRatioLimit: 1, scaleDownMemoryRequestRatioLimit: 1",
    {"cpu_limit": Fraction(1), "memory_limit": Fraction(1)}, title="no ratio limits", word="limits")
_PREFERRED: Final = "use preferredDuringSchedulingIgnoredDuringExecution in $object: "
_GAP: Final = _of_pool("singleReplicas: move", {"single_replicas": SingleReplicas.MOVE}, _WEAKENS,
    "  # makes a gap; better: run two replicas")
_JOBS: Final = _of_pool("jobs: move", {"jobs": Jobs.MOVE}, _WEAKENS, "  # running Jobs lose their work so far",
    title="running Jobs may move", word="jobs")


def _of_budget(command: str) -> RelaxationRow:
    return RelaxationRow(Scope.BUDGET, f"kubectl -n $namespace {command}", _NEEDS_REPLICA, _one_may_go,
        title="PDB allows 1", word="pdb")


RELAXATIONS: Final[Mapping[Reason, RelaxationRow]] = {
    PodBlock.NOT_SAFE_TO_EVICT: _of_template(
        lambda spec: replace(spec, annotations=_without_key(spec.annotations, names.SAFE_TO_EVICT)),
        _annotate(f'"{names.SAFE_TO_EVICT}":null'), _WEAKENS),
    PodBlock.DO_NOT_DISRUPT: _of_template(_without_opt_outs,
        _annotate('"ANNOTATION":null', "  # the annotation that ebb explain names"), _WEAKENS),
    PodBlock.NAMESPACE_CLOSED: RelaxationRow(Scope.NAMESPACE,
        f"kubectl label namespace $name {names.EVICTIONS_LABEL}-", _WEAKENS, _open_namespace),
    PodBlock.NOT_REPLICATED: _of_template(_with_an_owner, "run $object under a Deployment or StatefulSet"),
    PodBlock.LOCAL_STORAGE: _of_template(
        lambda spec: replace(spec, annotations={**spec.annotations, names.SAFE_TO_EVICT: "true"}),
        _annotate(f'"{names.SAFE_TO_EVICT}":"true"', "  # if the data may be lost"), _WEAKENS,
        title="local storage may move", word="local_storage"),
    PodBlock.KUBE_SYSTEM: _of_pool("kubeSystemPods: evict", {"kube_system_pods": KubeSystemPods.EVICT}, _WEAKENS),
    PodBlock.PDB_EXHAUSTED: _of_budget("describe pdb $name  # its owner runs one more healthy replica"),
    PodBlock.PDB_NEVER_ALLOWS: _of_budget("patch pdb $name --type merge -p "
        '\'{"spec":{"minAvailable":null,"maxUnavailable":1}}\'  # if two or more replicas run; else add one first'),
    PodBlock.PDB_UNCOUNTED: _of_budget("patch pdb $name --type merge -p "
        '\'{"spec":{"minAvailable":COUNT,"maxUnavailable":null}}\'  # COUNT: one less than its pods, or fewer'),
    PodBlock.SEVERAL_PDBS: RelaxationRow(Scope.BUDGET,
        "kubectl -n $namespace delete pdb $name  # pods with several cannot be evicted; keep the strictest",
        _WEAKENS, _no_budget),
    PodBlock.SINGLE_REPLICA: _GAP,
    PodBlock.SURGE_FORBIDDEN: _GAP,
    PodBlock.SURGE_IMPOSSIBLE: _GAP,
    PodBlock.JOB: _JOBS,
    PodBlock.JOB_RUNNING: _JOBS,
    PodBlock.TOO_FEW_AVAILABLE: _of_pool("unprotected: 100%", {"unprotected": Limit(percent=100)}, _WEAKENS,
        "  # better: restore the missing replicas"),
    PodBlock.GRACE_TOO_LONG: _of_pool("longGrace: cut", {"long_grace": LongGrace.CUT}, _WEAKENS),
    PodBlock.TOLERATES_DRAIN_TAINT: _of_template(_narrowly_tolerant,
        _patch('"spec":{"tolerations":[…]}', "  # name the taints that it should tolerate")),
    PodBlock.NAMES_ITS_NODE: _ANYWHERE,
    PodBlock.SCHEDULING_GATES: _of_template(_with_spec(scheduling_gates=()),
        _patch('"spec":{"schedulingGates":null}'), _WEAKENS),
    Exclusion.SELECTOR: _ANYWHERE,
    Exclusion.ANTI_AFFINITY: _of_template(_with_spec(anti_affinity=()), f"{_PREFERRED}podAntiAffinity", _WEAKENS),
    Exclusion.AFFINITY: _of_template(_with_spec(affinity=()), f"{_PREFERRED}podAffinity", _WEAKENS),
    Exclusion.HOST_PORT: _of_template(_with_spec(host_ports=()), "use a Service instead of hostPort in $object"),
    Exclusion.SPREAD: _of_template(_with_spec(hard_spread=()),
        "run one more replica of $object, or set whenUnsatisfiable: ScheduleAnyway in topologySpreadConstraints",
        _NEEDS_REPLICA),
    Exclusion.ROOM: replace(_of_pool("headroom: 0%", {"headroom_percent": 0}, _WEAKENS,
        "  # leaves pods Pending more often (docs/decisions/robust-fit.md)", title="no headroom", word="headroom",
        sentence="The share of each remaining node that the policy keeps free."), scope=Scope.CLUSTER),
    Unremovable.POOL_DISABLED: _of_pool("enabled: true", {"enabled": True}, title="pool enabled", word="pools",
        remedy_of_all=""),
    Unremovable.NOT_AUTOSCALED: _of_node_pool("--enable-autoscaling --min-nodes 0 --max-nodes MAX", autoscaled=True),
    Unremovable.POOL_AT_MINIMUM: _of_node_pool(
        "--enable-autoscaling --min-nodes 0  # --total-min-nodes 0 if its minimum is of all zones together",
        min_per_zone=0, min_total=0),
    Unremovable.RESOURCE_MINIMUM: RelaxationRow(Scope.CLUSTER,
        "gcloud container clusters update CLUSTER --location LOCATION --enable-autoprovisioning "
        "--min-cpu 1 --max-cpu MAX --min-memory 1 --max-memory MAX  # each maximum as it is",
        cluster=lambda seen, _: replace(seen, minimum=NOTHING)),
    Unremovable.CORDONED_BY_OTHER: _of_node(lambda node: replace(node, unschedulable=False), "kubectl uncordon $name"),
    Unremovable.TAINTED: RelaxationRow(Scope.TAINT, "policy: nodePools: {$name: {ignoreTaints: [$detail]}}",
        policy=_ignoring_taint),
    Unremovable.SCALE_DOWN_DISABLED: _of_node(_without_node_opt_outs,
        f"kubectl annotate node $name {names.SCALE_DOWN_DISABLED}-  # or the annotation or label in ebb explain"),
    Unremovable.NOT_EMPTY: _of_pool("disruption: {consolidationPolicy: WhenUnderutilized}",
        {"consolidation_policy": ConsolidationPolicy.WHEN_UNDERUTILIZED}),
    Unremovable.CPU_ABOVE_LIMIT: _NO_LIMITS,
    Unremovable.MEMORY_ABOVE_LIMIT: _NO_LIMITS,
    Unremovable.ACCELERATOR_ABOVE_LIMIT: _NO_LIMITS,
    Unremovable.CONSOLIDATION_OFF: _of_pool("disruption: {consolidateAfter: 5m}",
        {"consolidate_after": timedelta(minutes=5)}),
    Unremovable.TOO_FEW_UNDERUTILIZED: _of_pool("scaleDownRequiredUnderutilizedNodeCount: 1", {"required_count": 1},
        title="no required number of nodes", word="required_count"),
    Unremovable.NO_EXCESS: _of_pool("excessNodesThreshold: 0", {"excess_threshold": Fraction(0)},
        title="no spare nodes required", word="excess"),
    Unremovable.PAUSED: _of_all("paused: false", paused=False),
    Unremovable.MINIMUM_NODES: _of_all("cluster: {minimumNodes: 0}", _WEAKENS, minimum_nodes=0),
    Unremovable.MINIMUM_NON_TAINTED: _of_all("cluster: {minimumNonTaintedNodes: 0}", _WEAKENS,
        minimum_non_tainted_nodes=0),
    Unremovable.SAVING_TOO_SMALL: _of_pool("minimumSavingPerEviction: 0", {"minimum_saving": Fraction(0)}),
}
"""A reason without a row passes by itself, or is no setting: see its remedy."""
# fmt: on
