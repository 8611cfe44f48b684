"""What tests of whole clusters have in common: passes in a row, and what became of the nodes and pods."""

from time import monotonic
from typing import Final

from infra.local.world.pods import taints_of
from shared.core.cluster.names import OUR_TAINT
from tests.real.control_plane import ControlPlane
from tests.real.control_plane.manifests import Manifest
from tests.real.installation import Installation
from tests.real.waiting import until
from tests.real.watches import Seen

MOST_WAITING: Final = 30.0
"""Seconds that a pod may be without a node."""
_EVERY: Final = 4.0
"""Seconds between two passes."""


def run_pass(ebb: Installation) -> bool:
    begun = monotonic()
    ebb.tick()
    until("the next pass", lambda: monotonic() - begun >= _EVERY)
    return True


def node_names(plane: ControlPlane) -> set[str]:
    return {node["metadata"]["name"] for node in plane.api.nodes()}


def tainted(plane: ControlPlane) -> list[str]:
    nodes = plane.api.nodes()
    return [
        node["metadata"]["name"]
        for node in nodes
        if node["spec"].get("unschedulable") or any(taint["key"] == OUR_TAINT for taint in taints_of(node))
    ]


def is_bound(pod: Manifest) -> bool:
    return bool(pod["spec"].get("nodeName"))


def longest_wait(seen: list[Seen], first: set[str]) -> float:
    """Return the longest time from the making of a pod that replaces another until it has a node, in seconds."""
    made = dict[str, float]()
    waits = [0.0]
    for change in seen:
        uid = change.thing["metadata"]["uid"]
        if change.plural == "pods" and uid not in first and not change.gone:
            began = made.setdefault(uid, change.at)
            if is_bound(change.thing):
                made[uid] = float("inf")
            waits.append(change.at - began)
    return max(waits)
