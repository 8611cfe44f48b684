"""Is there any way to empty a node by the scheduler's rules? Asked of the world's own filters, pod by pod.

Any order will do: a pod is evicted, and placed at once or later. So what is told has no way out at all; that there is
one proves nothing. Shares no code with Ebb's placement.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from infra.local.scheduling.disks import Disks
from infra.local.scheduling.filters import refusal
from infra.local.scheduling.node_infos import NodeInfos, node_infos_of
from infra.local.world.kinds import Json
from infra.local.world.store import ObjectChange, Store
from tests.faults.replay import Entry, ReplayedCluster

_MOST_STATES: Final = 3000
"""Where there are more the question is left open, for Ebb's benefit."""
_WAITS: Final = ""
Places = tuple[tuple[str, str], ...]
"""The pods that leave and where each is: where it was, nowhere, or on another node."""


def objects_of(store: Store) -> dict[str, Json]:
    """Return pods and nodes by UID as they were created: what stands and, as time goes on, what comes."""
    found = {thing["metadata"]["uid"]: thing for kind in ("pods", "nodes") for thing in store.all(kind)}

    def take(change: ObjectChange) -> None:
        if change.before is None and change.after is not None and change.plural in {"pods", "nodes"}:
            found[change.after["metadata"]["uid"]] = change.after

    store.listen(take)
    return found


@dataclass(frozen=True)
class WaysOut:
    """What never changes in a history: what pods and nodes are, and what is behind volumes."""

    objects: Mapping[str, Json]
    disks: Disks

    def exist(self, leaving: Sequence[str], cluster: ReplayedCluster, destinations: Collection[str]) -> bool:
        """Whether the pods, by UID, can all come to run on the destinations, one after another."""
        first = tuple((uid, cluster.pods[uid]["node"]) for uid in sorted(leaving))
        open_states, seen = [first], {first}
        while open_states:
            places = open_states.pop()
            if all(node in destinations for _, node in places):
                return True
            if len(seen) > _MOST_STATES:
                return True
            fresh = [each for each in self._steps(places, cluster, destinations) if each not in seen]
            seen.update(fresh)
            open_states += fresh
        return False

    def _steps(self, places: Places, cluster: ReplayedCluster, destinations: Collection[str]) -> list[Places]:
        """Return what may come next; last what is tried first: that a pod that waits is placed."""
        infos = self._node_infos(places, cluster)
        steps = [_with(places, uid, _WAITS) for uid, node in places if node not in destinations and node != _WAITS]
        for uid, node in places:
            if node == _WAITS:
                pod = _bound(self.objects[uid], _WAITS)
                fits = [each for each in destinations if refusal(pod, infos.by_name[each], infos) is None]
                steps += [_with(places, uid, each) for each in fits]
        return steps

    def _node_infos(self, places: Places, cluster: ReplayedCluster) -> NodeInfos:
        moved = dict(places)
        pods = [
            _bound(self.objects[uid], moved[uid] if uid in moved else pod["node"], terminating=pod["terminating"])
            for uid, pod in cluster.pods.items()
        ]
        nodes = [_as_it_stands(self.objects[node["uid"]], node) for node in cluster.nodes.values()]
        return node_infos_of(nodes, pods, disks=self.disks)


def _with(places: Places, uid: str, node: str) -> Places:
    return tuple((each, node if each == uid else where) for each, where in places)


def _bound(pod: Json, node: str, *, terminating: bool = False) -> Json:
    meta = {key: value for key, value in pod["metadata"].items() if key != "deletionTimestamp"}
    if terminating:
        meta["deletionTimestamp"] = meta["creationTimestamp"]
    return {**pod, "metadata": meta, "spec": {**pod["spec"], "nodeName": node}}


def _as_it_stands(node: Json, entry: Entry) -> Json:
    spec = {
        **node["spec"],
        "unschedulable": entry["unschedulable"],
        "taints": [_taint(each) for each in entry["taints"]],
    }
    return {**node, "spec": spec}


def _taint(text: str) -> Json:
    named, _, effect = text.rpartition(":")
    key, _, value = named.partition("=")
    return {"key": key, "value": value, "effect": effect}
