"""The simulated scheduler, written here a second time on purpose: pending pods by priority onto the nodes that fit.

Its filters are resources, ports, taints, affinity, spread and volumes. What no scenario has is left out: terms over
other namespaces, matchLabelKeys, host ports of one address only, limits of disks on a node.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from infra.local.world.kinds import Json, matches, node_selector_holds
from infra.local.world.pods import (
    DISK_KINDS,
    Disks,
    Resources,
    claims_of,
    disks_of,
    is_finished,
    is_terminating,
    is_unschedulable,
    labels_of,
    node_of,
    pod_requests,
    set_condition,
    taints_of,
    units,
)
from infra.local.world.store import Store


def host_ports(pod: Json) -> set[tuple[str, int]]:
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


def inter_pod(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> bool:
    """Do affinity and anti-affinity, the pod's own and others', admit the node?"""
    if _terms(pod, "podAffinity") and not _is_attracted(pod, node_info, node_infos):
        return False
    return not (_is_repelled(pod, node_info, node_infos) or _repelled_by_others(pod, node_info, node_infos))


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


def topology_spread(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> bool:
    constraints = _hard(pod)
    for constraint in constraints:
        domain = node_info.labels.get(constraint["topologyKey"])
        if domain is None:
            return False
        domains = _domains(constraint, constraints, pod, node_infos)
        least = min(domains.values(), default=0) if len(domains) >= constraint.get("minDomains", 1) else 0
        itself = matches(constraint.get("labelSelector"), labels_of(pod))
        if domains[domain] + itself - least > constraint["maxSkew"]:
            return False
    return True


def volume_binding(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> bool:
    """A claim that is bound binds its pods to the nodes of its volume; one that is not keeps them waiting."""
    for key in claims_of(pod):
        volume = node_infos.disks.volume(key)
        if volume is None:
            return False
        if not node_selector_holds((volume["spec"].get("nodeAffinity") or {}).get("required"), node_info.node):
            return False
    return True


_CORDON: Json = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def taint_toleration(pod: Json, node_info: NodeInfo, _: NodeInfos) -> bool:
    cordon = [_CORDON] if node_info.node["spec"].get("unschedulable", False) else []
    return first_untolerated(pod["spec"], [*taints_of(node_info.node), *cordon]) is None


def node_affinity(pod: Json, node_info: NodeInfo, _: NodeInfos) -> bool:
    return selects_node(pod["spec"], node_info.node)


def resources(pod: Json, node_info: NodeInfo, _: NodeInfos) -> bool:
    allocatable, booked = node_info.allocatable, node_info.booked
    if len(node_info.pods) + 1 > allocatable.get("pods", 110):
        return False
    wanted = ((name, amount) for name, amount in pod_requests(pod).items() if amount)
    return all(amount + booked[name] <= allocatable.get(name, 0) for name, amount in wanted)


def node_ports(pod: Json, node_info: NodeInfo, _: NodeInfos) -> bool:
    wanted = host_ports(pod)
    return not (wanted and any(wanted & host_ports(there) for there in node_info.pods))


FILTERS = (taint_toleration, node_affinity, node_ports, resources, volume_binding, topology_spread, inter_pod)


def fits(pod: Json, node_info: NodeInfo, node_infos: NodeInfos) -> bool:
    return all(check(pod, node_info, node_infos) for check in FILTERS)


def first_fit(pod: Json, node_infos: NodeInfos, without: Collection[str] = ()) -> NodeInfo | None:
    """The first node that no filter refuses, but for those named in `without`."""
    nodes = (node_info for name, node_info in node_infos.by_name.items() if name not in without)
    return next((node_info for node_info in nodes if fits(pod, node_info, node_infos)), None)


ACTOR = "default-scheduler"
_SCORED = ("cpu", "memory")
_NAMES = {ACTOR, "gke.io/optimize-utilization-scheduler"}
_READS = ("pods", "nodes", *DISK_KINDS)


def used_share(pod: Json, node_info: NodeInfo) -> float:
    """The mean share of CPU and memory in use once the pod runs there (0 to 1)."""
    requests, most = pod_requests(pod), node_info.allocatable
    shares = [(node_info.booked[name] + requests.get(name, 0)) / most[name] for name in _SCORED if most.get(name)]
    return sum(shares) / len(shares) if shares else 0.0


class Scheduler:
    """Binds pods when something has changed; if it `packs`, fuller nodes score higher, as optimize-utilization does."""

    def __init__(self, store: Store, *, packs: bool = False) -> None:
        self._store = store
        self._packs = packs
        self._seen = -1

    def step(self, now: float) -> None:
        """Try every waiting pod, if anything has changed since it was last tried."""
        if self._store.version(*_READS) == self._seen:
            return
        waiting = [pod for pod in self._store.all("pods") if self._is_mine(pod)]
        if waiting:
            self._schedule(waiting, now)
        self._seen = self._store.version(*_READS)

    def _is_mine(self, pod: Json) -> bool:
        name = pod["spec"].get("schedulerName", ACTOR)
        return not node_of(pod) and not is_terminating(pod) and name in _NAMES

    def _schedule(self, waiting: list[Json], now: float) -> None:
        store = self._store
        node_infos = node_infos_of(store.all("nodes"), store.all("pods"), disks_of(store.all))
        for pod in sorted(waiting, key=_queue_order):
            self._place(pod, node_infos, now)

    def _place(self, pod: Json, node_infos: NodeInfos, now: float) -> None:
        if fitting := [node_info for node_info in node_infos.by_name.values() if fits(pod, node_info, node_infos)]:
            best = max(fitting, key=lambda node_info: (*self._score(pod, node_info), node_info.name))
            node_infos.place(pod, best.name)
            self._bind(pod, best.name, now)
        elif not is_unschedulable(pod):
            self._refuse(pod, now)

    def _score(self, pod: Json, node_info: NodeInfo) -> tuple[bool, float]:
        taints = taints_of(node_info.node)
        welcome = first_untolerated(pod["spec"], taints, ("PreferNoSchedule",)) is None
        share = used_share(pod, node_info)
        return welcome, share if self._packs else -share

    def _bind(self, pod: Json, node: str, now: float) -> None:
        def bind(thing: Json) -> None:
            thing["spec"]["nodeName"] = node
            set_condition(thing, now, {"type": "PodScheduled", "status": "True"})

        self._store.update(pod, bind, ACTOR)

    def _refuse(self, pod: Json, now: float) -> None:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        self._store.update(pod, lambda thing: set_condition(thing, now, condition), ACTOR)


def _queue_order(pod: Json) -> tuple[int, str, str]:
    meta = pod["metadata"]
    return (-int(pod["spec"].get("priority", 0)), meta["creationTimestamp"], meta["name"])
