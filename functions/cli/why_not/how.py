"""How each change would be made: a command, or a line of a manifest or of the policy. One for each that is tried.

Must not word what a reason means: the reason does.
"""

from collections.abc import Mapping
from string import Template
from typing import Final

from functions.cli.analysis.exclusions import Exclusion
from functions.cli.analysis.lifting import Scope, Subject
from functions.cli.analysis.lifts import GAP_INSTEAD, LIFTS
from shared.core.cluster import names
from shared.core.reasons import PodBlock, Reason, Unremovable

_PATCH: Final = "kubectl -n $namespace patch $kind $name --type merge -p "
_PATCHED: Final = frozenset({"deployment", "statefulset", "replicaset", "replicationcontroller", "rollout"})
"""Kinds whose template can be changed as they stand; that of a Job cannot."""
_OF_NEW_PODS: Final = "  # for pods that it makes from then on"
_UPDATE: Final = "gcloud container node-pools update $name --cluster CLUSTER --location LOCATION "


def _annotations(text: str) -> str:
    """Return the command that changes annotations of a workload's template."""
    return _PATCH + f'\'{{"spec":{{"template":{{"metadata":{{"annotations":{{{text}}}}}}}}}}}\''


def _template(field: str) -> str:
    return _PATCH + f'\'{{"spec":{{"template":{{"spec":{{{field}}}}}}}}}\''


def _pool(line: str) -> str:
    return f"policy: nodePools: {{$name: {{{line}}}}}"


HOW: Final[Mapping[Reason, str]] = {
    PodBlock.NOT_SAFE_TO_EVICT: _annotations(f'"{names.SAFE_TO_EVICT}":null'),
    PodBlock.DO_NOT_DISRUPT: _annotations('"ANNOTATION":null') + "  # the annotation that ebb explain names",
    PodBlock.NAMESPACE_CLOSED: f"kubectl label namespace $name {names.EVICTIONS_LABEL}-",
    PodBlock.NOT_REPLICATED: "run $object under a Deployment or StatefulSet",
    PodBlock.LOCAL_STORAGE: _annotations(f'"{names.SAFE_TO_EVICT}":"true"') + "  # if the data may be lost",
    PodBlock.KUBE_SYSTEM: _pool("kubeSystemPods: evict"),
    PodBlock.PDB_EXHAUSTED: "one more healthy replica behind PodDisruptionBudget $object, so that it allows one to go",
    PodBlock.PDB_NEVER_ALLOWS: "one more replica, minAvailable of PodDisruptionBudget $object as many as now stay up",
    PodBlock.SEVERAL_PDBS: "kubectl -n $namespace delete pdb $name",
    PodBlock.SINGLE_REPLICA: _pool("singleReplicas: move"),
    **dict.fromkeys(GAP_INSTEAD, _pool("singleReplicas: move") + "  # which makes a gap; better: two replicas"),
    PodBlock.JOB: _pool("jobs: move"),
    PodBlock.JOB_RUNNING: _pool("jobs: move") + "  # its work so far is lost; else it ends by itself",
    PodBlock.TOO_FEW_AVAILABLE: _pool("unprotected: 100%") + "  # better: mend the replicas that are away",
    PodBlock.GRACE_TOO_LONG: _pool("longGrace: cut"),
    PodBlock.TOLERATES_DRAIN_TAINT: _template('"tolerations":[…]') + "  # name the taints that it shall tolerate",
    PodBlock.NAMES_ITS_NODE: _template('"nodeSelector":null,"affinity":{"nodeAffinity":null}'),
    PodBlock.SCHEDULING_GATES: _template('"schedulingGates":null'),
    Exclusion.SELECTOR: _template('"nodeSelector":null,"affinity":{"nodeAffinity":null}'),
    Exclusion.ANTI_AFFINITY: _template('"affinity":{"podAntiAffinity":null}') + "  # or preferred instead of required",
    Exclusion.AFFINITY: _template('"affinity":{"podAffinity":null}') + "  # or preferred instead of required",
    Exclusion.HOST_PORT: "a Service instead of hostPort in $object",
    Exclusion.SPREAD: "$object: topologySpreadConstraints: whenUnsatisfiable: ScheduleAnyway, or one more replica",
    Exclusion.ROOM: "policy: defaults: {headroom: 0%}  # leaves pods Pending more often (docs/decisions/robust-fit.md)",
    Unremovable.POOL_DISABLED: _pool("enabled: true"),
    Unremovable.NOT_AUTOSCALED: _UPDATE + "--enable-autoscaling --min-nodes 0 --max-nodes MAX",
    Unremovable.POOL_AT_MINIMUM: _UPDATE + "--enable-autoscaling --min-nodes 0",
    Unremovable.RESOURCE_MINIMUM: "gcloud container clusters update CLUSTER --min-cpu 1 --min-memory 1",
    Unremovable.CORDONED_BY_OTHER: "kubectl uncordon $name",
    Unremovable.TAINTED: _pool("ignoreTaints: [$detail]"),
    Unremovable.SCALE_DOWN_DISABLED: f"kubectl annotate node $name {names.SCALE_DOWN_DISABLED}-",
    Unremovable.NOT_EMPTY: _pool("disruption: {consolidationPolicy: WhenUnderutilized}"),
    Unremovable.CPU_ABOVE_LIMIT: _pool("scaleDownCPURequestRatioLimit: 1"),
    Unremovable.MEMORY_ABOVE_LIMIT: _pool("scaleDownMemoryRequestRatioLimit: 1"),
    Unremovable.ACCELERATOR_ABOVE_LIMIT: _pool("scaleDownCPURequestRatioLimit: 1"),
    Unremovable.CONSOLIDATION_OFF: _pool("disruption: {consolidateAfter: 5m}"),
    Unremovable.TOO_FEW_UNDERUTILIZED: _pool("scaleDownRequiredUnderutilizedNodeCount: 1"),
    Unremovable.NO_EXCESS: _pool("excessNodesThreshold: 0"),
    Unremovable.PAUSED: "policy: paused: false",
    Unremovable.MINIMUM_NODES: "policy: cluster: {minimumNodes: 0}",
    Unremovable.MINIMUM_NON_TAINTED: "policy: cluster: {minimumNonTaintedNodes: 0}",
    Unremovable.SAVING_TOO_SMALL: _pool("minimumSavingPerEviction: 0"),
}


def how(subject: Subject) -> str:
    """Return the command or line that makes the change."""
    namespace, kind, name = _parts(subject)
    given = {"namespace": namespace, "kind": kind, "name": name, "object": subject.object, "detail": subject.detail}
    return Template(_written(HOW[subject.reason], kind)).safe_substitute(given)


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
    if LIFTS[subject.reason].scope is Scope.WORKLOAD:
        namespace, *kinds, name = parts
        return namespace, (kinds[0] if kinds else "pod").lower(), name
    return (parts[0], "", parts[-1]) if len(parts) > 1 else ("", "", subject.object)
