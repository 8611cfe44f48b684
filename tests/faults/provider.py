"""What GKE does while Ebb works; some actions have a second half that befalls the same node later (`AFTERWARDS`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from infra.local.http_messages import HttpRequest
from infra.local.machine_types import make_node
from infra.local.scaling.view import CANDIDATE, TO_BE_DELETED
from infra.local.world.kinds import Json
from infra.local.world.pods import node_of, stays_behind
from shared.core.cluster.node import NodePool
from tests.faults.installation import Installation

AGENT = "gke"
AUTOSCALER = "cluster-autoscaler"
IMPENDING = {"key": "cloud.google.com/impending-node-termination", "effect": "NoSchedule"}
OVERLOADED_FOR = 40.0
NEW_VERSION = "1.36.4-gke.2"
"""Of what a long upgrade makes; the worlds' nodes have an older one."""
Action = Callable[[Installation, Json], object]


def _preempt(ebb: Installation, node: Json) -> None:
    """Half a minute's notice: the kubelet ends all pods, then the machine is gone and its Node object stays."""
    name = node["metadata"]["name"]
    patch_spec(ebb, AGENT, node, {"taints": [*(node["spec"].get("taints") or []), IMPENDING]})
    for pod in ebb.cloud.world.store.all("pods"):
        if node_of(pod) == name:
            meta = pod["metadata"]
            path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
            ask(ebb, AGENT, "DELETE", path, {"gracePeriodSeconds": 0})
    _crash(ebb, node)


def _crash(ebb: Installation, node: Json) -> None:
    ebb.cloud.world.kubelet.dead.add(node["metadata"]["name"])
    ebb.in_trouble.append(("machine", node["metadata"]["name"]))


def _make_anew(ebb: Installation, node: Json) -> None:
    """The instance group makes the machine anew: a Node of the same name with another UID."""
    old = _troubled(ebb, "machine", node)
    _remove(ebb, old)
    meta, status = old["metadata"], {key: value for key, value in old["status"].items() if key != "conditions"}
    spec = {"providerID": old["spec"].get("providerID", "")}
    ask(ebb, AGENT, "POST", "/api/v1/nodes", {"metadata": _fresh(meta), "spec": spec, "status": status})


def _fresh(meta: Json) -> Json:
    return {"name": meta["name"], "labels": meta.get("labels") or {}}


def _upgrade(ebb: Installation, node: Json) -> None:
    """A surge upgrade: another node first, then this one is cordoned and its pods are evicted."""
    _pools(ebb, upgrading=True)
    _add(ebb, node)
    patch_spec(ebb, AGENT, node, {"unschedulable": True})
    evict_all(ebb, AGENT, node)
    ebb.in_trouble.append(("upgrade", node["metadata"]["name"]))


def _take(ebb: Installation, node: Json) -> None:
    _pools(ebb, upgrading=True, version=NEW_VERSION)
    patch_spec(ebb, AGENT, node, {"unschedulable": True})
    evict_all(ebb, AGENT, node)
    ebb.in_trouble.append(("taken", node["metadata"]["name"]))


def _replace(ebb: Installation, node: Json) -> None:
    """Its machine is gone, one of the new version has come; the upgrade goes on elsewhere."""
    _remove(ebb, _troubled(ebb, "taken", node))
    _add(ebb, node, NEW_VERSION)


def _end_upgrade(ebb: Installation, _: Json) -> None:
    _pools(ebb, upgrading=False)


def _upgraded(ebb: Installation, node: Json) -> None:
    _remove(ebb, _troubled(ebb, "upgrade", node))
    _pools(ebb, upgrading=False)


def _add(ebb: Installation, _: Json, version: str = "") -> None:
    cluster, ebb.made = ebb.cloud.cluster, ebb.made + 1
    pool = cluster.pools["web"]
    made = make_node(pool, pool.zones[0], cluster.short_name, f"more{ebb.made}")
    if version:
        made["status"]["nodeInfo"]["kubeletVersion"] = f"v{version}"
    ask(ebb, AGENT, "POST", "/api/v1/nodes", made)


def _raise_minimum(ebb: Installation, _: Json) -> None:
    _pools(ebb, min_per_zone=len(ebb.cloud.world.store.all("nodes")))


def _delete_pool(ebb: Installation, _: Json) -> None:
    ebb.pools.pools = {}
    for thing in ebb.cloud.world.store.all("nodes"):
        _remove(ebb, thing)


def _overload(ebb: Installation, _: Json) -> None:
    """The API server turns Ebb's requests away before they are read, as its priority and fairness does."""
    ebb.overloaded_until = ebb.clock.now() + OVERLOADED_FOR
    ebb.turned_away_at += [ebb.clock.now(), ebb.overloaded_until]


def _announce(ebb: Installation, node: Json) -> None:
    """The autoscaler marks the node as unneeded: it is about to empty it onto the same room."""
    _taint(ebb, node, {"key": CANDIDATE, "value": "1", "effect": "PreferNoSchedule"})


def _recant(ebb: Installation, node: Json) -> None:
    """The autoscaler has changed its mind, or has ended: what it announced is needed."""
    taints = [taint for taint in node["spec"].get("taints") or [] if taint["key"] != CANDIDATE]
    patch_spec(ebb, AUTOSCALER, node, {"taints": taints})


