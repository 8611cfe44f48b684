"""Hand-made records of a simulated API: a few entries each, with short defaults, for the promise's checker."""

from collections.abc import Sequence
from typing import Any

from infra.local.demo.evidence import Evidence, Limits, PassRecord, PdbRule

Entry = dict[str, Any]
OURS = "status-taint.cluster-autoscaler.kubernetes.io/ebb=order-1:NoSchedule"
SOFT = "status-taint.cluster-autoscaler.kubernetes.io/ebb-held=:PreferNoSchedule"
LIMITS = Limits(pools={"web": 2}, ceiling=3, starts_per_hour=5, minimum_nodes=1, longest_cordon=60.0)
API = PdbRule("shop", "api", {"app": "api"}, 2)


def node(name: str, *, at: float = 0.0, actor: str = "scenario", pool: str = "web", **changes: Any) -> Entry:
    """A change of a node; `taints` and `unschedulable` as they are after it."""
    brief = {"ready": True, "unschedulable": False, "taints": [], "pool": pool, "zone": "a"}
    return _change("nodes", name, at, actor, {**brief, **changes}, namespace="")


def drained(name: str, *, at: float = 1.0, actor: str = "ebb", **changes: Any) -> Entry:
    """A node that Ebb has just cordoned and tainted."""
    return node(name, at=at, actor=actor, **{"unschedulable": True, "taints": [OURS], **changes})


def pod(name: str, *, at: float = 0.0, actor: str = "kubelet", **changes: Any) -> Entry:
    """A change of a healthy pod of the workload `api`."""
    brief = {"node": "n-1", "phase": "Running", "ready": True, "terminating": False, "unschedulable": False}
    return _change("pods", name, at, actor, {**brief, "owner": "rs-api", "labels": {"app": "api"}, **changes})


def evicted(name: str, *, at: float = 2.0, actor: str = "ebb") -> Entry:
    """An eviction that was granted."""
    return {"type": "eviction", "at": at, "namespace": "shop", "name": name, "uid": f"uid-{name}", "actor": actor}


def asked(verb: str, path: str, *, user_agent: str = "ebb") -> Entry:
    return {"type": "request", "at": 1.0, "verb": verb, "path": path, "user_agent": user_agent}


def evidence(*entries: Entry, limits: Limits = LIMITS, passes: Sequence[PassRecord] = (), **others: Any) -> Evidence:
    """The record's entries in the order given, judged by one PDB that asks for two healthy pods of `api`."""
    return Evidence(entries, (API,), limits, passes, **others)


def _change(kind: str, name: str, at: float, actor: str, brief: Entry, namespace: str = "shop") -> Entry:
    verb = brief.pop("verb", "update")
    about = {"verb": verb, "kind": kind, "namespace": namespace, "name": name, "uid": f"uid-{name}", "actor": actor}
    return {"type": "change", "at": at, **about, **brief}
