"""GKE machine types and what GKE leaves allocatable of them; nodes and their names as GKE makes them.

Source: https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes (reservations of CPU and memory) and
the machine families' pages for vCPU and memory.
"""

import hashlib

from infra.local.scenario import MachinePool
from infra.local.world.kinds import Json

_FAMILY_GIB_PER_CPU = {"standard": 4.0, "highmem": 8.0, "highcpu": 1.0}
_CPU_TIERS = ((1000, 0.06), (1000, 0.01), (2000, 0.005), (10**9, 0.0025))
_MEMORY_TIERS = ((4096, 0.25), (4096, 0.20), (8192, 0.10), (114_688, 0.06), (10**9, 0.02))
_EVICTION_MIB = 100
PODS_PER_NODE = 110
VERSION = "v1.36.3-gke.1"


def _reserved_amount(total: float, tiers: tuple[tuple[int, float], ...]) -> float:
    reserved = 0.0
    for size, share in tiers:
        part = min(total, size)
        reserved += part * share
        total -= part
    return reserved


def shape(machine_type: str) -> tuple[int, int]:
    """The vCPUs and MiB of a machine type such as e2-standard-4; ValueError for one that is not known."""
    _, _, rest = machine_type.partition("-")
    family, _, cpus = rest.partition("-")
    if family not in _FAMILY_GIB_PER_CPU or not cpus.isdigit():
        raise ValueError(f"machine type {machine_type!r} is not known here: use FAMILY-standard|highmem|highcpu-CPUS")
    return int(cpus), int(int(cpus) * _FAMILY_GIB_PER_CPU[family] * 1024)


def allocatable(machine_type: str) -> Json:
    """What GKE leaves for pods, as node status quantities."""
    cpus, mib = shape(machine_type)
    cpu = cpus * 1000 - _reserved_amount(cpus * 1000, _CPU_TIERS)
    memory = mib - _reserved_amount(mib, _MEMORY_TIERS) - _EVICTION_MIB
    return {"cpu": f"{int(cpu)}m", "memory": f"{int(memory)}Mi", "pods": str(PODS_PER_NODE)}


def node_labels(pool: MachinePool, zone: str, name: str) -> dict[str, str]:
    return {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": pool.machine_type,
        "topology.kubernetes.io/zone": zone,
        "topology.kubernetes.io/region": zone.rpartition("-")[0],
        "cloud.google.com/gke-nodepool": pool.name,
        "cloud.google.com/machine-family": pool.machine_type.partition("-")[0],
        "cloud.google.com/gke-provisioning": "standard",
        **pool.labels,
    }


def _node_info(name: str) -> Json:
    """What a kubelet reports of itself: every field that the API's schema requires."""
    system = {"architecture": "amd64", "operatingSystem": "linux", "osImage": "Container-Optimized OS from Google"}
    versions = {"kubeletVersion": VERSION, "kubeProxyVersion": VERSION, "kernelVersion": "6.12.0"}
    ids = {"bootID": f"boot-{name}", "machineID": f"machine-{name}", "systemUUID": f"system-{name}"}
    return {**system, **versions, **ids, "containerRuntimeVersion": "containerd://2.1.4"}


def make_node(pool: MachinePool, zone: str, cluster: str, serial: str) -> Json:
    """A Node object as GKE registers it; `serial` distinguishes nodes of one pool and zone."""
    digest = hashlib.sha256(f"{cluster}/{pool.name}/{zone}".encode()).hexdigest()[:8]
    name = f"gke-{cluster}-{pool.name}-{digest}-{serial}"
    cpus, mib = shape(pool.machine_type)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": node_labels(pool, zone, name), "annotations": dict(pool.annotations)},
        "spec": {"providerID": f"gce://local/{zone}/{name}"},
        "status": {
            "capacity": {"cpu": str(cpus), "memory": f"{mib}Mi", "pods": str(PODS_PER_NODE)},
            "allocatable": allocatable(pool.machine_type),
            "nodeInfo": _node_info(name),
        },
    }
