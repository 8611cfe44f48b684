"""Is there any way to empty a node by the scheduler's rules? Asked of the world's own filters, pod by pod.

Any order will do: a pod is evicted, and placed at once or later. So what is told has no way out at all; that there is
one proves nothing. Shares no code with Ebb's placement.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from infra.local.scheduling import NodeInfos, fits, node_infos_of
from infra.local.world.kinds import PLURAL_OF_KIND, Json
from infra.local.world.pods import Disks, pod_requests, units
from infra.local.world.store import NotAdmittedError, Store, copy_thing
from tests.faults.replay import Entry, ReplayedCluster
from tests.faults.settled_worlds import gathered
from tests.local.admission import LimitRanger, QuotaController, VerticalAutoscalerWebhook, controller_of_pod

_MOST_STATES: Final = 3000
"""Where there are more the question is left open, for Ebb's benefit."""
_WAITS: Final = ""
_NOWHERE: Final = {"let-in": "by-nobody"}
Places = tuple[tuple[str, str], ...]
"""The pods that leave and where each is: where it was, nowhere, or on another node."""


def returning_of(store: Store) -> dict[str, Json]:
    """Return the pods by UID as they would come back, by all that the API tells.

    Their own requests, their template's with their namespace's defaults or their VerticalPodAutoscaler's, whichever is
    most; what a webhook of their owner's writes nobody knows. What its namespace lets in no more fits nowhere.
    """
    return gathered(store, ("pods",), lambda _, pod: _returning(store, pod))


def _returning(store: Store, pod: Json) -> Json:
    owner = controller_of_pod(store, pod)
    plural = PLURAL_OF_KIND.get(owner[0])
    controller = store.find(plural, pod["metadata"]["namespace"], owner[1]) if plural else None
    spec: Json = copy_thing(pod["spec"])
    if controller is not None and "template" in controller["spec"]:
        made: Json = {**copy_thing(pod), "spec": copy_thing(controller["spec"]["template"]["spec"])}
        LimitRanger(store).write_defaults("pods", made)
        VerticalAutoscalerWebhook(store)("pods", made)
        for own, its in zip(spec["containers"], made["spec"]["containers"], strict=True):
            own["resources"] = {"requests": _most(_asked(own), _asked(its))}
        if not _is_let_in(store, pod, made):
            spec["nodeSelector"] = _NOWHERE
    return {**pod, "spec": spec}


def _is_let_in(store: Store, pod: Json, made: Json) -> bool:
    try:
        LimitRanger(store).check("pods", made)
        QuotaController(store).check("pods", made, instead_of=pod)
    except NotAdmittedError:
        return False
    return True


def _asked(container: Json) -> Json:
    return (container.get("resources") or {}).get("requests") or {}


def _most(one: Json, other: Json) -> Json:
    larger = {name: units(name, other.get(name, 0)) > units(name, one.get(name, 0)) for name in one | other}
    return {name: (other if is_larger else one).get(name, 0) for name, is_larger in larger.items()}


def objects_of(store: Store) -> dict[str, Json]:
    return gathered(store, ("pods", "nodes"), lambda _, thing: thing)


@dataclass(frozen=True)
class WaysOut:
    """What never changes in a history: what pods and nodes are, and what is behind volumes."""

    objects: Mapping[str, Json]
    returning: Mapping[str, Json]
    """The pods as they come back, which may be larger."""
    disks: Disks

    def cpu_of(self, uid: str) -> int:
        return pod_requests(self.returning[uid]).get("cpu", 0)

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
            fresh = [step for step in self._steps(places, cluster, destinations) if step not in seen]
            seen.update(fresh)
            open_states += fresh
        return False

    def _steps(self, places: Places, cluster: ReplayedCluster, destinations: Collection[str]) -> list[Places]:
        """Return what may come next; last what is tried first: that a pod that waits is placed."""
        infos = self._node_infos(places, cluster)
        steps = [_with(places, uid, _WAITS) for uid, node in places if node not in destinations and node != _WAITS]
        for uid, node in places:
            if node == _WAITS:
                pod = _bound(self.returning[uid], _WAITS)
                open_to_it = [name for name in destinations if fits(pod, infos.by_name[name], infos)]
                steps += [_with(places, uid, name) for name in open_to_it]
        return steps

    def _node_infos(self, places: Places, cluster: ReplayedCluster) -> NodeInfos:
        at = {uid: pod["node"] for uid, pod in cluster.pods.items()} | dict(places)
        lying = {uid: self.objects[uid] if at[uid] == pod["node"] else self.returning[uid]
                 for uid, pod in cluster.pods.items()}  # fmt: skip
        pods = [_bound(lying[uid], at[uid], terminating=pod["terminating"]) for uid, pod in cluster.pods.items()]
        nodes = [_as_it_stands(self.objects[node["uid"]], node) for node in cluster.nodes.values()]
        return node_infos_of(nodes, pods, disks=self.disks)


def _with(places: Places, uid: str, node: str) -> Places:
    return tuple((pod, node if pod == uid else where) for pod, where in places)


def _bound(pod: Json, node: str, *, terminating: bool = False) -> Json:
    meta = {key: value for key, value in pod["metadata"].items() if key != "deletionTimestamp"}
    if terminating:
        meta["deletionTimestamp"] = meta["creationTimestamp"]
    return {**pod, "metadata": meta, "spec": {**pod["spec"], "nodeName": node}}


def _as_it_stands(node: Json, entry: Entry) -> Json:
    spec = {
        **node["spec"],
        "unschedulable": entry["unschedulable"],
        "taints": [_taint(taint) for taint in entry["taints"]],
    }
    return {**node, "spec": spec}


def _taint(text: str) -> Json:
    named, _, effect = text.rpartition(":")
    key, _, value = named.partition("=")
    return {"key": key, "value": value, "effect": effect}
