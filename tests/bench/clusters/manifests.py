"""A generated cluster as the Kubernetes API prints it, list by list; pods in full, about 6.6 kB each."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from infra.local.machine_types import allocatable
from tests.adapters.objects import CREATED, api_node
from tests.bench.clusters.generated import DAEMON_CPU, DAEMON_MEMORY, BenchCluster
from tests.bench.clusters.placing import BenchNode
from tests.bench.clusters.specs import (
    CLAIM,
    DRIVER,
    STORAGE_CLASS,
    annotations_of,
    bound_claim,
    claim_name,
    container_of,
    labels_of,
    rules_of,
)
from tests.bench.clusters.workloads import BenchWorkload
from tests.bench.pages import full_container, full_pod

Json = dict[str, Any]
_HASH: Final = "5d4f8b9c77"
_OWN_LABELS: Final[Mapping[str, Mapping[str, str]]] = {
    "Deployment": {"pod-template-hash": _HASH},
    "StatefulSet": {"controller-revision-hash": _HASH, "statefulset.kubernetes.io/pod-name": "POD-NAME"},
}
"""What the controllers add to the labels of their pods."""
_MOST_DISKS: Final = 15
"""That the CSI driver attaches to one machine."""


def lists(cluster: BenchCluster) -> Mapping[str, list[Json]]:
    replicas = {workload.name: len(cluster.places[workload.name]) for workload in cluster.workloads}
    living = [workload for workload in cluster.workloads if replicas[workload.name]]
    deployments = [workload for workload in living if workload.kind == "Deployment"]
    claims = [bound_claim(f"{own.name}-{number}", cluster.nodes[place].zone)
              for own in living if own.disk for number, place in enumerate(cluster.places[own.name])]  # fmt: skip
    return {
        "nodes": [_node(node) for node in cluster.nodes],
        "namespaces": [{"metadata": {"name": name, "labels": {}}} for name in ("default", "kube-system")],
        "poddisruptionbudgets": [_budget(workload, replicas[workload.name]) for workload in living if workload.budget],
        "replicasets": [_controller(deployment, replicas[deployment.name], "ReplicaSet") for deployment in deployments],
        "deployments": [_controller(deployment, replicas[deployment.name], "Deployment") for deployment in deployments],
        "statefulsets": [
            _controller(workload, replicas[workload.name], workload.kind)
            for workload in living
            if workload.kind == "StatefulSet"
        ],
        "persistentvolumeclaims": [claim for claim, _ in claims],
        "persistentvolumes": [volume for _, volume in claims],
        "storageclasses": [_storage_class()],
        "csinodes": [_csi_node(node) for node in cluster.nodes],
    }


def pods(cluster: BenchCluster) -> Iterator[bytes]:
    """Yield the pods in the API's order of making: workload by workload, then the DaemonSet's."""
    for workload in cluster.workloads:
        template = json.dumps(_pod(workload)).encode()
        for number, place in enumerate(cluster.places[workload.name]):
            name = f"{workload.name}-{number}"
            yield _named(template, name, cluster.nodes[place].name).replace(CLAIM.encode(), claim_name(name).encode())
    daemon = json.dumps(_daemon()).encode()
    for node in cluster.nodes:
        yield _named(daemon, f"agent-{node.name}", node.name)


def _named(template: bytes, name: str, node: str) -> bytes:
    return template.replace(b"POD-NAME", name.encode()).replace(b"NODE-NAME", node.encode())


def _pod(workload: BenchWorkload) -> Json:
    main = container_of(workload)
    containers = [full_container("main", "", "", resources=main["resources"], ports=main["ports"])]
    meta = {
        "name": "POD-NAME",
        "uid": "uid-POD-NAME",
        "labels": {**labels_of(workload), **_OWN_LABELS.get(workload.kind, {})},
        "annotations": annotations_of(workload),
        "ownerReferences": _owners(workload),
    }
    return full_pod(meta, containers, **rules_of(workload))


def _owners(workload: BenchWorkload) -> list[Json]:
    kinds = {"Deployment": "ReplicaSet", "StatefulSet": "StatefulSet", "Job": "Job"}
    if workload.kind not in kinds:
        return []
    name = _set_name(workload) if workload.kind == "Deployment" else workload.name
    return [_owner(kinds[workload.kind], name)]


def _owner(kind: str, name: str) -> Json:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}


def _set_name(workload: BenchWorkload) -> str:
    return f"{workload.name}-{_HASH}"


def _daemon() -> Json:
    meta = {"name": "POD-NAME", "namespace": "kube-system", "uid": "uid-POD-NAME", "labels": {"app": "agent"},
            "ownerReferences": [_owner("DaemonSet", "agent")]}  # fmt: skip
    containers = [full_container("agent", f"{DAEMON_CPU}m", f"{DAEMON_MEMORY}Mi", ports=[])]
    return full_pod(meta, containers, tolerations=[{"operator": "Exists"}])


def _node(node: BenchNode) -> Json:
    row = api_node(node.name)
    row["metadata"]["labels"] = {
        "cloud.google.com/gke-nodepool": node.pool,
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": node.machine,
        "topology.gke.io/zone": node.zone,
        "topology.kubernetes.io/region": node.zone.rpartition("-")[0],
        "topology.kubernetes.io/zone": node.zone,
    }
    row["status"]["allocatable"] = allocatable(node.machine)
    return row


def _controller(workload: BenchWorkload, replicas: int, kind: str) -> Json:
    behind = kind == "ReplicaSet"
    name, owners = (_set_name(workload), [_owner("Deployment", workload.name)]) if behind else (workload.name, [])
    meta = {"name": name, "namespace": "default", "uid": f"uid-{name}", "generation": 1, "ownerReferences": owners}
    counts = dict.fromkeys(("replicas", "updatedReplicas", "availableReplicas", "readyReplicas"), replicas)
    revision = {"currentRevision": _HASH, "updateRevision": _HASH}
    return {
        "metadata": {**meta, "creationTimestamp": CREATED},
        "spec": {"replicas": replicas, **_made_of(workload, kind)},
        "status": {**counts, **revision, "observedGeneration": 1},
    }


def _made_of(workload: BenchWorkload, kind: str) -> Json:
    """Return the pod template, without what only the API server and the scheduler write into pods."""
    pod = json.loads(json.dumps(_pod(workload)).replace(CLAIM, claim_name(f"{workload.name}-0")))
    made = kind == "StatefulSet" and workload.disk
    spec = {key: value for key, value in pod["spec"].items() if key not in {"nodeName", "tolerations", "volumes"}}
    labels = {**labels_of(workload), **(_OWN_LABELS["Deployment"] if kind == "ReplicaSet" else {})}
    if workload.disk and not made:
        spec["volumes"] = [volume for volume in pod["spec"]["volumes"] if "persistentVolumeClaim" in volume]
    claims = {"volumeClaimTemplates": [{"metadata": {"name": "data"}}]} if made else {}
    return {"template": {"metadata": {"labels": labels}, "spec": spec}, **claims}


def _budget(workload: BenchWorkload, healthy: int) -> Json:
    """Return the workload's PodDisruptionBudget, its status as the disruption controller writes it."""
    given: int | str = int(workload.budget) if workload.budget.isdigit() else workload.budget
    most = given if isinstance(given, int) else -(-healthy * int(given.rstrip("%")) // 100)
    desired = max(healthy - most, 0)
    counts = {"expectedPods": healthy, "currentHealthy": healthy, "desiredHealthy": desired}
    return {
        "metadata": {"name": workload.name, "namespace": "default", "uid": f"uid-pdb-{workload.name}", "generation": 1},
        "spec": {"maxUnavailable": given, "selector": {"matchLabels": {"app": workload.name}}},
        "status": {**counts, "disruptionsAllowed": healthy - desired, "observedGeneration": 1},
    }


def _storage_class() -> Json:
    meta = {"name": STORAGE_CLASS, "uid": f"uid-{STORAGE_CLASS}"}
    return {"metadata": meta, "provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer"}


def _csi_node(node: BenchNode) -> Json:
    drivers = [{"name": DRIVER, "nodeID": node.name, "topologyKeys": ["topology.gke.io/zone"],
                "allocatable": {"count": _MOST_DISKS}}]  # fmt: skip
    return {"metadata": {"name": node.name, "uid": f"uid-csi-{node.name}"}, "spec": {"drivers": drivers}}
