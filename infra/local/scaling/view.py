"""What the autoscaler sees in one loop: nodes, their pods, the groups they belong to and how large those are.

Source of the words: cluster-autoscaler's FAQ and pkg/utils/taints. A group is one pool in one zone (a managed instance
group); a limit of the pool is either per group or total.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from infra.local.machines import Pool
from infra.local.quantities import units
from infra.local.scheduling.requests import pod_requests
from infra.local.world.kinds import Json
from infra.local.world.pods import (
    MIRROR,
    annotations_of,
    is_finished,
    labels_of,
    node_of,
    owner_kind,
    stays_behind,
)

TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
CANDIDATE = "DeletionCandidateOfClusterAutoscaler"
DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
DAEMON = "cluster-autoscaler.kubernetes.io/daemonset-pod"

Group = tuple[str, str]


def taints_of(node: Json) -> list[Json]:
    taints: list[Json] = node["spec"].get("taints") or []
    return taints


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


@dataclass(frozen=True)
class View:
    """One reading of the cluster."""

    nodes: list[Json]
    pods: list[Json]
    pools: Mapping[str, Pool]

    @cached_property
    def _by_node(self) -> Mapping[str, list[Json]]:
        found: dict[str, list[Json]] = {}
        for pod in self.pods:
            found.setdefault(node_of(pod), []).append(pod)
        return found

    def pods_on(self, node: Json) -> list[Json]:
        return self._by_node.get(node["metadata"]["name"], [])

    def pool_of(self, node: Json) -> Pool | None:
        return self.pools.get(group_of(node)[0])

    def sizes(self) -> Counter[Group]:
        """Nodes per group, cordoned and unready ones included."""
        return Counter(group_of(node) for node in self.nodes)

    def utilisation(self, node: Json, *, ignore_daemonsets: bool) -> float:
        """The larger of the CPU and memory request ratios; ignored pods leave both sides of the fraction."""
        booked: Counter[str] = Counter()
        ignored: Counter[str] = Counter()
        for pod in self.pods_on(node):
            if not is_finished(pod):
                stays = owner_kind(pod) == "DaemonSet" or MIRROR in annotations_of(pod)
                (ignored if stays and ignore_daemonsets else booked).update(pod_requests(pod))
        offered: Json = (node.get("status") or {}).get("allocatable") or {}
        ratios = [_ratio(booked[name], units(name, offered.get(name, 0)) - ignored[name]) for name in ("cpu", "memory")]
        return max(ratios)


def _ratio(booked: int, offered: int) -> float:
    return booked / offered if offered > 0 else float(booked > 0)
