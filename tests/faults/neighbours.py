"""What GKE and others write on nodes that Ebb must then leave alone: standby capacity, managed nodes, maintenance.

Each is an act upon one node of a history's world, from its beginning on. Must not use Ebb's adapters.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from infra.local.world.kinds import Json
from infra.local.world.pods import set_condition
from tests.faults.installation import Installation

STANDBY: Final = "buffer.gke.io/standby-capacity-node"
MANAGED: Final = "cloud.google.com/autopilot-managed-node"
AGENT: Final = "gke"


def _waiting(node: Json, now: float) -> None:
    del now
    node["metadata"].setdefault("labels", {})[STANDBY] = "true"
    _taint(node, STANDBY, "PreferNoSchedule")


def _suspended(node: Json, now: float) -> None:
    _waiting(node, now)
    _taint(node, f"{STANDBY}-suspended", "NoSchedule")
    node["spec"]["unschedulable"] = True
    set_condition(node, now, {"type": "Suspended", "status": "True", "reason": "CapacityBuffer"})


def _managed(node: Json, now: float) -> None:
    del now
    node["metadata"].setdefault("labels", {})[MANAGED] = "true"
    _taint(node, MANAGED, "NoSchedule")


def _maintained(node: Json, now: float) -> None:
    set_condition(node, now, {"type": "MaintenancePlanned", "status": "True", "reason": "Firmware"})


def _taint(node: Json, key: str, effect: str) -> None:
    rows = node["spec"].setdefault("taints", [])
    rows.append({"key": key, "value": "true", "effect": effect})


NEIGHBOURS: Final[Mapping[str, Callable[[Json, float], None]]] = {
    "stands by, suspended": _suspended,
    "stands by, waiting": _waiting,
    "managed by Google": _managed,
    "maintenance planned": _maintained,
}


@dataclass(frozen=True)
class BecomeNeighbour:
    """The node of that place in the pool `web` becomes one of `NEIGHBOURS`; a suspended one's kubelet falls silent."""

    what: str
    place: int

    def __call__(self, ebb: Installation) -> None:
        name, world = ebb.cloud.node_names["web"][self.place], ebb.cloud.world
        if self.what == "stands by, suspended":
            world.kubelet.dead.add(name)
        world.store.update("nodes", "", name, lambda node: NEIGHBOURS[self.what](node, world.clock.now()), AGENT)
