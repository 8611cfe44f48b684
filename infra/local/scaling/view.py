"""What the simulated autoscaler reads in one loop, and the settings by which it acts (seconds).

Sources: cluster-autoscaler's FAQ, its flags and pkg/utils/taints; of GKE's two profiles the values that are public (the
chart of GoogleCloudPlatform/cluster-autoscaler). A group is one pool in one zone (a managed instance group); a limit of
the pool is either per group or total.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from infra.local.clocks import seconds_of
from infra.local.scaling.client import Client, RefusedCall
from infra.local.scenario import MachinePool
from infra.local.world.disks import Disks, claims_of, disks_of
from infra.local.world.kinds import Json
from infra.local.world.kubelet import DEFAULT_GRACE
from infra.local.world.pods import annotations_of, controller_of, is_terminating, labels_of, node_of, stays_behind


@dataclass(frozen=True)
class AutoscalerSettings:
    """`fail_deletions` names nodes whose deletion fails at the cloud; `deletion` is how long the cloud takes.

    `parallelism` bounds all removals under way, `drain_parallelism` those of nodes with pods that have to move (the
    default of max-drain-parallelism). `recheck` is how long a node that could not go is not looked at again.
    """

    scan_interval: float = 10.0
    threshold: float = 0.5
    ignore_daemonsets: bool = True
    unneeded_time: float = 600.0
    deletion: float = 60.0
    delay_after_failure: float = 180.0
    delay_after_delete: float = 10.0
    parallelism: int = 10
    drain_parallelism: int = 1
    recheck: float = 300.0
    delay_after_taint: float = 1.0
    eviction_time: float = 120.0
    eviction_retry: float = 10.0
    longest_grace: int = 3600
    grace_headroom: float = 30.0
    new_pod_delay: float = 0.0
    fail_deletions: frozenset[str] = field(default_factory=frozenset)


BALANCED = AutoscalerSettings(parallelism=100)
OPTIMIZE_UTILIZATION = replace(
    BALANCED,
    scan_interval=5.0,
    threshold=0.85,
    unneeded_time=60.0,
    recheck=20.0,
    delay_after_failure=5.0,
    delay_after_delete=5.0,
)


KIND = "CapacityBuffer"
_ACTIVE = "buffer.x-k8s.io/active-capacity"
_NOT_FOUND = 404


def buffers(client: Client) -> Sequence[Json]:
    """The buffers; none where the cluster has no such kind."""
    try:
        return client.listed("capacitybuffers")
    except RefusedCall as refused:
        if refused.status != _NOT_FOUND:
            raise
        return ()


def chunks(client: Client, held: Sequence[Json]) -> list[Json]:
    """The pods that stand for the buffers' room."""
    templates = client.listed("podtemplates") if held else ()
    bodies = {(each["metadata"]["namespace"], each["metadata"]["name"]): each["template"] for each in templates}
    return [pod for buffer in held for pod in _chunks(buffer, bodies.get(_template(buffer)))]


def is_chunk(pod: Json) -> bool:
    return (controller_of(pod) or {}).get("kind") == KIND


def _template(buffer: Json) -> tuple[str, str]:
    reference = (buffer.get("status") or {}).get("podTemplateRef") or {}
    return buffer["metadata"]["namespace"], reference.get("name", "")


def _chunks(buffer: Json, body: Json | None) -> Iterator[Json]:
    meta, spec = buffer["metadata"], buffer.get("spec") or {}
    if body is None or spec.get("provisioningStrategy", _ACTIVE) != _ACTIVE:
        return
    owner = {"kind": KIND, "name": meta["name"], "uid": meta["uid"], "controller": True}
    for number in range(buffer["status"].get("replicas") or 0):
        yield {
            "metadata": {
                "name": f"capacity-buffer-{meta['name']}-{number + 1}",
                "namespace": meta["namespace"],
                "uid": f"{meta['uid']}-{number + 1}",
                "creationTimestamp": meta["creationTimestamp"],
                "labels": (body.get("metadata") or {}).get("labels") or {},
                "ownerReferences": [owner],
            },
            "spec": dict(body["spec"]),
            "status": {"phase": "Pending"},
        }


def report(client: Client, held: Sequence[Json], placed: Sequence[Json]) -> None:
    """Write into each buffer for how many of its chunks there is room on the nodes that are there."""
    ready = Counter(owner["uid"] for pod in placed if (owner := controller_of(pod)))
    for buffer in held:
        count = ready[buffer["metadata"]["uid"]]
        if buffer["status"].get("readyReplicas") != count:
            client.patch_buffer(buffer, {"readyReplicas": count})


CLASS_LABEL = "cloud.google.com/compute-class"


@dataclass(frozen=True)
class ClassRule:
    """What one class says; None where the profile holds."""

    threshold: float | None = None
    gpu_threshold: float | None = None
    unneeded_time: float | None = None


