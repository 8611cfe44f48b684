"""What the autoscaler sees in one loop: nodes, their pods, the groups they belong to and how large those are.

Source of the words: cluster-autoscaler's FAQ and pkg/utils/taints. A group is one pool in one zone (a managed instance
group); a limit of the pool is either per group or total.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from infra.local.clocks import seconds_of
from infra.local.machine_types import MachinePool
from infra.local.scaling.custom_objects import CLASS_LABEL, ClassRule
from infra.local.world.deletion import DEFAULT_GRACE
from infra.local.world.disks import Disks, claims_of, disks_of
from infra.local.world.kinds import Json
from infra.local.world.pods import annotations_of, is_terminating, labels_of, node_of, stays_behind

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
