"""A cluster as `kubectl get nodes,pods,pdb,namespaces -A -o json` prints it: sixty half-empty nodes of two pools."""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.builders import NOW

NEWEST = "2026-03-04T22:00:00Z"
_YESTERDAY = (NOW - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
POOLS = ("default-pool", "web-pool")


def name_of(number: int) -> str:
    return f"gke-prod-{POOLS[number % 2]}-1a2b3c4d-{number:04x}"


def node(number: int) -> dict[str, Any]:
    name = name_of(number)
    labels = {
        "cloud.google.com/gke-nodepool": POOLS[number % 2],
        "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": "e2-standard-4",
        "topology.kubernetes.io/zone": f"europe-west4-{'abc'[number % 3]}",
    }
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": NEWEST, "lastTransitionTime": _YESTERDAY}
    size = {"cpu": "3920m", "memory": "13Gi", "pods": "110", "ephemeral-storage": "47Gi"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"node-{number}", "creationTimestamp": _YESTERDAY, "labels": labels},
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"gce://p/europe-west4-a/{name}"},
        "status": {"allocatable": size, "capacity": size, "conditions": [ready]},
    }


def pod(
    name: str,
    on: str,
    *,
    app: str = "web",
    kind: str = "ReplicaSet",
    cpu: str = "300m",
    namespace: str = "shop",
    **spec: Any,
) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": f"{app}-5d4f8b", "uid": f"rs-{app}", "controller": True}
    requests = {"cpu": cpu, "memory": "768Mi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"pod-{name}",
            "creationTimestamp": _YESTERDAY,
            "labels": {"app": app},
            "ownerReferences": [owner] if kind else [],
        },
        "spec": {
            "nodeName": on,
            "schedulerName": "default-scheduler",
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "containers": [{"name": "main", "image": "web:1", "resources": {"requests": requests}}],
            **spec,
        },
        "status": {"phase": "Running", "startTime": _YESTERDAY, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def pdb(name: str, app: str, pods: int, allowed: int) -> dict[str, Any]:
    """A budget that counts so many pods, all of them healthy, and lets so many of them go, however many there are."""
    needed = max(pods - allowed, 0)
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "shop", "generation": 1, "creationTimestamp": _YESTERDAY},
        "spec": {"maxUnavailable": allowed, "selector": {"matchLabels": {"app": app}}},
        "status": {
            "disruptionsAllowed": pods - needed,
            "currentHealthy": pods,
            "desiredHealthy": needed,
            "expectedPods": pods,
            "observedGeneration": 1,
        },
    }


def autoscaler(app: str, cpu: str) -> dict[str, Any]:
    """A VerticalPodAutoscaler that writes requests into the pods of an app's StatefulSet."""
    target = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": f"{app}-5d4f8b"}
    rows = [{"containerName": "main", "target": {"cpu": cpu, "memory": "768Mi"}}]
    return {
        "apiVersion": "autoscaling.k8s.io/v1",
        "kind": "VerticalPodAutoscaler",
        "metadata": {"name": app, "namespace": "shop", "creationTimestamp": _YESTERDAY},
        "spec": {"targetRef": target},
        "status": {"recommendation": {"containerRecommendations": rows}},
    }


def items(nodes: int, *, cpu: str = "300m") -> Iterator[dict[str, Any]]:
    """Six web pods a node (about half of it), on some nodes one that stays: bare, with local data, or guarded.

    `cpu` is what a web pod asks for: with 300m most nodes are below the autoscaler's gate of 50 %.
    """
    for name in ("shop", "kube-system"):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"name": name}}}
    running: Counter[str] = Counter()
    for number in range(nodes):
        yield node(number)
        pods = list(_pods(number, cpu))
        running.update(pod["metadata"]["labels"]["app"] for pod in pods)
        yield from pods
    yield pdb("db", "db", running["db"], allowed=0)
    yield pdb("web", "web", running["web"], allowed=20)


def _pods(number: int, cpu: str) -> Iterator[dict[str, Any]]:
    on = name_of(number)
    for replica in range(6 if number % 4 else 10):
        yield pod(f"web-5d4f8b-{number:03}{replica}", on, cpu=cpu)
    yield pod(f"logs-{number:03}", on, app="logs", kind="DaemonSet", cpu="100m", namespace="kube-system")
    yield from _staying(number, on)


def _staying(number: int, on: str) -> Iterator[dict[str, Any]]:
    match number % 12:
        case 3:
            yield pod(f"bare-{number}", on, app="bare", kind="")
        case 5:
            yield pod(f"cart-{number}", on, app="cart", volumes=[{"name": "cache", "emptyDir": {}}])
        case 7:
            yield pod(f"db-{number}", on, app="db", kind="StatefulSet")


def write(path: Path, nodes: int = 60, *, cpu: str = "300m") -> Path:
    return write_items(path, items(nodes, cpu=cpu))


def write_items(path: Path, objects: Iterable[dict[str, Any]]) -> Path:
    """Write a dump of these objects, gzipped where the name says so."""
    data = json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": list(objects)}).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path
