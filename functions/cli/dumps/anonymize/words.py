"""The words of the API that tell nothing of their owner and that rules read: they stay as they are.

Must not hold behaviour beyond asking whether a word is one of them.
"""

import re
from collections.abc import Mapping
from typing import Final

from shared.core.cluster import names

NAMED_VALUES: Final[Mapping[str, str]] = {
    names.POOL_LABEL: "pool",
    names.HOSTNAME_LABEL: "node",
    names.COMPUTE_CLASS_LABEL: "workload",
    "kubernetes.io/metadata.name": "namespace",
}
"""Labels whose value is the name of something."""
_PLACES: Final = (
    *names.VOLUME_ZONE_LABELS,
    "topology.gke.io/zone",
    names.MACHINE_LABEL,
    "beta.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
)
_OF_GKE: Final = (
    *names.SPOT_LABELS,
    names.TPU_TOPOLOGY_LABEL,
    names.CONSOLIDATION_DELAY_LABEL,
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-accelerator-count",
    "cloud.google.com/gke-tpu-accelerator",
    "cloud.google.com/gke-provisioning",
    "cloud.google.com/gke-local-nvme-ssd",
    "cloud.google.com/gke-ephemeral-storage-local-ssd",
    "cloud.google.com/machine-family",
    names.STANDBY_NODE,
    names.MANAGED_NODE,
)
SWITCHES: Final = frozenset(
    {*names.POD_OPT_OUT_LABELS, *names.NODE_OPT_OUTS, names.OPT_OUT_UNTIL, names.EVICTIONS_LABEL}
)
"""Labels that leave something alone: of their values only those that mean something stay."""
KEPT_VALUES: Final = frozenset({*_PLACES, *_OF_GKE})
"""Labels whose values are the platform's words."""
_KEPT_KEYS: Final = frozenset({
    *KEPT_VALUES, *SWITCHES, *NAMED_VALUES, *names.QUEUED_KEYS, *names.PLACEMENT_LABELS, *names.GOING_TAINTS,
    *names.OUTSIDE_TAINTS,
    names.OUR_TAINT, "pod-template-hash", "controller-revision-hash", "statefulset.kubernetes.io/pod-name",
    "nvidia.com/gpu", "google.com/tpu",
})  # fmt: skip
_KEPT_PREFIXES: Final = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "cloud.google.com/gke-",
)
_RESOURCES: Final = frozenset({
    "cpu", "memory", "ephemeral-storage", "pods", "nvidia.com/gpu", "amd.com/gpu", "google.com/tpu",
})  # fmt: skip
_RESOURCE_PREFIXES: Final = ("hugepages-", "attachable-volumes-")
_KINDS: Final = frozenset({
    "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController", "Node", "Pod",
    "ComputeClass",
})  # fmt: skip
_DRIVERS: Final = (".gke.io", ".aws.com", ".azure.com", ".k8s.io", ".openstack.org", ".vmware.com", ".portworx.com")
_REASONS: Final = frozenset({
    "Unschedulable", "Infeasible", "Deferred", "NodeStatusNeverUpdated", "NewReplicaSetAvailable", "ReplicaSetUpdated",
    "ProgressDeadlineExceeded", "NewReplicaSetCreated", "FoundNewReplicaSet", "DeploymentPaused", "DeploymentResumed",
})  # fmt: skip


_SWITCH: Final = re.compile(r"|true|false|never|on-completion|-?\d{1,20}|([0-9.]+(ns|us|µs|μs|ms|s|m|h))+")
_CONDITIONS: Final = frozenset({
    "Ready", "ReadyForProvisioning", "PodScheduled", "PodResizePending", "Progressing", "Available",
    *names.LIFECYCLE_CONDITIONS, names.SUSPENDED_CONDITION,
})  # fmt: skip


def switch(value: str) -> str:
    """Return the value of a switch, where it is one that switches something."""
    return value if _SWITCH.fullmatch(value) else "other"


def is_kept_condition(kind: str) -> bool:
    return kind in _CONDITIONS


def is_kept_key(key: str) -> bool:
    return key in _KEPT_KEYS or key.startswith(_KEPT_PREFIXES)


def is_kept_resource(name: str) -> bool:
    return name in _RESOURCES or name.startswith(_RESOURCE_PREFIXES)


def is_kept_kind(kind: str) -> bool:
    return kind in _KINDS


def is_kept_driver(driver: str) -> bool:
    return driver.startswith("kubernetes.io/") or driver.endswith(_DRIVERS)


def is_kept_reason(reason: str) -> bool:
    return reason in _REASONS
