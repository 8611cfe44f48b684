"""The autoscaler's own proof: would the pods of one node after another run elsewhere?

Source: cluster-autoscaler pkg/simulator/cluster.go SimulateNodeRemoval. What one removal takes is gone for the next; a
node that was chosen is no destination any more but still stands there, tainted, as a domain. It looks at the moment
only: what anybody else is about to do is unknown to it.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from infra.local.scaling.view import TO_BE_DELETED, View, is_movable, taints_of
from infra.local.scheduling.filters import refusal
from infra.local.scheduling.node_infos import NodeInfo, node_infos_of
from infra.local.world.kinds import Json

_GOING = {"key": TO_BE_DELETED, "effect": "NoSchedule"}


def _copy(node_info: NodeInfo, node: Json | None = None) -> NodeInfo:
    return NodeInfo(
        node or node_info.node, [*node_info.pods], Counter(node_info.booked), {*node_info.ports}, [*node_info.repelling]
    )


def _ghost(node_info: NodeInfo) -> NodeInfo:
    """The node as it stands there without the pods that moved."""
    node = {**node_info.node, "spec": {**node_info.node["spec"], "taints": [*taints_of(node_info.node), _GOING]}}
    ghost = NodeInfo(node)
    for pod in node_info.pods:
        if not is_movable(pod):
            ghost.add(pod)
    return ghost


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
        """Try to do without the node: its movers, and what earlier removals put there, must find room elsewhere."""
        name, before = node["metadata"]["name"], dict(self._node_infos.by_name)
        guests = self._guests(node)
        self._node_infos.by_name[name] = _ghost(before[name])
        self._chosen.add(name)
        if all(self._place(pod) for pod in [*movers, *guests]):
            return True
        self._chosen.remove(name)
        self._node_infos = replace(self._node_infos, by_name=before)
        return False

    def _guests(self, node: Json) -> list[Json]:
        own = {pod["metadata"]["uid"] for pod in self._view.pods_on(node)}
        return [
            pod for pod in self._node_infos.by_name[node["metadata"]["name"]].pods if pod["metadata"]["uid"] not in own
        ]

    def _place(self, pod: Json) -> bool:
        for name, node_info in self._node_infos.by_name.items():
            if name not in self._chosen and refusal(pod, node_info, self._node_infos) is None:
                self._node_infos.by_name[name] = _copy(node_info)
                self._node_infos.place(pod, name)
                return True
        return False
