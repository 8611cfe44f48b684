"""The simulated scheduler's filters: resources, taints, affinity, spread and volumes.

What no scenario has is left out: terms over other namespaces, matchLabelKeys, host ports of one address only, limits of
disks on a node.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from infra.local.world.kinds import Json, matches, node_selector_holds
from infra.local.world.pods import (
    Disks,
    Resources,
    claims_of,
    is_finished,
    is_terminating,
    labels_of,
    node_of,
    pod_requests,
    taints_of,
    units,
)

HostPort = tuple[str, int]


def host_ports(pod: Json) -> set[HostPort]:
    """The protocols and ports that the pod takes on its node, on all addresses."""
    ports = [port for container in pod["spec"].get("containers") or [] for port in container.get("ports") or []]
    return {(port.get("protocol", "TCP"), port["hostPort"]) for port in ports if port.get("hostPort")}


@dataclass
class NodeInfo:
    """One node as the scheduler sees it; `add` books a pod."""

    node: Json
    pods: list[Json] = field(default_factory=list)
    booked: Counter[str] = field(default_factory=Counter)
    repelling: list[Json] = field(default_factory=list)
    """The pods here that have an anti-affinity of their own."""

    @property
    def name(self) -> str:
        return str(self.node["metadata"]["name"])

    @property
    def labels(self) -> dict[str, str]:
        return labels_of(self.node)

    @cached_property
    def allocatable(self) -> Resources:
        status: Json = self.node.get("status") or {}
        offered: Json = status.get("allocatable") or status.get("capacity") or {}
        return {name: units(name, value) for name, value in offered.items()}

    def copy(self) -> "NodeInfo":
        """A node that books on its own."""
        return NodeInfo(self.node, [*self.pods], Counter(self.booked), [*self.repelling])

    def add(self, pod: Json) -> None:
        self.pods.append(pod)
        self.booked.update(pod_requests(pod))
        if (pod["spec"].get("affinity") or {}).get("podAntiAffinity"):
            self.repelling.append(pod)


@dataclass
class NodeInfos:
    """All nodes with their pods, and what stands behind volumes."""

    by_name: dict[str, NodeInfo]
    disks: Disks = field(default_factory=Disks)

    def place(self, pod: Json, node: str) -> None:
        """Book a pod on a node, as scheduling it does."""
        self.by_name[node].add({**pod, "spec": {**pod["spec"], "nodeName": node}})


def node_infos_of(nodes: Sequence[Json], pods: Sequence[Json], disks: Disks | None = None) -> NodeInfos:
    """What is known of nodes and of the pods bound to them; finished pods hold nothing."""
    by_name = {node["metadata"]["name"]: NodeInfo(node) for node in nodes}
    for pod in pods:
        node_info = by_name.get(node_of(pod))
        if node_info is not None and not is_finished(pod):
            node_info.add(pod)
    return NodeInfos(by_name, disks or Disks())


def selects_node(spec: Json, node: Json) -> bool:
    """Do the pod's node selector and required node affinity admit the node?"""
    labels = labels_of(node)
    wanted: dict[str, str] = spec.get("nodeSelector") or {}
    affinity: Json = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required: Json | None = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return all(labels.get(key) == value for key, value in wanted.items()) and node_selector_holds(required, node)


HARD = ("NoSchedule", "NoExecute")


def tolerates(toleration: Json, taint: Json) -> bool:
    """Does one toleration cover one taint? An empty effect or key covers all."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")


def first_untolerated(pod_spec: Json, taints: list[Json], effects: tuple[str, ...] = HARD) -> Json | None:
    """The first taint with one of the effects that the pod does not tolerate, or None."""
    tolerations: list[Json] = pod_spec.get("tolerations") or []
    for taint in taints:
        if taint["effect"] in effects and not any(tolerates(item, taint) for item in tolerations):
            return taint
    return None


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _terms(pod: Json, sort: str) -> list[Json]:
    affinity: Json = (pod["spec"].get("affinity") or {}).get(sort) or {}
    terms: list[Json] = affinity.get(_REQUIRED) or []
    return terms


def _selects(term: Json, owner: Json, pod: Json) -> bool:
    """Does a term of `owner` select `pod`? Terms here are about pods of their owner's namespace."""
    same = owner["metadata"]["namespace"] == pod["metadata"]["namespace"]
    return bool(same) and matches(term.get("labelSelector"), labels_of(pod))


def _together(node_info: NodeInfo, other: NodeInfo, key: str) -> bool:
    return key in node_info.labels and node_info.labels[key] == other.labels.get(key)


def _placed_pods(node_infos: NodeInfos) -> Iterator[tuple[NodeInfo, Json]]:
    return ((node_info, pod) for node_info in node_infos.by_name.values() for pod in node_info.pods)


