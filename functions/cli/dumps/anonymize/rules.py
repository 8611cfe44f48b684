"""How parts of objects get other names: small rules, made of each other. A field without a rule is left out.

What stands for a name is its rank among those of its sort. Sorted by name, all is in the same order as before, so the
plan of both dumps is the same; equal dumps give equal names. All names have to be known before the first is given: the
rules run twice, before and after `rank_names`.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from shared.core.cluster import names

NameTable = dict[str, dict[str, str]]  # By sort and name: what stands for it.
_BEFORE_KUBE_SYSTEM: Final = "a-"
"""kube-system keeps its name, for rules read it: what came before it in the order has to come before it still."""


class Namer:
    """Takes names down until they are ranked, and from then on gives what stands for each; nothing for nothing."""

    def __init__(self) -> None:
        self.table: NameTable = {}
        self._names: defaultdict[str, set[str]] = defaultdict(set)
        self._numbers: defaultdict[str, set[int]] = defaultdict(set)
        self._compared: set[str] = set()
        self._claims: dict[str, tuple[str, str]] = {}
        self._ranks: dict[str, dict[int, str]] = {}
        self._is_ranked = False

    def rank_names(self) -> None:
        self._is_ranked = True
        self.table = {sort: _rank(sort, given - {""}) for sort, given in self._names.items()}
        self._ranks = {
            key: {number: str(rank) for rank, number in enumerate(sorted(self._numbers[key]), start=1)}
            for key in self._compared
        }
        claims = self.table.setdefault("claim", {})
        for claim, (pod, volume) in self._claims.items():
            claims[claim] = f"{self.name('pod', pod)}-{self.name('volume', volume)}"

    def name(self, sort: str, given: str) -> str:
        """Raises TypeError: it is no name."""
        if self._is_ranked:
            return self.table[sort][given] if given else ""
        if not isinstance(given, str):
            raise TypeError(f"{given!r} is no name")
        self._names[sort].add(given)
        return given

    def value(self, key: str, given: str) -> str:
        name, number = self.name("value", given), _number(given)
        if number is not None and not self._is_ranked:
            self._numbers[key].add(number)
        return name if number is None else self._ranks.get(key, {}).get(number, name)

    def compare_numbers(self, key: str) -> None:
        """Take down that values of this label are compared as numbers."""
        self._compared.add(key)

    def derive_claim(self, pod: str, volume: str) -> None:
        """Take down that a claim is named after its pod and the pod's volume."""
        self._claims[f"{pod}-{volume}"] = (pod, volume)


def _rank(sort: str, given: Iterable[str]) -> dict[str, str]:
    """A namespace is sorted as it stands before a name: `a/` comes after `a-b/`."""
    order = sorted(given, key=lambda name: f"{name}/") if sort == "namespace" else sorted(given)
    width = len(str(len(order)))
    return {
        **{name: f"{_prefix(sort, name)}{sort}-{rank:0{width}}" for rank, name in enumerate(order, 1)},
        **({names.KUBE_SYSTEM: names.KUBE_SYSTEM} if sort == "namespace" else {}),
    }


def _prefix(sort: str, name: str) -> str:
    if sort == "namespace" and name < names.KUBE_SYSTEM:
        return _BEFORE_KUBE_SYSTEM
    return names.AUTOPILOT_NODES if sort == "node" and name.startswith(names.AUTOPILOT_NODES) else ""


def _number(given: str) -> int | None:
    digits = given.removeprefix("-")
    return int(given) if digits.isascii() and digits.isdigit() else None


Rule: TypeAlias = Callable[[Namer, Any], Any]
Object: TypeAlias = dict[str, Any]


def keep(namer: Namer, given: Any) -> Any:
    del namer
    return given


def alias(sort: str, kept: Callable[[str], bool] | Container[str] = ()) -> Rule:
    """Return the rule for names of a sort; those that are kept are the platform's words."""
    is_kept = kept if callable(kept) else kept.__contains__
    return lambda namer, given: given if not given or is_kept(given) else namer.name(sort, given)


def word(kept: Container[str]) -> Rule:
    """Return the rule for words of which some are read; any other might be anybody's."""
    return lambda _, given: given if given in kept else "Other"


def every(rule: Rule) -> Rule:
    return lambda namer, rows: [rule(namer, row) for row in rows]


def fields(*kept: str, **rules: Rule) -> Rule:
    """Return the rule for an object: fields that are kept, and those with a rule, as far as they are there."""
    whole = {**dict.fromkeys(kept, keep), **rules}

    def rename(namer: Namer, given: Mapping[str, Any]) -> Object:
        return {name: rule(namer, given[name]) for name, rule in whole.items() if given.get(name) is not None}

    return rename