def class_rules(client: Client, nodes: Sequence[Json]) -> Mapping[str, ClassRule]:
    """The rules by the class's name; none where the cluster has no such kind."""
    if not any(CLASS_LABEL in labels_of(node) for node in nodes):
        return {}
    try:
        found = client.listed("computeclasses")
    except RefusedCall as refused:
        if refused.status != _NOT_FOUND:
            raise
        return {}
    return {each["metadata"]["name"]: _rule(each) for each in found}


def _rule(given: Json) -> ClassRule:
    said = (given.get("spec") or {}).get("autoscalingPolicy") or {}
    minutes = said.get("consolidationDelayMinutes")
    return ClassRule(
        _share(said.get("consolidationThreshold")),
        _share(said.get("gpuConsolidationThreshold")),
        None if minutes is None else minutes * 60.0,
    )


def _share(percent: int | None) -> float | None:
    return None if percent is None else percent / 100


TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
CANDIDATE = "DeletionCandidateOfClusterAutoscaler"
DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
RESERVED = ("buffer.gke.io/standby-capacity-node", "cloud.google.com/autopilot-managed-node")
DAEMON = "cluster-autoscaler.kubernetes.io/daemonset-pod"
_TERMINATING_HEADROOM = 30.0

Group = tuple[str, str]


def taints_of(node: Json) -> list[Json]:
    taints: list[Json] = node["spec"].get("taints") or []
    return taints


def is_reserved(node: Json) -> bool:
    """Does GKE keep the node for a capacity buffer, or manage it by itself? Scale-down looks at neither."""
    labels = node["metadata"].get("labels") or {}
    return any(labels.get(key) == "true" for key in RESERVED)


def has_taint(node: Json, key: str) -> bool:
    return any(taint["key"] == key for taint in taints_of(node))


def without_taint(node: Json, key: str) -> list[Json]:
    return [taint for taint in taints_of(node) if taint["key"] != key]


def group_of(node: Json) -> Group:
    labels = labels_of(node)
    return labels.get("cloud.google.com/gke-nodepool", ""), labels.get("topology.kubernetes.io/zone", "")


def is_movable(pod: Json) -> bool:
    """A pod that would have to run elsewhere if the node went; a terminating one still counts."""
    return not stays_behind(pod) and annotations_of(pod).get(DAEMON) != "true"


def is_long_terminating(pod: Json, now: float) -> bool:
    """Past twice its grace since it was told to end: nobody waits for such a pod any more."""
    if not is_terminating(pod):
        return False
    grace = pod["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE)
    return bool(seconds_of(pod["metadata"]["deletionTimestamp"]) + grace + _TERMINATING_HEADROOM < now)


@dataclass(frozen=True)
class View:
    """One reading of the cluster."""

    nodes: list[Json]
    pods: list[Json]
    pools: Mapping[str, MachinePool]
    read_budgets: Callable[[], Sequence[Json]] = tuple
    read: Callable[[str], Sequence[Json]] = field(default=lambda _: ())
    """Lists a kind that is rarely needed."""
    buffers: Sequence[Json] = ()
    chunks: Sequence[Json] = ()
    """The pods that stand for what capacity buffers hold."""
    classes: Mapping[str, ClassRule] = field(default_factory=dict)
    """What ComputeClasses say of how their nodes are taken away."""

    @cached_property
    def _by_node(self) -> Mapping[str, list[Json]]:
        found: dict[str, list[Json]] = {}
        for pod in self.pods:
            found.setdefault(node_of(pod), []).append(pod)
        return found

    @cached_property
    def budgets(self) -> Sequence[Json]:
        """The disruption budgets; read only if a node with pods may go."""
        return self.read_budgets()

    @cached_property
    def disks(self) -> Disks:
        """What stands behind volumes; read only if a pod has a claim."""
        return disks_of(self.read) if any(any(claims_of(pod)) for pod in self.pods) else Disks()

    def pods_on(self, node: Json) -> list[Json]:
        return self._by_node.get(node["metadata"]["name"], [])

    def movers(self, node: Json, now: float) -> list[Json]:
        """The pods that would have to run elsewhere if the node went."""
        return [pod for pod in self.pods_on(node) if is_movable(pod) and not is_long_terminating(pod, now)]

    def pool_of(self, node: Json) -> MachinePool | None:
        return self.pools.get(group_of(node)[0])

    def rule_of(self, node: Json) -> ClassRule:
        """What the node's ComputeClass says; nothing of a node of none."""
        return self.classes.get(labels_of(node).get(CLASS_LABEL, ""), ClassRule())

    def sizes(self) -> Counter[Group]:
        """Nodes per group, cordoned and unready ones included."""
        return Counter(group_of(node) for node in self.nodes)
