"""Plays a record: what stood, and what each call of Ebb had seen of it, at each entry. No code of Ebb's rules."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from infra.local.scaling.view import RESERVED

Entry = Mapping[str, Any]
TAINT = "status-taint.cluster-autoscaler.kubernetes.io/ebb="
SOFT = "status-taint.cluster-autoscaler.kubernetes.io/ebb-held"
DELETING = "ToBeDeletedByClusterAutoscaler="
NODES = "/api/v1/nodes"
LISTS_KEPT = 120.0


def holder(node: Entry | None) -> str:
    taints: list[str] = list(node["taints"]) if node else []
    return next((taint.removeprefix(TAINT).partition(":")[0] for taint in taints if taint.startswith(TAINT)), "")


def is_reserved(node: Entry) -> bool:
    """Whether GKE keeps the node for a capacity buffer, or manages it: it is none of those that limits are about."""
    return any(taint.startswith(RESERVED) for taint in node["taints"])


def is_deleting(node: Entry) -> bool:
    return any(taint.startswith(DELETING) for taint in node["taints"])


def is_ebb(actor: str) -> bool:
    return actor.partition("/")[0] == "ebb"


def call_of(actor: str) -> str:
    return actor.partition("/")[2]


@dataclass(frozen=True)
class Sighting:
    at: float
    nodes: Mapping[str, Entry]


@dataclass
class ReplayedCluster:
    """Pods by UID and nodes by name before the entry at hand; sightings by call (and node)."""

    at: float = 0.0
    pods: dict[str, Entry] = field(default_factory=dict)
    nodes: dict[str, Entry] = field(default_factory=dict)
    once_ready: set[str] = field(default_factory=set)
    soft: set[str] = field(default_factory=set)
    """Nodes with Ebb's soft taint."""
    cordons: set[str] = field(default_factory=set)
    """Nodes whose cordon is Ebb's: set by it, and not undone since."""
    lists: dict[str, list[Sighting]] = field(default_factory=dict)
    """All nodes as each call listed them, the last two minutes: a write may be as long on its way."""
    looks: dict[tuple[str, str], Sighting] = field(default_factory=dict)
    set_out: dict[str, float] = field(default_factory=dict)
    """When the request at hand set out, by actor, where it was long on its way."""

    def take(self, entry: Entry) -> None:
        if entry["type"] == "change":
            self._change(entry)
        elif entry["type"] == "late request":
            self.set_out[entry["actor"]] = entry["began"]
        elif entry["type"] == "request" and is_ebb(entry["user_agent"]):
            self.set_out.pop(entry["user_agent"], None)
            if entry["verb"] == "GET" and entry["code"] == HTTPStatus.OK:
                self._seen(entry)

    def listed_before(self, at: float, calls: str, own: str) -> Iterator[Sighting]:
        """Yield what a call may rest on at `at`: its own last list, and any of other calls whose names begin so."""
        # For it may have taken over another's list, and paused since.
        for call, lists in self.lists.items():
            if call.startswith(calls):
                earlier = [sighting for sighting in lists if sighting.at <= at]
                yield from earlier[-1:] if call == own else earlier

    def before_change(self, entry: Entry) -> Entry | None:
        return self.pods.get(entry["uid"]) if entry["kind"] == "pods" else self.nodes.get(entry["name"])

    def is_ours(self, entry: Entry) -> bool:
        """Whether a node's change leaves a cordon of Ebb's on it, whatever taints it bears."""
        if entry["verb"] == "delete" or not entry["unschedulable"]:
            return False
        before = self.nodes.get(entry["name"])
        stood = before is not None and before["unschedulable"]
        return entry["name"] in self.cordons if stood else is_ebb(entry["actor"])

    def _change(self, entry: Entry) -> None:
        kept, key = (self.pods, entry["uid"]) if entry["kind"] == "pods" else (self.nodes, entry["name"])
        if entry["kind"] == "nodes":
            (self.cordons.add if self.is_ours(entry) else self.cordons.discard)(key)
            is_soft = entry["verb"] != "delete" and any(taint.startswith(SOFT) for taint in entry["taints"])
            (self.soft.add if is_soft else self.soft.discard)(key)
        if entry["verb"] == "delete":
            kept.pop(key, None)
        else:
            kept[key] = entry
        if entry["kind"] == "nodes" and entry["ready"]:
            self.once_ready.add(entry["uid"])

    def _seen(self, entry: Entry) -> None:
        call, path = call_of(entry["user_agent"]), entry["path"]
        if path == NODES:
            young = [sighting for sighting in self.lists.get(call, []) if self.at - sighting.at <= LISTS_KEPT]
            self.lists[call] = [*young, Sighting(self.at, dict(self.nodes))]
        elif path.startswith(f"{NODES}/"):
            name = path.rpartition("/")[2]
            found = self.nodes.get(name)
            self.looks[(call, name)] = Sighting(self.at, {name: found} if found else {})


def moments(entries: list[Any]) -> Iterator[tuple[Entry, ReplayedCluster]]:
    """Give each entry with the cluster as it stood before it; the cluster is one object, moving on."""
    cluster = ReplayedCluster()
    for entry in entries:
        cluster.at = entry["at"]
        yield entry, cluster
        cluster.take(entry)