NAMED_VALUES: Final[Mapping[str, str]] = {
    names.POOL_LABEL: "pool",
    names.HOSTNAME_LABEL: "node",
    names.COMPUTE_CLASS_LABEL: "workload",
    "kubernetes.io/metadata.name": "namespace",
    names.REVISION_LABEL: "revision",
    names.POD_NAME_LABEL: "pod",
}
"""Labels whose value is the name of something."""
SWITCHES: Final = frozenset(
    {*names.POD_OPT_OUT_LABELS, *names.NODE_OPT_OUTS, names.OPT_OUT_UNTIL, names.EVICTIONS_LABEL}
)
"""Labels that leave something alone: of their values only those that mean something stay."""
KEPT_VALUES: Final = frozenset({
    *names.VOLUME_ZONE_LABELS, "topology.gke.io/zone", names.MACHINE_LABEL, "beta.kubernetes.io/instance-type",
    "kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/arch",
    *names.SPOT_LABELS, names.TPU_TOPOLOGY_LABEL, names.CONSOLIDATION_DELAY_LABEL, "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-accelerator-count", "cloud.google.com/gke-tpu-accelerator",
    "cloud.google.com/gke-provisioning", "cloud.google.com/gke-local-nvme-ssd",
    "cloud.google.com/gke-ephemeral-storage-local-ssd", "cloud.google.com/machine-family", names.STANDBY_NODE,
    names.MANAGED_NODE, names.POD_INDEX_LABEL,
})  # fmt: skip
"""Labels whose values are the platform's words, or numbers."""
_KEPT_KEYS: Final = frozenset({
    *KEPT_VALUES, *SWITCHES, *NAMED_VALUES, *names.QUEUED_KEYS, *names.PLACEMENT_LABELS, *names.GOING_TAINTS,
    *names.OUTSIDE_TAINTS,
    names.NODE_TYPE_LABEL, names.OUR_TAINT, names.TEMPLATE_HASH_LABEL, "nvidia.com/gpu", "google.com/tpu",
})  # fmt: skip
_KEPT_PREFIXES: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "cloud.google.com/gke-")
_RESOURCES: Final = frozenset({
    "cpu", "memory", "ephemeral-storage", "pods", "nvidia.com/gpu", "amd.com/gpu", "google.com/tpu",
})  # fmt: skip
_KINDS: Final = frozenset({
    "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController", "Node", "Pod",
    "ComputeClass",
})  # fmt: skip
_DRIVERS: Final = (".gke.io", ".aws.com", ".azure.com", ".k8s.io", ".openstack.org", ".vmware.com", ".portworx.com")
_REASONS: Final = frozenset({
    "Unschedulable", "Infeasible", "Deferred", "NodeStatusNeverUpdated", "NewReplicaSetAvailable", "ReplicaSetUpdated",
    "ProgressDeadlineExceeded", "NewReplicaSetCreated", "FoundNewReplicaSet", "DeploymentPaused", "DeploymentResumed",
    "SyncFailed", "SufficientPods", "InsufficientPods",
})  # fmt: skip
_CONDITIONS: Final = frozenset({
    "Ready", "ReadyForProvisioning", "PodScheduled", "PodResizePending", "Progressing", "Available",
    "DisruptionAllowed",    *names.LIFECYCLE_CONDITIONS, names.SUSPENDED_CONDITION,
})  # fmt: skip
_SWITCH: Final = re.compile(r"|true|false|never|on-completion|-?\d{1,20}|([0-9.]+(ns|us|µs|μs|ms|s|m|h))+")
_AS_NUMBERS: Final = frozenset({"Gt", "Lt"})
_HARD: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def switch(value: str) -> str:
    return value if _SWITCH.fullmatch(value) else "other"


key: Final = alias("label", lambda given: given in _KEPT_KEYS or given.startswith(_KEPT_PREFIXES))
driver: Final = alias("driver", lambda given: given.startswith("kubernetes.io/") or given.endswith(_DRIVERS))
resource: Final = alias(
    "resource", lambda given: given in _RESOURCES or given.startswith(("hugepages-", "attachable-volumes-"))
)


def amounts(namer: Namer, given: Mapping[str, Any]) -> Object:
    """Return quantities by resource; a resource of the owner's own is named alike on nodes and pods."""
    return {resource(namer, name): amount for name, amount in given.items()}


def value(namer: Namer, of: str, given: str) -> str:
    if of in KEPT_VALUES or given in {"", names.VIRTUAL_KUBELET}:
        return given
    if of in SWITCHES:
        return switch(given)
    return namer.name(NAMED_VALUES[of], given) if of in NAMED_VALUES else namer.value(of, given)


