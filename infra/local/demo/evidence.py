"""The evidence of a run: the simulated API server's record of writes, replayed in order."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

Json = Mapping[str, Any]
EBB: Final = "ebb"
"""The user agent of Ebb's functions."""
_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Limits:
    """The policy's numbers; None = no limit. `longest_cordon` is in seconds."""

    pools: Mapping[str, int]
    ceiling: int | None
    starts_per_hour: int | None
    minimum_nodes: int
    longest_cordon: float


@dataclass(frozen=True)
class PassRecord:
    """One pass of the planner: how many nodes it saw, and the node and reason of each verdict."""

    nodes: int
    verdicts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Evidence:
    """All evidence of a run. `cordoned_by_persons` are the nodes that the demo cordoned in a person's name."""

    entries: Sequence[Json]
    limits: Limits
    passes: Sequence[PassRecord]
    cordoned_by_persons: frozenset[str] = frozenset()
    costly: frozenset[str] = frozenset()  # What pods avoid for its price at the end.


def limits_of(policy: str, interval: float) -> Limits:
    """Return the numbers of a policy written as the demo's is: whole nodes, times of one unit. `interval`: seconds."""
    document = yaml.safe_load(policy)
    cluster, drain = document["cluster"], document["drain"]
    pools = {name: _most_at_once(pool) for name, pool in document["nodePools"].items()}
    return Limits(
        pools={name: limit for name, limit in pools.items() if limit is not None},
        ceiling=_budget(cluster["disruption"]),
        starts_per_hour=cluster["rate"]["nodes"],
        minimum_nodes=cluster["minimumNodes"],
        longest_cordon=sum(_seconds(drain[key]) for key in ("timeout", "maxGracePeriod", "watchdog")) + 2 * interval,
    )


def _most_at_once(pool: Json) -> int | None:
    """Of a pool that the policy leaves out, no node may be drained."""
    return _budget(pool["disruption"]) if pool.get("enabled", True) else 0


def _budget(section: Json) -> int | None:
    return min((budget["nodes"] for budget in section["budgets"]), default=None)


def _seconds(text: str) -> float:
    return float(text[:-1]) * _UNITS[text[-1]]


_DRAINED: Final = re.compile(r"status-taint\.cluster-autoscaler\.kubernetes\.io/ebb=[^:]*:NoSchedule")
_SOFT: Final = "status-taint.cluster-autoscaler.kubernetes.io/ebb-held=:PreferNoSchedule"


def is_ours(taint: str) -> bool:
    return taint == _SOFT or _DRAINED.fullmatch(taint) is not None


def drained_by_us(node: Json | None) -> bool:
    return node is not None and any(map(_DRAINED.fullmatch, node["taints"]))


def is_in_wave(node: Json) -> bool:
    return _SOFT in node["taints"]


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
    """One change of a node: before (None: created), after (None: deleted), its actor; the cluster is that after it."""

    name: str
    actor: str
    before: Json | None
    after: Json | None
    cluster: ReplayedCluster

    @property
    def starts_a_drain(self) -> bool:
        return drained_by_us(self.after) and not drained_by_us(self.before)


def is_ebb(user_agent: str) -> bool:
    return re.split(r"[/ ]", user_agent)[0] == EBB


def replay(entries: Sequence[Json]) -> Iterator[tuple[Json, Json | None, ReplayedCluster]]:
    """Give each entry, what it replaced, and the cluster just after it: the same object, which moves on."""
    cluster = ReplayedCluster()
    for entry in entries:
        cluster.at = entry["at"]
        before = cluster.take(entry) if entry["type"] == "change" else None
        yield entry, before, cluster


def node_changes(entries: Sequence[Json]) -> Iterator[NodeChange]:
    """Give each change of a node, with the cluster just after it."""
    for entry, before, cluster in replay(entries):
        if entry["type"] == "change" and entry["kind"] == "nodes":
            after = None if entry["verb"] == "delete" else entry
            yield NodeChange(entry["name"], entry["actor"], before, after, cluster)


def last(entries: Sequence[Json]) -> ReplayedCluster:
    *_, (_, _, cluster) = [(None, None, ReplayedCluster()), *replay(entries)]
    return cluster
