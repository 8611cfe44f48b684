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
from infra.local.scheduling.picture import Room, take
from infra.local.world.kinds import Json

_GOING = {"key": TO_BE_DELETED, "effect": "NoSchedule"}


def _copy(room: Room, node: Json | None = None) -> Room:
    return Room(node or room.node, [*room.pods], Counter(room.booked), {*room.ports}, [*room.repelling])


def _ghost(room: Room) -> Room:
    """The node as it stands there without the pods that moved."""
    node = {**room.node, "spec": {**room.node["spec"], "taints": [*taints_of(room.node), _GOING]}}
    ghost = Room(node)
    for pod in room.pods:
        if not is_movable(pod):
            ghost.add(pod)
    return ghost


class Simulation:
    """One loop's simulation; each `remove` that succeeds is kept."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._picture = take(view.nodes, view.pods)
        self._chosen: set[str] = set()

    def place(self, pods: Iterable[Json]) -> None:
        """Book room for pods that run nowhere yet, as far as there is any."""
        for pod in pods:
            self._place(pod)

    def remove(self, node: Json, movers: Iterable[Json]) -> bool:
        """Try to do without the node: its movers, and what earlier removals put there, must find room elsewhere."""
        name, before = node["metadata"]["name"], dict(self._picture.rooms)
        guests = self._guests(node)
        self._picture.rooms[name] = _ghost(before[name])
        self._chosen.add(name)
        if all(self._place(pod) for pod in [*movers, *guests]):
            return True
        self._chosen.remove(name)
        self._picture = replace(self._picture, rooms=before)
        return False

    def _guests(self, node: Json) -> list[Json]:
        own = {pod["metadata"]["uid"] for pod in self._view.pods_on(node)}
        return [pod for pod in self._picture.rooms[node["metadata"]["name"]].pods if pod["metadata"]["uid"] not in own]

    def _place(self, pod: Json) -> bool:
        for name, room in self._picture.rooms.items():
            if name not in self._chosen and refusal(pod, room, self._picture) is None:
                self._picture.rooms[name] = _copy(room)
                self._picture.place(pod, name)
                return True
        return False