def labels(namer: Namer, given: Mapping[str, str]) -> Object:
    return {key(namer, name): value(namer, name, text) for name, text in given.items()}


def expression(namer: Namer, given: Mapping[str, Any]) -> Any:
    of = given.get("key", "")
    if given.get("operator") in _AS_NUMBERS:
        namer.compare_numbers(of)
    values: Rule = lambda namer, rows: [value(namer, of, row) for row in rows]  # noqa: E731 - a rule of this label
    return fields("operator", key=key, values=values)(namer, given)


def taint(namer: Namer, given: Mapping[str, Any]) -> Any:
    of = given.get("key") or ""
    rule = fields("effect", "operator", "tolerationSeconds", key=key, value=lambda namer, row: value(namer, of, row))
    return rule(namer, given)


selector: Final = fields(matchLabels=labels, matchExpressions=every(expression))
_field: Final = fields("operator", "key", values=every(alias("node")))
"""A requirement on a field; the API names the field, and its values name nodes."""
node_selector: Final = fields(
    nodeSelectorTerms=every(fields(matchExpressions=every(expression), matchFields=every(_field)))
)
_pod_terms: Final = fields(**{
    _HARD: every(
        fields(
            labelSelector=selector, namespaceSelector=selector, topologyKey=key, namespaces=every(alias("namespace")),
            matchLabelKeys=every(key), mismatchLabelKeys=every(key),
        )
    )
})  # fmt: skip
affinity: Final = fields(
    nodeAffinity=fields(**{_HARD: node_selector}), podAffinity=_pod_terms, podAntiAffinity=_pod_terms
)
"""What an affinity prefers is left out: it binds nobody."""
spread: Final = fields(
    "whenUnsatisfiable", "maxSkew", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy",
    labelSelector=selector, topologyKey=key, matchLabelKeys=every(key),
)  # fmt: skip
conditions: Final = every(
    fields("status", "lastTransitionTime", "lastHeartbeatTime", type=word(_CONDITIONS), reason=word(_REASONS | {""}))
)
"""Their times are the dump's time."""


def owner(namer: Namer, given: Mapping[str, Any]) -> Any:
    sort = {"Node": "node", "Pod": "pod"}.get(given.get("kind", ""), "workload")
    rule = fields("controller", kind=alias("kind", _KINDS), name=alias(sort), uid=alias("uid"))
    return rule(namer, given)


def _drain(namer: Namer, text: str) -> str:
    """Return our own note with the order under the name that the taint has for it."""
    try:
        note: Any = msgspec.json.decode(text)
        order = namer.value(names.OUR_TAINT, note["order_id"])
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
        return "other"
    return msgspec.json.encode({"order_id": order, **fields("since")(namer, note)}).decode()


_VALUES: Final[Mapping[str, Rule]] = {
    "volume.beta.kubernetes.io/storage-class": alias("class"),
    "volume.kubernetes.io/selected-node": alias("node"),
    "storage.alpha.kubernetes.io/migrated-plugins": lambda _, text: ",".join(
        plugin for plugin in text.split(",") if plugin.startswith("kubernetes.io/")
    ),
    names.SAFE_LOCAL_VOLUMES: lambda namer, text: ",".join(namer.name("volume", name) for name in text.split(",")),
    names.OUR_ANNOTATION: _drain,
    **dict.fromkeys(("pv.kubernetes.io/bind-completed", names.MIRROR), lambda *_: "yes"),
    **dict.fromkeys(
        (
            names.SAFE_TO_EVICT, names.DAEMON_SET_POD, names.DELETION_COST, names.STEERED, names.SURGE,
            *names.DISRUPTION_COSTS, names.OPT_OUT_UNTIL, *names.POD_OPT_OUTS, *names.NODE_OPT_OUTS,
            "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class",
        ),
        lambda _, text: switch(text),
    ),
}  # fmt: skip
"""Annotations that are read, and what of their values means something."""


def _annotations(namer: Namer, given: Mapping[str, str]) -> Object:
    return {name: _VALUES[name](namer, text) for name, text in given.items() if name in _VALUES}


def metadata(sort: str, name: Rule | None = None) -> Rule:
    return fields(
        "creationTimestamp", "deletionTimestamp", "generation",
        name=name or alias(sort), namespace=alias("namespace"), uid=alias("uid"), labels=labels,
        annotations=_annotations,
        ownerReferences=every(owner), managedFields=every(fields("time")),
    )  # fmt: skip
