"""The node lifecycle: a new node becomes Ready after it booted, a dead one goes Unknown and is tainted.

Source: kubernetes pkg/controller/nodelifecycle (taints node.kubernetes.io/not-ready and unreachable). Nodes that are
cordoned are none of its business; the scheduler reads `unschedulable` itself.
"""

from functools import partial

from infra.local.clocks import seconds_of
from infra.local.world.kinds import Json
from infra.local.world.kubelet import Kubelet
from infra.local.world.pods import condition_of, set_condition
from infra.local.world.store import Store

ACTOR = "node-controller"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"


def set_ready(node: Json, now: float, status: str) -> None:
    """Write the node's Ready condition and the taint that goes with it."""
    reason = {"True": "KubeletReady", "False": "KubeletNotReady"}.get(status, "NodeStatusUnknown")
    set_condition(node, now, {"type": "Ready", "status": status, "reason": reason})
    taints: list[Json] = node["spec"].get("taints") or []
    kept = [taint for taint in taints if taint["key"] not in {NOT_READY, UNREACHABLE}]
    if status != "True":
        key = NOT_READY if status == "False" else UNREACHABLE
        kept.append({"key": key, "effect": "NoSchedule"})
    node["spec"]["taints"] = kept
    if not kept:
        del node["spec"]["taints"]


class NodeController:
    """Boots new nodes and notices dead ones. `boot` is seconds from creation to Ready."""

    def __init__(self, store: Store, kubelet: Kubelet, boot: float) -> None:
        self._store = store
        self._kubelet = kubelet
        self._boot = boot

    def step(self, now: float) -> None:
        for node in self._store.all("nodes"):
            wanted = self._wanted(node, now)
            if (condition_of(node, "Ready") or {}).get("status") != wanted:
                name = node["metadata"]["name"]
                self._store.update("nodes", "", name, partial(set_ready, now=now, status=wanted), ACTOR)

    def _wanted(self, node: Json, now: float) -> str:
        if node["metadata"]["name"] in self._kubelet.dead:
            return "Unknown"
        booted = seconds_of(node["metadata"]["creationTimestamp"]) + self._boot <= now
        return "True" if booted else "False"
