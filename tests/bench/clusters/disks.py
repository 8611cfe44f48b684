"""Zonal disks of generated workloads: a claim and the volume that it is bound to, as GKE's CSI driver makes them."""

from typing import Any, Final

from tests.bench.clusters.workloads import ZONE

Json = dict[str, Any]
DRIVER: Final = "pd.csi.storage.gke.io"
STORAGE_CLASS: Final = "standard-rwo"


def claim_name(pod: str) -> str:
    return f"data-{pod}"


def bound_claim(pod: str, zone: str) -> tuple[Json, Json]:
    """Return the claim of a pod's disk in a zone, and its volume."""
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
