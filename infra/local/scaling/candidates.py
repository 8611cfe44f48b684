"""Nodes that the simulated autoscaler may remove: utilization, drainable pods, and whether the pods fit elsewhere."""

from collections import Counter
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace

from infra.local.scaling.view import (
    BUDGETS,
    TO_BE_DELETED,
    AutoscalerSettings,
    Group,
    View,
    group_of,
    has_taint,
    is_long_terminating,
    is_movable,
    is_reserved,
)
from infra.local.scheduling import NodeInfo, first_fit, node_infos_of
from infra.local.world.budgets import budgets_of
from infra.local.world.kinds import Json
from infra.local.world.pods import (
    MIRROR,
    annotations_of,
    is_finished,
    is_ready,
    is_terminating,
    node_of,
    owner_kind,
    pod_requests,
    taints_of,
    units,
)

SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
_KNOWN_KINDS = {"ReplicationController", "Job", "ReplicaSet", "StatefulSet"}


def obstacle(pods: Iterable[Json], view: View) -> str | None:
    """Why these pods may not be drained: what keeps the first that has to stay, or None."""
    for pod in pods:
        if reason := _why_it_stays(pod, view):
            return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}: {reason}"
    return None


def _why_it_stays(pod: Json, view: View) -> str:
    noted = annotations_of(pod).get(SAFE_TO_EVICT)
    if noted == "true":
        return ""
    if owner_kind(pod) not in _KNOWN_KINDS:
        return "nothing would start it again"
    if pod["metadata"]["namespace"] == "kube-system" and not budgets_of(pod, view.budgets):
        return "a system pod without a budget"
    if noted == "false":
        return "not safe to evict"
    return "its budget allows no disruption" if _is_shut(pod, view) else ""


def _is_shut(pod: Json, view: View) -> bool:
    return any(status.get("disruptionsAllowed", 0) < 1 for status in _statuses(pod, view))


def _statuses(pod: Json, view: View) -> list[Json]:
    return [item["status"] for item in budgets_of(pod, view.budgets) if "status" in item]


def _take_off_budgets(pods: Iterable[Json], view: View) -> None:
    for pod in pods:
        for status in _statuses(pod, view):
            status["disruptionsAllowed"] = status.get("disruptionsAllowed", 0) - 1


def utilization(view: View, node: Json, now: float) -> float:
    """The larger of the CPU and memory request ratios; pods of DaemonSets leave both sides of the fraction."""
    booked: Counter[str] = Counter()
    ignored: Counter[str] = Counter()
    for pod in view.pods_on(node):
        if not is_finished(pod) and not is_long_terminating(pod, now):
            stays = owner_kind(pod) == "DaemonSet" or MIRROR in annotations_of(pod)
            (ignored if stays else booked).update(pod_requests(pod))
    offered: Json = (node.get("status") or {}).get("allocatable") or {}
    return max(_ratio(booked[name], units(name, offered.get(name, 0)) - ignored[name]) for name in ("cpu", "memory"))


def _ratio(booked: int, offered: int) -> float:
    return booked / offered if offered > 0 else float(booked > 0)


_GOING = {"key": TO_BE_DELETED, "effect": "NoSchedule"}


def _without_movers(node_info: NodeInfo) -> NodeInfo:
    """The node as it stands there once its pods have moved."""
    node = {**node_info.node, "spec": {**node_info.node["spec"], "taints": [*taints_of(node_info.node), _GOING]}}
    emptied = NodeInfo(node)
    for pod in node_info.pods:
        if not is_movable(pod):
            emptied.add(pod)
    return emptied


class RemovalSimulation:
    """One loop's simulation; each `remove` that succeeds is kept."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._node_infos = node_infos_of(view.nodes, view.pods, disks=view.disks)
        self._chosen: set[str] = set()

    def place(self, pods: Iterable[Json]) -> None:
        """Book room for pods that run nowhere yet, as far as there is any."""
        for pod in pods:
            self._place(pod)

    def remove(self, node: Json, movers: Iterable[Json]) -> bool:
        """Try to do without the node: its movers, and pods that earlier removals put there, must fit elsewhere."""
        name, before, guests = node["metadata"]["name"], dict(self._node_infos.by_name), self.guests(node)
        self._node_infos.by_name[name] = _without_movers(before[name])
        self._chosen.add(name)
        if all(self._place(pod) for pod in [*movers, *guests]):
            return True
        self._chosen.remove(name)
        self._node_infos = replace(self._node_infos, by_name=before)
        return False

    def guests(self, node: Json) -> list[Json]:
        own = {pod["metadata"]["uid"] for pod in self._view.pods_on(node)}
        there = self._node_infos.by_name[node["metadata"]["name"]].pods
        return [pod for pod in there if pod["metadata"]["uid"] not in own and is_movable(pod)]

    def _place(self, pod: Json) -> bool:
        target = first_fit(pod, self._node_infos, without=self._chosen)
        if target is not None:
            self._node_infos.by_name[target.name] = target.copy()
            self._node_infos.place(pod, target.name)
        return target is not None


Leaving = Mapping[str, Group]
"""The nodes that are on their way out, by UID."""


def at_minimum(view: View, node: Json, leaving: Leaving) -> bool:
    """May no further node of the node's group go?"""
    pool, group = view.pool_of(node), group_of(node)
    left = view.sizes()[group] - Counter(leaving.values())[group]
    return pool is None or left <= pool.autoscaling.min_node_count