def _start(ebb: Installation, node: Json) -> None:
    """The autoscaler takes the node: taint and cordon, then all evictions at once. Ebb may hold it."""
    _taint(ebb, node, {"key": TO_BE_DELETED, "value": "1", "effect": "NoSchedule"}, unschedulable=True)
    evict_all(ebb, AUTOSCALER, node)
    ebb.in_trouble.append(("removal", node["metadata"]["name"]))


def _finish(ebb: Installation, node: Json) -> None:
    """The machine is gone, or, where a pod could not be evicted, the node is given back."""
    left = _troubled(ebb, "removal", node)
    pods = ebb.cloud.world.store.all("pods")
    if any(node_of(pod) == left["metadata"]["name"] and not stays_behind(pod) for pod in pods):
        taints = [taint for taint in left["spec"].get("taints") or [] if taint["key"] != TO_BE_DELETED]
        patch_spec(ebb, AUTOSCALER, left, {"unschedulable": None, "taints": taints})
    else:
        _remove(ebb, left, AUTOSCALER)


def _taint(ebb: Installation, node: Json, taint: Json, **spec: object) -> None:
    others = [other for other in node["spec"].get("taints") or [] if other["key"] != taint["key"]]
    patch_spec(ebb, AUTOSCALER, node, {"taints": [*others, taint], **spec})


def _pools(ebb: Installation, **changes: object) -> None:
    pools: Mapping[str, NodePool] = ebb.pools.pools
    ebb.pools.pools = {name: replace(pool, **changes) for name, pool in pools.items()}  # type: ignore[arg-type] # by name


def _troubled(ebb: Installation, what: str, node: Json) -> Json:
    """The node of the action's first half; the one given where there was none."""
    begun = next((row for row in ebb.in_trouble if row[0] == what), ("", node["metadata"]["name"]))
    ebb.in_trouble = [row for row in ebb.in_trouble if row is not begun]
    return ebb.cloud.world.store.find("nodes", "", begun[1]) or node


def _remove(ebb: Installation, node: Json, agent: str = AGENT) -> None:
    ebb.cloud.world.kubelet.dead.discard(node["metadata"]["name"])
    ask(ebb, agent, "DELETE", f"/api/v1/nodes/{node['metadata']['name']}")


PROVIDER_ACTIONS: dict[str, Action] = {
    "preempt": _preempt,
    "crash": _crash,
    "make anew": _make_anew,
    "upgrade": _upgrade,
    "upgraded": _upgraded,
    "take": _take,
    "replace": _replace,
    "end the upgrade": _end_upgrade,
    "add a node": _add,
    "raise the minimum": _raise_minimum,
    "delete the pool": _delete_pool,
    "overload": _overload,
    "announce": _announce,
    "recant": _recant,
    "start": _start,
    "finish": _finish,
}
AFTERWARDS = {
    "preempt": "make anew",
    "crash": "make anew",
    "upgrade": "upgraded",
    "announce": "start",
    "start": "finish",
}
"""What follows an action, and always comes."""
_NO_BEGINNINGS = {"upgraded", "finish", "take", "replace", "end the upgrade"}
BEGINNINGS = tuple(name for name in PROVIDER_ACTIONS if name not in _NO_BEGINNINGS)
"""What may be drawn; a node is also made anew on its own, as auto-repair does."""


def ask(ebb: Installation, agent: str, method: str, path: str, body: Any = None) -> int:
    headers = {"content-type": "application/merge-patch+json", "user-agent": agent}
    sent = b"" if body is None else msgspec.json.encode(body)
    return ebb.cloud.api.handle(HttpRequest(method, path, {}, headers, sent)).status


@dataclass(frozen=True)
class Deed:
    """What somebody does once; its name says all about it."""

    name: str
    do: Callable[[Installation], object] = field(compare=False)

    def __str__(self) -> str:
        return self.name

    def __call__(self, ebb: Installation) -> None:
        ebb.acted_at.append(ebb.clock.now())
        self.do(ebb)
        ebb.cloud.world.step()  # the controllers notice at once: their lag is not what is tested here


def edited(name: str, deployment: str, spec: Json) -> Deed:
    path = f"/apis/apps/v1/namespaces/default/deployments/{deployment}"
    return Deed(name, lambda ebb: ask(ebb, "owner", "PATCH", path, {"spec": spec}))


def noted(name: str, deployment: str, **notes: str | None) -> Deed:
    return edited(name, deployment, {"template": {"metadata": {"annotations": notes}}})


def scaled(deployment: str, replicas: int) -> Deed:
    return edited(f"{deployment} has {replicas} pods", deployment, {"replicas": replicas})


def patch_spec(ebb: Installation, agent: str, node: Json, spec: Json) -> None:
    ask(ebb, agent, "PATCH", f"/api/v1/nodes/{node['metadata']['name']}", {"spec": spec})


def evict_all(ebb: Installation, agent: str, node: Json) -> None:
    for pod in ebb.cloud.world.store.all("pods"):
        meta = pod["metadata"]
        if node_of(pod) == node["metadata"]["name"] and not stays_behind(pod):
            path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/eviction"
            ask(ebb, agent, "POST", path, {"kind": "Eviction", "metadata": {"name": meta["name"]}})
