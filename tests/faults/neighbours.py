"""What others write on nodes that Ebb must then leave alone: standby capacity, managed nodes, maintenance."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Final

from infra.local.world.kinds import Json
from infra.local.world.pods import set_condition
from tests.faults.history import History
from tests.faults.installation import Installation
from tests.faults.provider import Deed
from tests.faults.worlds import Limits, Setting, setting, workload

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


PLACES: Final = dict.fromkeys(NEIGHBOURS, 5) | {"maintenance planned": 0}
"""Which node becomes the neighbour: it would be the first to go, and one in use is Ebb's alone to drain."""


def _become(what: str, ebb: Installation) -> None:
    """Let the node of that place in the pool `web` become one; a suspended one's kubelet falls silent."""
    name, world = ebb.cloud.node_names["web"][PLACES[what]], ebb.cloud.world
    if what == "stands by, suspended":
        world.kubelet.dead.add(name)
    world.store.update(
        world.store.get("nodes", "", name), lambda node: NEIGHBOURS[what](node, world.clock.now()), AGENT
    )


@cache
def _world() -> Setting:
    """Six nodes, one of them empty, of which one may be disrupted at a time; the autoscaler takes only empty ones."""
    limits = Limits(pool=1, ceiling=1)
    web = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1})
    return setting("beside a neighbour", [web, workload("api", [3, 4])], nodes=6, limits=limits, threshold=0.0)


@cache
def beside_neighbours() -> tuple[History, ...]:
    deeds = [Deed(what, partial(_become, what)) for what in NEIGHBOURS]
    return tuple(History(_world(), acts=((0.0, deed),), name=deed.name) for deed in deeds)
