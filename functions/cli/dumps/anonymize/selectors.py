"""Labels, selectors, terms, taints and tolerations with other names; words of the API that rules read are kept."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from functions.cli.dumps.anonymize.pseudonyms import Namer
from shared.core.cluster import names

NAMED_VALUES: Final[Mapping[str, str]] = {
    names.POOL_LABEL: "pool",
    names.HOSTNAME_LABEL: "node",
    names.COMPUTE_CLASS_LABEL: "workload",
    "kubernetes.io/metadata.name": "namespace",
}
"""Labels whose value is the name of something."""
_PLACES: Final = (
    *names.VOLUME_ZONE_LABELS,
    "topology.gke.io/zone",
    names.MACHINE_LABEL,
    "beta.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
)
_OF_GKE: Final = (
    *names.SPOT_LABELS,
    names.TPU_TOPOLOGY_LABEL,
    names.CONSOLIDATION_DELAY_LABEL,
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-accelerator-count",
    "cloud.google.com/gke-tpu-accelerator",
    "cloud.google.com/gke-provisioning",
    "cloud.google.com/gke-local-nvme-ssd",
    "cloud.google.com/gke-ephemeral-storage-local-ssd",
    "cloud.google.com/machine-family",
    names.STANDBY_NODE,
    names.MANAGED_NODE,
)
SWITCHES: Final = frozenset(
    {*names.POD_OPT_OUT_LABELS, *names.NODE_OPT_OUTS, names.OPT_OUT_UNTIL, names.EVICTIONS_LABEL}
)
"""Labels that leave something alone: of their values only those that mean something stay."""
KEPT_VALUES: Final = frozenset({*_PLACES, *_OF_GKE})
"""Labels whose values are the platform's words."""
_KEPT_KEYS: Final = frozenset({
    *KEPT_VALUES, *SWITCHES, *NAMED_VALUES, *names.QUEUED_KEYS, *names.PLACEMENT_LABELS, *names.GOING_TAINTS,
    *names.OUTSIDE_TAINTS,
    names.OUR_TAINT, "pod-template-hash", "controller-revision-hash", "statefulset.kubernetes.io/pod-name",
    "nvidia.com/gpu", "google.com/tpu",
})  # fmt: skip
_KEPT_PREFIXES: Final = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "cloud.google.com/gke-",
)
_RESOURCES: Final = frozenset({
    "cpu", "memory", "ephemeral-storage", "pods", "nvidia.com/gpu", "amd.com/gpu", "google.com/tpu",
})  # fmt: skip
_RESOURCE_PREFIXES: Final = ("hugepages-", "attachable-volumes-")
_KINDS: Final = frozenset({
    "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController", "Node", "Pod",
    "ComputeClass",
})  # fmt: skip
_DRIVERS: Final = (".gke.io", ".aws.com", ".azure.com", ".k8s.io", ".openstack.org", ".vmware.com", ".portworx.com")
_REASONS: Final = frozenset({
    "Unschedulable", "Infeasible", "Deferred", "NodeStatusNeverUpdated", "NewReplicaSetAvailable", "ReplicaSetUpdated",
    "ProgressDeadlineExceeded", "NewReplicaSetCreated", "FoundNewReplicaSet", "DeploymentPaused", "DeploymentResumed",
})  # fmt: skip


_SWITCH: Final = re.compile(r"|true|false|never|on-completion|-?\d{1,20}|([0-9.]+(ns|us|µs|μs|ms|s|m|h))+")
_CONDITIONS: Final = frozenset({
    "Ready", "ReadyForProvisioning", "PodScheduled", "PodResizePending", "Progressing", "Available",
    *names.LIFECYCLE_CONDITIONS, names.SUSPENDED_CONDITION,
})  # fmt: skip


def switch(value: str) -> str:
    """Return the value of a switch, where it is one that switches something."""
    return value if _SWITCH.fullmatch(value) else "other"


def is_kept_condition(kind: str) -> bool:
    return kind in _CONDITIONS


def is_kept_key(key: str) -> bool:
    return key in _KEPT_KEYS or key.startswith(_KEPT_PREFIXES)


def is_kept_resource(name: str) -> bool:
    return name in _RESOURCES or name.startswith(_RESOURCE_PREFIXES)


def is_kept_kind(kind: str) -> bool:
    return kind in _KINDS


def is_kept_driver(driver: str) -> bool:
    return driver.startswith("kubernetes.io/") or driver.endswith(_DRIVERS)


def is_kept_reason(reason: str) -> bool:
    return reason in _REASONS


