"""Plays the record again, entry by entry: what stood in the cluster at each moment. Must not judge."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from infra.local.demo.promise.evidence import EBB, Json

_OURS: Final = re.compile(r"status-taint\.cluster-autoscaler\.kubernetes\.io/ebb=[^:]*:NoSchedule")


def is_ours(taint: str) -> bool:
    return _OURS.fullmatch(taint) is not None


def drained_by_us(node: Json | None) -> bool:
    """Whether the node carries Ebb's taint."""
    return node is not None and any(is_ours(taint) for taint in node["taints"])


@dataclass
class ReplayedCluster:
    """Pods by UID and nodes by name, as the record's last entry left them."""

    pods: dict[str, Json] = field(default_factory=dict)
    nodes: dict[str, Json] = field(default_factory=dict)
    once_ready: set[str] = field(default_factory=set)
    at: float = 0.0

    def take(self, entry: Json) -> Json | None:
        """Play one change and return what stood there before."""
        kept, key = (self.pods, entry["uid"]) if entry["kind"] == "pods" else (self.nodes, entry["name"])
        before = kept.pop(key, None)
        if entry["verb"] != "delete":
            kept[key] = entry
        if entry["kind"] == "nodes" and entry["ready"]:
            self.once_ready.add(entry["uid"])
        return before

    def in_use(self) -> list[Json]:
        """Return the nodes that count against a budget: Ebb's, and those that were ready and are not."""
        nodes = self.nodes.values()
        return [node for node in nodes if drained_by_us(node) or (not node["ready"] and node["uid"] in self.once_ready)]


@dataclass(frozen=True)
class NodeChange:
    """One change of a node: before (None: created), after (None: deleted), by whom; the world is that after it."""

    name: str
    actor: str
    before: Json | None
    after: Json | None
    cluster: ReplayedCluster

    @property
    def by_ebb(self) -> bool:
        return is_ebb(self.actor)

    @property
    def starts_a_drain(self) -> bool:
        return drained_by_us(self.after) and not drained_by_us(self.before)


def is_ebb(user_agent: str) -> bool:
    return re.split(r"[/ ]", user_agent)[0] == EBB


def moments(entries: Sequence[Json]) -> Iterator[tuple[Json, ReplayedCluster]]:
    """Give each entry with the world as it stood before it; the world is the same object, moving on."""
    cluster = ReplayedCluster()
    for entry in entries:
        cluster.at = entry["at"]
        yield entry, cluster
        if entry["type"] == "change":
            cluster.take(entry)


def node_changes(entries: Sequence[Json]) -> Iterator[NodeChange]:
    """Give each change of a node, with the world just after it."""
    cluster = ReplayedCluster()
    for entry in entries:
        cluster.at = entry["at"]
        if entry["type"] != "change":
            continue
        before = cluster.take(entry)
        if entry["kind"] == "nodes":
            after: Mapping[str, object] | None = None if entry["verb"] == "delete" else entry
            yield NodeChange(entry["name"], entry["actor"], before, after, cluster)


def last(entries: Sequence[Json]) -> ReplayedCluster:
    """Return the world after the last entry."""
    cluster = ReplayedCluster()
    for entry in entries:
        cluster.at = entry["at"]
        if entry["type"] == "change":
            cluster.take(entry)
    return cluster
