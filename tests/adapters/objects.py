"""Kubernetes objects as the API writes them, with short defaults, and core pods read from them."""

from typing import Any

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.core.cluster.pod import Pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
CREATED = "2026-03-04T10:00:00Z"


def api_node(name: str = "n1", *, version: str = "7", ready: str = "True", **changes: Any) -> dict[str, Any]:
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": changes.pop("since", CREATED)}
    return {
        "metadata": {
            "name": name,
            "uid": changes.pop("uid", f"uid-{name}"),
            "resourceVersion": version,
            "creationTimestamp": CREATED,
            "labels": {"cloud.google.com/gke-nodepool": "a"},
            "annotations": changes.pop("annotations", {}),
        },
        "spec": changes.pop("spec", {}),
        "status": {"allocatable": {"cpu": "3920m", "memory": "13Gi", "pods": "110"}, "conditions": [condition]},
        **changes,
    }


def container(cpu: str = "", memory: str = "", *, name: str = "app", **changes: Any) -> dict[str, Any]:
    requests = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value}
    return {"name": name, "resources": {"requests": requests} if requests else {}, **changes}


def api_pod(
    name: str = "web-1",
    *,
    containers: list[dict[str, Any]] | None = None,
    meta: dict[str, Any] | None = None,
    status: dict[str, Any] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    owner = {"kind": "ReplicaSet", "name": "web-5d4f", "uid": "rs", "controller": True}
    given: dict[str, Any] = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": {"app": "web"}}
    return {
        "metadata": {**given, "creationTimestamp": CREATED, "ownerReferences": [owner], **(meta or {})},
        "spec": {"containers": [container("100m")] if containers is None else containers, "nodeName": "n1", **spec},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], **(status or {})},
    }


def read(pod: dict[str, Any], decoder: PodDecoder | None = None) -> Pod:
    """Read one pod as the adapters do."""
    return (decoder or PodDecoder()).decode(msgspec.json.decode(msgspec.json.encode(pod), type=wire.Pod))


def node_affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}