Object = dict[str, Any]
_AS_NUMBERS: Final = frozenset({"Gt", "Lt"})
_HARD: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def picked(given: Mapping[str, Any] | None, *fields: str) -> Object:
    """Return these fields, as far as they are there."""
    return {name: given[name] for name in fields if given and given.get(name) is not None}


def each_of(rows: Iterable[Any] | None, rename: Callable[[Any], Any]) -> list[Any]:
    return [rename(row) for row in rows or ()]


def key(namer: Namer, given: str) -> str:
    return given if is_kept_key(given) or not given else namer.name("label", given)


def value(namer: Namer, of: str, given: str) -> str:
    """Return the value of the label or taint `of`."""
    if of in KEPT_VALUES or not given:
        return given
    if of in SWITCHES:
        return switch(given)
    return namer.name(NAMED_VALUES[of], given) if of in NAMED_VALUES else namer.value(of, given)


def labels(namer: Namer, given: Mapping[str, str] | None) -> dict[str, str]:
    return {key(namer, name): value(namer, name, each) for name, each in (given or {}).items()}


def selector(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a label selector; an empty one matches all and stays empty."""
    found: Object = {}
    if given.get("matchLabels") is not None:
        found["matchLabels"] = labels(namer, given["matchLabels"])
    if given.get("matchExpressions") is not None:
        found["matchExpressions"] = each_of(given["matchExpressions"], lambda row: expression(namer, row))
    return found


def expression(namer: Namer, given: Mapping[str, Any], *, field: bool = False) -> Object:
    """Return one requirement; a field is named by the API, and names a node."""
    of = given.get("key", "")
    if given.get("operator") in _AS_NUMBERS:
        namer.compares(of)
    found = picked(given, "operator")
    found["key"] = of if field else key(namer, of)
    if given.get("values") is not None:
        found["values"] = [namer.name("node", each) if field else value(namer, of, each) for each in given["values"]]
    return found


def node_selector(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a node selector: terms of expressions and of fields."""
    return {"nodeSelectorTerms": each_of(given.get("nodeSelectorTerms"), lambda row: _node_term(namer, row))}


def _node_term(namer: Namer, given: Mapping[str, Any]) -> Object:
    found: Object = {}
    if given.get("matchExpressions") is not None:
        found["matchExpressions"] = each_of(given["matchExpressions"], lambda row: expression(namer, row))
    if given.get("matchFields") is not None:
        found["matchFields"] = each_of(given["matchFields"], lambda row: expression(namer, row, field=True))
    return found


def affinity(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return what an affinity requires; what it prefers binds nobody."""
    found: Object = {}
    node = (given.get("nodeAffinity") or {}).get(_HARD)
    if node is not None:
        found["nodeAffinity"] = {_HARD: node_selector(namer, node)}
    for name in ("podAffinity", "podAntiAffinity"):
        terms = (given.get(name) or {}).get(_HARD)
        if terms is not None:
            found[name] = {_HARD: each_of(terms, lambda row: _pod_term(namer, row))}
    return found


def _pod_term(namer: Namer, given: Mapping[str, Any]) -> Object:
    found = _with_selectors(namer, given, "labelSelector", "namespaceSelector")
    found["topologyKey"] = key(namer, given.get("topologyKey", ""))
    if given.get("namespaces") is not None:
        found["namespaces"] = [namer.name("namespace", each) for each in given["namespaces"]]
    return _with_keys(namer, given, found, "matchLabelKeys", "mismatchLabelKeys")


def spread(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a topology spread constraint."""
    found = picked(
        given, "whenUnsatisfiable", "maxSkew", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy"
    ) | _with_selectors(namer, given, "labelSelector")
    found["topologyKey"] = key(namer, given.get("topologyKey", ""))
    return _with_keys(namer, given, found, "matchLabelKeys")


def _with_selectors(namer: Namer, given: Mapping[str, Any], *fields: str) -> Object:
    return {name: selector(namer, given[name]) for name in fields if given.get(name) is not None}


def _with_keys(namer: Namer, given: Mapping[str, Any], found: Object, *fields: str) -> Object:
    for name in fields:
        if given.get(name) is not None:
            found[name] = [key(namer, each) for each in given[name]]
    return found


def taint(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return a taint or a toleration."""
    found = picked(given, "effect", "operator", "tolerationSeconds")
    of = given.get("key") or ""
    if given.get("key") is not None:
        found["key"] = key(namer, of)
    if given.get("value") is not None:
        found["value"] = value(namer, of, given["value"])
    return found