def _is_attracted(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> bool:
    terms = _terms(pod, "podAffinity")
    if any(term["topologyKey"] not in node_info.labels for term in terms):
        return False
    followed = [
        other
        for other, existing in _placed_pods(node_infos)
        if any(term["topologyKey"] in other.labels for term in terms)
        and all(_selects(term, pod, existing) for term in terms)
    ]
    if not followed:  # the first pod of a group that selects itself may start anywhere
        return all(_selects(term, pod, pod) for term in terms)
    return all(any(_together(node_info, other, term["topologyKey"]) for other in followed) for term in terms)


def _is_repelled(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> bool:
    return any(
        _together(node_info, other, term["topologyKey"]) and _selects(term, pod, existing)
        for term in _terms(pod, "podAntiAffinity")
        for other, existing in _placed_pods(node_infos)
    )


def _repelled_by_others(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> bool:
    return any(
        _together(node_info, other, term["topologyKey"]) and _selects(term, existing, pod)
        for other in node_infos.by_name.values()
        for existing in other.repelling
        for term in _terms(existing, "podAntiAffinity")
    )


def inter_pod(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    """The scheduler's reason if affinity or anti-affinity (the pod's or others') forbids the node."""
    if _terms(pod, "podAffinity") and not _is_attracted(pod, node_info, node_infos):
        return "node(s) didn't match pod affinity rules"
    if _is_repelled(pod, node_info, node_infos):
        return "node(s) didn't match pod anti-affinity rules"
    if _repelled_by_others(pod, node_info, node_infos):
        return "node(s) didn't satisfy existing pods anti-affinity rules"
    return None


def _hard(pod: Json) -> list[Json]:
    constraints: list[Json] = pod["spec"].get("topologySpreadConstraints") or []
    return [item for item in constraints if item.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule"]


def _makes_domain(constraint: Json, pod: Json, node: Json) -> bool:
    honoured = constraint.get("nodeTaintsPolicy", "Ignore") == "Honor"
    return selects_node(pod["spec"], node) and not (honoured and first_untolerated(pod["spec"], taints_of(node)))


def _domains(constraint: Json, constraints: list[Json], pod: Json, node_infos: NodeInfos) -> Counter[str]:
    """How many pods the constraint counts in each domain; a domain is made of nodes that the pod's affinity admits."""
    selector, key = constraint.get("labelSelector") or {}, constraint["topologyKey"]
    # a selector without requirements counts nobody (labels.Selector.Empty), though the pod itself matches it
    counts_any = bool(selector.get("matchLabels") or selector.get("matchExpressions"))
    namespace = pod["metadata"]["namespace"]
    domains: Counter[str] = Counter()
    for node_info in node_infos.by_name.values():
        labelled = all(item["topologyKey"] in node_info.labels for item in constraints)
        if labelled and _makes_domain(constraint, pod, node_info.node):
            domains[node_info.labels[key]] += counts_any and sum(
                existing["metadata"]["namespace"] == namespace
                and not is_terminating(existing)
                and matches(selector, labels_of(existing))
                for existing in node_info.pods
            )
    return domains


def topology_spread(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    """The scheduler's reason if a constraint forbids the node."""
    constraints = _hard(pod)
    for constraint in constraints:
        domain = node_info.labels.get(constraint["topologyKey"])
        if domain is None:
            return "node(s) didn't match pod topology spread constraints (missing required label)"
        domains = _domains(constraint, constraints, pod, node_infos)
        least = min(domains.values(), default=0) if len(domains) >= constraint.get("minDomains", 1) else 0
        itself = matches(constraint.get("labelSelector"), labels_of(pod))
        if domains[domain] + itself - least > constraint["maxSkew"]:
            return "node(s) didn't match pod topology spread constraints"
    return None


def volume_binding(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    """A claim that is bound binds its pods to the nodes of its volume."""
    for key in claims_of(pod):
        volume = node_infos.disks.volume(key)
        if volume is None:
            return "pod has unbound immediate PersistentVolumeClaims"
        if not node_selector_holds((volume["spec"].get("nodeAffinity") or {}).get("required"), node_info.node):
            return "node(s) had volume node affinity conflict"
    return None


_CORDON: Json = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def node_unschedulable(pod: Json, node_info: NodeInfo, _: NodeInfos) -> str | None:
    cordoned = node_info.node["spec"].get("unschedulable", False)
    return "node(s) were unschedulable" if cordoned and first_untolerated(pod["spec"], [_CORDON]) else None


def taint_toleration(pod: Json, node_info: NodeInfo, _: NodeInfos) -> str | None:
    taint = first_untolerated(pod["spec"], taints_of(node_info.node))
    return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}" if taint else None


def node_affinity(pod: Json, node_info: NodeInfo, _: NodeInfos) -> str | None:
    return None if selects_node(pod["spec"], node_info.node) else "node(s) didn't match Pod's node affinity/selector"


def resources(pod: Json, node_info: NodeInfo, _: NodeInfos) -> str | None:
    allocatable = node_info.allocatable
    if len(node_info.pods) + 1 > allocatable.get("pods", 110):
        return "Too many pods"
    for name, amount in pod_requests(pod).items():
        if amount and amount + node_info.booked[name] > allocatable.get(name, 0):
            return f"Insufficient {name}"
    return None


def node_ports(pod: Json, node_info: NodeInfo, _: NodeInfos) -> str | None:
    wanted = host_ports(pod)
    if wanted and any(wanted & host_ports(there) for there in node_info.pods):
        return "node(s) didn't have free ports for the requested pod ports"
    return None


FILTERS = (
    node_unschedulable,
    taint_toleration,
    node_affinity,
    node_ports,
    resources,
    volume_binding,
    topology_spread,
    inter_pod,
)


def refusal(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> str | None:
    """The first filter's reason why the pod cannot run on the node, or None if it can."""
    return next((reason for check in FILTERS if (reason := check(pod, node_info, node_infos)) is not None), None)


def first_fit(pod: Json, node_infos: NodeInfos, without: Collection[str] = ()) -> NodeInfo | None:
    """The first node that no filter refuses, but for those named in `without`."""
    nodes = (node_info for name, node_info in node_infos.by_name.items() if name not in without)
    return next((node_info for node_info in nodes if refusal(pod, node_info, node_infos) is None), None)