@dataclass
class Candidates:
    """The unneeded nodes by UID, each with the time since when it was so in every loop."""

    settings: AutoscalerSettings
    since: dict[str, float] = field(default_factory=dict)
    _parked: dict[str, float] = field(default_factory=dict)

    def update(self, view: View, leaving: Leaving, now: float) -> None:
        """Check every node again, empty ones first, then those that were unneeded before."""
        self._parked = {uid: until for uid, until in self._parked.items() if until > now}
        eligible = [node for node in view.nodes if self._is_eligible(view, node, leaving, now)]
        movers = {node["metadata"]["uid"]: view.movers(node, now) for node in eligible}
        simulation = self._simulation(view, leaving) if any(movers.values()) or view.chunks else None
        # of a copy of the budgets a loop takes what its candidates would use
        left = replace(view, read=lambda kind: deepcopy(view.budgets) if kind == BUDGETS else view.read(kind))
        since: dict[str, float] = {}
        for node in sorted(eligible, key=lambda node: self._turn(node, movers)):
            uid = node["metadata"]["uid"]
            guests = simulation.guests(node) if simulation is not None else []
            shut = obstacle(movers[uid], left) or any(_is_shut(pod, left) for pod in guests)
            if simulation is None or (not shut and simulation.remove(node, movers[uid])):
                since[uid] = self.since.get(uid, now)
                _take_off_budgets([*movers[uid], *guests], left)
            else:
                self._parked[uid] = now + self.settings.recheck
        self.since = since

    def _turn(self, node: Json, movers: dict[str, list[Json]]) -> tuple[bool, bool]:
        uid = node["metadata"]["uid"]
        return bool(movers[uid]), uid not in self.since

    def ripe(self, view: View, now: float) -> list[Json]:
        """The nodes that have been unneeded for long enough."""
        return [node for node in view.nodes if self._is_ripe(view, node, now)]

    def _is_ripe(self, view: View, node: Json, now: float) -> bool:
        waits = view.settings_of(node, self.settings).unneeded_time
        return self.since.get(node["metadata"]["uid"], now + 1) <= now - waits

    def _simulation(self, view: View, leaving: Leaving) -> RemovalSimulation:
        """A simulation in which all that already needs room has taken it."""
        simulation = RemovalSimulation(view)
        simulation.place(pod for pod in view.pods if _waits(pod))
        simulation.place(view.chunks)
        for node in view.nodes:
            if node["metadata"]["uid"] in leaving:
                simulation.remove(node, [pod for pod in view.pods_on(node) if _comes_again(pod)])
        return simulation

    def _is_eligible(self, view: View, node: Json, leaving: Leaving, now: float) -> bool:
        pool, uid = view.pool_of(node), node["metadata"]["uid"]
        if pool is None or not pool.autoscaling.enabled or uid in leaving or uid in self._parked:
            return False
        if not is_ready(node):  # it boots for pods that wait, or counts by scaleDownUnreadyTime (20 min)
            return False
        if annotations_of(node).get(DISABLED) == "true" or has_taint(node, TO_BE_DELETED) or is_reserved(node):
            return False
        if at_minimum(view, node, leaving):
            return False
        return utilization(view, node, now) <= view.settings_of(node, self.settings).threshold


def _waits(pod: Json) -> bool:
    return not (node_of(pod) or is_finished(pod) or is_terminating(pod))


def _comes_again(pod: Json) -> bool:
    """A pod of a node being drained whose replacement is not there yet; a StatefulSet's waits for its end."""
    return bool(owner_kind(pod)) and (not is_terminating(pod) or owner_kind(pod) == "StatefulSet")
