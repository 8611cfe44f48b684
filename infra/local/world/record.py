"""The API's own record, from which a checker decides whether Ebb kept its promise: entries with `type` and `at` (s).

`request`: every HTTP request; `change`: of a pod or node, with who made it; `eviction`: every one that was granted,
with the healthy counts of the moment, from the pods and never from the budget's status.
"""

from infra.local.clocks import TimeSource
from infra.local.world.kinds import Json
from infra.local.world.pods import (
    controller_of,
    is_ready,
    is_terminating,
    is_unschedulable,
    labels_of,
    node_of,
    phase_of,
    taints_of,
)
from infra.local.world.store import ObjectChange

COST, MARK = "controller.kubernetes.io/pod-deletion-cost", "ebb.internal/steered"


def _pod_brief(pod: Json) -> Json:
    notes: Json = pod["metadata"].get("annotations") or {}
    costs = {"cost": notes.get(COST), "mark": notes.get(MARK)} if COST in notes or MARK in notes else {}
    return {
        "node": node_of(pod),
        "phase": phase_of(pod),
        "ready": is_ready(pod),
        "terminating": is_terminating(pod),
        "unschedulable": is_unschedulable(pod),
        "owner": (controller_of(pod) or {}).get("uid", ""),
        "labels": labels_of(pod),
        **costs,
    }


def _node_brief(node: Json) -> Json:
    taints = taints_of(node)
    return {
        "ready": is_ready(node),
        "unschedulable": bool(node["spec"].get("unschedulable")),
        "taints": [f"{taint['key']}={taint.get('value', '')}:{taint['effect']}" for taint in taints],
        "pool": labels_of(node).get("cloud.google.com/gke-nodepool", ""),
        "zone": labels_of(node).get("topology.kubernetes.io/zone", ""),
    }


_BRIEFS = {"pods": _pod_brief, "nodes": _node_brief}


class Record:
    def __init__(self, clock: TimeSource) -> None:
        self._clock = clock
        self.entries: list[Json] = []

    def add(self, sort: str, entry: Json) -> None:
        self.entries.append({"type": sort, "at": self._clock.now(), **entry})

    def of(self, sort: str) -> list[Json]:
        return [entry for entry in self.entries if entry["type"] == sort]

    def on_change(self, change: ObjectChange) -> None:
        """Note a write of a pod or a node, unless nothing that a checker reads has changed."""
        brief = _BRIEFS.get(change.plural)
        thing = change.after or change.before
        if brief is None or thing is None:
            return
        if change.before and change.after and brief(change.before) == brief(change.after):
            return
        verb = "create" if change.before is None else "delete" if change.after is None else "update"
        meta = thing["metadata"]
        self.add(
            "change",
            {
                "verb": verb,
                "kind": change.plural,
                "namespace": meta.get("namespace", ""),
                "name": meta["name"],
                "uid": meta["uid"],
                "actor": change.actor,
                **brief(thing),
            },
        )
