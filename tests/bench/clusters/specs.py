"""A generated workload as the API writes it: its pods' labels and spec with all their rules, and their zonal disks."""

from collections.abc import Iterator
from typing import Any, Final

from tests.bench.clusters.workloads import HOSTNAME, ZONE, BenchWorkload, Near

Json = dict[str, Any]
CLAIM: Final = "CLAIM-NAME"
"""Stands for the claim of one replica."""
APART: Final = "keep-apart"
"""The label whose value the pods of one group share."""
DRIVER: Final = "pd.csi.storage.gke.io"
STORAGE_CLASS: Final = "standard-rwo"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def labels_of(workload: BenchWorkload) -> dict[str, str]:
    return {"app": workload.name, **({APART: workload.apart} if workload.apart else {})}


def annotations_of(workload: BenchWorkload) -> dict[str, str]:
    return {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"} if workload.opted_out else {}


def container_of(workload: BenchWorkload) -> Json:
    requests = {"cpu": f"{workload.cpu}m", "memory": f"{workload.memory}Mi"}
    ports = [{"containerPort": workload.port, "hostPort": workload.port, "protocol": "TCP"}] if workload.port else []
    return {"name": "main", "image": "local/main", "resources": {"requests": requests}, "ports": ports}


def rules_of(workload: BenchWorkload, claim: str = CLAIM) -> Json:
    """Return the fields of the pod's spec that bind where it may lie, its containers aside."""
    spec: Json = {"restartPolicy": "Never" if workload.kind == "Job" else "Always"}
    if spread := list(_spread(workload)):
        spec["topologySpreadConstraints"] = spread
    if affinity := dict(_affinity(workload)):
        spec["affinity"] = affinity
    if workload.disk:
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    return spec


def _spread(workload: BenchWorkload) -> Iterator[Json]:
    for key, skew in ((ZONE, workload.zone_skew), (HOSTNAME, workload.host_skew)):
        if skew:
            yield {
                "maxSkew": skew,
                "topologyKey": key,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": workload.name}},
            }


def _affinity(workload: BenchWorkload) -> Iterator[tuple[str, Json]]:
    if workload.apart:
        yield "podAntiAffinity", {_REQUIRED: [_term(HOSTNAME, {APART: workload.apart})]}
    match workload.near:
        case Near(key, other):
            yield "podAffinity", {_REQUIRED: [_term(key, {"app": other})]}


def _term(key: str, labels: dict[str, str]) -> Json:
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}}


def claim_name(pod: str) -> str:
    return f"data-{pod}"


def bound_claim(pod: str, zone: str) -> tuple[Json, Json]:
    name, size = claim_name(pod), {"storage": "10Gi"}
    asked = {"accessModes": ["ReadWriteOnce"], "storageClassName": STORAGE_CLASS, "volumeMode": "Filesystem"}
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {**asked, "volumeName": f"pv-{name}", "resources": {"requests": size}},
        "status": {"phase": "Bound"},
    }
    volume = {
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{name}", "uid": f"uid-pv-{name}"},
        "spec": {
            **asked,
            "capacity": size,
            "claimRef": {"namespace": "default", "name": name, "uid": f"uid-{name}"},
            "csi": {"driver": DRIVER, "volumeHandle": f"projects/p/zones/{zone}/disks/{name}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
        "status": {"phase": "Bound"},
    }
    return claim, volume
