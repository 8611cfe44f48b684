"""Nodes as GKE makes them, what stands on them, and GKE's own kinds without their rules, as plain manifests."""

import copy
from collections.abc import Mapping
from typing import Any

Manifest = dict[str, Any]
# What GKE leaves to pods: https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes
_CPU_RESERVED = ((1, 0.06), (1, 0.01), (2, 0.005), (float("inf"), 0.0025))
_MEMORY_RESERVED = ((4, 0.25), (4, 0.20), (8, 0.10), (112, 0.06), (float("inf"), 0.02))
_EVICTION_THRESHOLD_MIB = 100
PODS_PER_NODE = 110


def definition(kind: str, group: str, plural: str, version: str = "v1", scope: str = "Namespaced") -> Manifest:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
        },
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "scope": scope,
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


CAPACITY_BUFFER = definition("CapacityBuffer", "autoscaling.x-k8s.io", "capacitybuffers", "v1beta1")
PROVISIONING_REQUEST = definition("ProvisioningRequest", "autoscaling.x-k8s.io", "provisioningrequests")
"""Of the same group, in a version that buffers do not have."""
COMPUTE_CLASS = definition("ComputeClass", "cloud.google.com", "computeclasses", scope="Cluster")
VERTICAL_POD_AUTOSCALER = definition("VerticalPodAutoscaler", "autoscaling.k8s.io", "verticalpodautoscalers")


def capacity_buffer(name: str, namespace: str, *, replicas: int, node_selector: Mapping[str, str]) -> list[Manifest]:
    """A capacity buffer as its controller leaves it, after the template of its chunks."""
    meta = {"name": name, "namespace": namespace}
    limits = {"resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "1", "memory": "1Gi"}}}
    spec = {"containers": [{"name": "main", "image": "local/main", **limits}], "nodeSelector": dict(node_selector)}
    status = {"podTemplateRef": {"name": name}, "replicas": replicas, "readyReplicas": 0}
    return [
        {"apiVersion": "v1", "kind": "PodTemplate", "metadata": meta, "template": {"metadata": {}, "spec": spec}},
        {
            "apiVersion": "autoscaling.x-k8s.io/v1beta1",
            "kind": "CapacityBuffer",
            "metadata": meta,
            "spec": {"podTemplateRef": {"name": name}, "replicas": replicas},
            "status": status,
        },
    ]


def node(
    name: str,
    *,
    pool: str = "pool-a",
    zone: str = "europe-west4-a",
    machine: str = "e2-standard-4",
    cpu: int = 4,
    memory_gib: int = 16,
    labels: dict[str, str] | None = None,
) -> Manifest:
    """A node of a GKE pool, kept alive by kwok; its Stage fills in conditions and addresses."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": _node_labels(name, pool, zone, machine) | (labels or {}),
        },
        "spec": {"providerID": f"gce://ebb-local/{zone}/{name}"},
        "status": {
            "capacity": _resources(cpu * 1000, memory_gib * 1024),
            "allocatable": _resources(allocatable_cpu(cpu), allocatable_memory(memory_gib)),
            "nodeInfo": _NODE_INFO,
        },
    }


def namespace(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def nodes(count: int, **options: Any) -> list[Manifest]:
    pool = options.get("pool", "pool-a")
    return [node(f"gke-local-{pool}-{number:04d}", **options) for number in range(count)]


def deployment(
    name: str,
    *,
    replicas: int = 2,
    cpu: str = "500m",
    memory: str = "512Mi",
    grace: int = 5,
    namespace: str = "default",
    pod: Manifest | None = None,
) -> Manifest:
    """A Deployment whose pods carry the label `app: NAME`.

    `grace` is in seconds, `pod` holds further fields of the pods' spec; for a pace of their own see `paced`.
    """
    labels = {"app": name}
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    spec = {"terminationGracePeriodSeconds": grace, "containers": [container]} | (pod or {})
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def paced(workload: Manifest, **pace: str) -> Manifest:
    """The same workload with pods that take their own time: `readiness="20s"`, `work="1h"` (see stages.yaml)."""
    slow = copy.deepcopy(workload)
    annotations = {f"kwok.ebb.internal/{what}": duration for what, duration in pace.items()}
    slow["spec"]["template"]["metadata"]["annotations"] = annotations
    return slow


def disruption_budget(app: str, *, namespace: str = "default", **limit: int | str) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": namespace},
        "spec": {"selector": {"matchLabels": {"app": app}}} | limit,
    }


def allocatable_cpu(cores: int) -> int:
    return cores * 1000 - round(1000 * _reserved(cores, _CPU_RESERVED))


def allocatable_memory(gib: int) -> int:
    return gib * 1024 - round(1024 * _reserved(gib, _MEMORY_RESERVED)) - _EVICTION_THRESHOLD_MIB


def _reserved(amount: float, steps: tuple[tuple[float, float], ...]) -> float:
    reserved = 0.0
    for width, share in steps:
        part = min(amount, width)
        reserved, amount = reserved + part * share, amount - part
    return reserved


def _resources(millicores: int, mebibytes: int) -> dict[str, str]:
    return {"cpu": f"{millicores}m", "memory": f"{mebibytes}Mi", "pods": str(PODS_PER_NODE)}


def _node_labels(name: str, pool: str, zone: str, machine: str) -> dict[str, str]:
    return {
        "cloud.google.com/gke-nodepool": pool,
        "cloud.google.com/machine-family": machine.partition("-")[0],
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine,
        "topology.kubernetes.io/region": zone.rpartition("-")[0],
        "topology.kubernetes.io/zone": zone,
    }


_NODE_INFO = {
    "architecture": "amd64",
    "bootID": "",
    "containerRuntimeVersion": "containerd://2.0.0",
    "kernelVersion": "6.6.0",
    "kubeProxyVersion": "",
    "kubeletVersion": "v1.36.3-gke.1000000",
    "machineID": "",
    "operatingSystem": "linux",
    "osImage": "Container-Optimized OS from Google",
    "systemUUID": "",
}
