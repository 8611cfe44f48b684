"""The keys that Ebb reads or writes on nodes and pods."""
# Adapters keep only the annotations named here, so that pods fold.

import re
from dataclasses import dataclass
from typing import Final

NODE_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")  # IsDNS1123Subdomain: a path, a selector.


@dataclass(frozen=True, slots=True)
class Namespaced:
    namespace: str
    name: str

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


OUR_TAINT: Final = "status-taint.cluster-autoscaler.kubernetes.io/ebb"
"""NoSchedule, value = order id. The autoscaler strips this prefix from its node templates and does not call
the node unready for it (cluster-autoscaler, utils/taints)."""
HELD_TAINT: Final = f"{OUR_TAINT}-held"
"""PreferNoSchedule, without a value: the node belongs to a wave, and pods prefer other nodes (`planning.waves`)."""
NO_ORDER: Final = "unnamed"  # Stands for an order whose id is empty: a person may write our taint without a value.
OUR_ANNOTATION: Final = "ebb.internal/drain"  # JSON {order_id, since}: who cordoned the node and when.
EVICTIONS_LABEL: Final = "ebb.internal/evictions"  # On a namespace: `never` keeps its pods (infra/admission.yaml).

SURGE: Final = "ebb.internal/surge"  # On a Deployment: whether a drain may start a second pod next to its only one.
SURGE_STAMP: Final = "ebb.internal/surged-for"
"""On a Deployment's pod template, value = order id: the drain that it was last restarted for."""
SURGED_BEFORE: Final = "ebb.internal/surged-before"
"""On a Deployment: the stamp of its template before the last restart. In a namespace that keeps its pods, a restart is
undone by it; the admission policy of infra/options/surge.yaml checks it."""

KUBE_SYSTEM: Final = "kube-system"  # The cluster's own pods; every cluster has it, and its UID is the cluster's.
AUTOPILOT_NODES: Final = "gk3-"  # How the names of the nodes of an Autopilot cluster begin.
POOL_LABEL: Final = "cloud.google.com/gke-nodepool"
ZONE_LABEL: Final = "topology.kubernetes.io/zone"
REGION_LABEL: Final = "topology.kubernetes.io/region"
VOLUME_ZONE_LABELS: Final = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    ZONE_LABEL,
    REGION_LABEL,
)
"""The labels of a PersistentVolume that limit where it can be attached (kube-scheduler, plugin VolumeZone)."""
TEMPLATE_HASH_LABEL: Final = "pod-template-hash"  # On a Deployment's ReplicaSets, in their names, and on their pods.
REVISION_LABEL: Final = "controller-revision-hash"
POD_NAME_LABEL: Final = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL: Final = "apps.kubernetes.io/pod-index"
"""On a StatefulSet's pods: the revision that they were made of, their own name, and since 1.28 their ordinal."""
HOSTNAME_LABEL: Final = "kubernetes.io/hostname"
MACHINE_LABEL: Final = "node.kubernetes.io/instance-type"
OS_LABEL: Final = "kubernetes.io/os"
TPU_TOPOLOGY_LABEL: Final = "cloud.google.com/gke-tpu-topology"  # The shape of a TPU node's slice, in chips: `4x8`.
QUEUED_KEYS: Final = ("cloud.google.com/gke-queued", "autoscaling.gke.io/provisioning-request")
"""Labels or taints of nodes that queued provisioning brought (cluster-autoscaler's GKE build, utils/labels)."""
PLACEMENT_LABELS: Final = ("cloud.google.com/gke-placement-group", "cloud.google.com/placement-policy-name")
"""Labels of nodes that are placed close together: GKE's own group, or one by a policy of the user's."""
CONSOLIDATION_DELAY_LABEL: Final = "cloud.google.com/gke-consolidation-delay-seconds"
"""How long the autoscaler waits before it deletes an unneeded node of the pool."""
GPU_LABEL: Final = "cloud.google.com/gke-accelerator"
GPU_COUNT_LABEL: Final = "cloud.google.com/gke-accelerator-count"
GPU_CLIENTS_LABEL: Final = "cloud.google.com/gke-max-shared-clients-per-gpu"
EPHEMERAL_SSD_LABEL: Final = "cloud.google.com/gke-ephemeral-storage-local-ssd"
RAW_SSD_LABEL: Final = "cloud.google.com/gke-local-nvme-ssd"
"""What GPUs a node has and how pods share them; whether local SSDs hold its ephemeral storage, or are given raw."""
SPOT_LABELS: Final = ("cloud.google.com/gke-spot", "cloud.google.com/gke-preemptible")

AUTOSCALER_DELETING_TAINT: Final = "ToBeDeletedByClusterAutoscaler"
AUTOSCALER_CANDIDATE_TAINT: Final = "DeletionCandidateOfClusterAutoscaler"
UNSCHEDULABLE_TAINT: Final = "node.kubernetes.io/unschedulable"
REMOVED_BY_OTHERS_TAINTS: Final = (
    AUTOSCALER_DELETING_TAINT,
    "autoscaling.gke.io/defrag-candidate",
    "autoscaling.gke.io/defrag-soft-candidate",
    "cloud.google.com/impending-node-termination",
)
"""A node with one of these is being removed already (cluster-autoscaler; GKE's defrag; spot preemption)."""
GOING_TAINTS: Final = (AUTOSCALER_CANDIDATE_TAINT, *REMOVED_BY_OTHERS_TAINTS)
"""A node with one of these is on its way out, or announced to be: it stays no destination for long."""

COMPUTE_CLASS_LABEL: Final = "cloud.google.com/compute-class"  # On nodes: the ComputeClass that they were made for.
STANDBY_NODE: Final = "buffer.gke.io/standby-capacity-node"
"""Label and PreferNoSchedule taint of a node that stands by for a capacity buffer, running or suspended; both are gone
once it is used (cluster-autoscaler's GKE build, pkg/csn)."""
STANDBY_SUSPENDED_TAINT: Final = "buffer.gke.io/standby-capacity-node-suspended"
SUSPENDED_CONDITION: Final = "Suspended"  # The taint (NoSchedule) and condition of one whose machine is suspended.
MANAGED_NODE: Final = "cloud.google.com/autopilot-managed-node"
"""Label and taint of a node that Google manages inside a Standard cluster (ComputeClasses in Autopilot mode)."""
NODE_TYPE_LABEL: Final = "type"
VIRTUAL_KUBELET: Final = "virtual-kubelet"
VIRTUAL_TAINT: Final = "virtual-kubelet.io/provider"
"""How a virtual kubelet marks its node by default (virtual-kubelet, cmd/virtual-kubelet, commands/root/node.go)."""
OUTSIDE_TAINTS: Final = (STANDBY_NODE, STANDBY_SUSPENDED_TAINT, MANAGED_NODE, VIRTUAL_TAINT)
LIFECYCLE_CONDITIONS: Final = (
    "DrainInProgress",
    "Drained",
    "MaintenancePlanned",
    "MaintenanceInProgress",
    "GracefulNodeShutdownInProgress",
)
"""Node conditions that announce a drain, maintenance or shutdown of the node (Kubernetes 1.37, KEP-5683).
Ebb writes none of them, so one that is True is never ours."""

LEAVING_TAINTS: Final = (AUTOSCALER_DELETING_TAINT, "cloud.google.com/impending-node-termination")
"""A node with one of these is being taken away in this very moment."""

SAFE_TO_EVICT: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_LOCAL_VOLUMES: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
DAEMON_SET_POD: Final = "cluster-autoscaler.kubernetes.io/daemonset-pod"
MIRROR: Final = "kubernetes.io/config.mirror"
SCALE_DOWN_DISABLED: Final = "cluster-autoscaler.kubernetes.io/scale-down-disabled"

POD_OPT_OUTS: Final = (
    "karpenter.sh/do-not-disrupt",
    "karpenter.sh/do-not-evict",
    "autoscaling.cast.ai/removal-disabled",
    "descheduler.alpha.kubernetes.io/prefer-no-eviction",
    "ebb.internal/do-not-disrupt",
)
NODE_OPT_OUTS: Final = (
    SCALE_DOWN_DISABLED,
    "karpenter.sh/do-not-disrupt",
    "karpenter.sh/do-not-consolidate",
    "autoscaling.cast.ai/removal-disabled",
    "ebb.internal/do-not-disrupt",
)
POD_OPT_OUT_LABELS: Final = ("autoscaling.cast.ai/removal-disabled",)
"""CAST AI reads its setting from labels as well as from annotations."""
OPT_OUT_UNTIL: Final = "autoscaling.cast.ai/removal-disabled-until"
"""Label or annotation of a node or pod: Unix seconds until which it is left alone (docs.cast.ai, paused drain)."""
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
"""How expensive a pod is compared with the others of its ReplicaSet: an integer of 32 bits, less goes first."""
STEERED: Final = "ebb.internal/steered"  # On pods: the deletion cost that Ebb wrote; another one is somebody else's.
DISRUPTION_COSTS: Final = ("node-autoscaling.kubernetes.io/disruption-cost", "karpenter.sh/disruption-cost")
"""How expensive it is to move a pod, from 0: the name that node autoscalers are to share (kubernetes/autoscaler issue
9399, PR 9850), and Karpenter's (kubernetes-sigs/karpenter PR 2894). Autoscalers only read them."""
POD_ANNOTATIONS: Final = frozenset({
    SAFE_TO_EVICT, SAFE_LOCAL_VOLUMES, DAEMON_SET_POD, MIRROR, DELETION_COST, *DISRUPTION_COSTS, OPT_OUT_UNTIL,
    *POD_OPT_OUTS,
})  # fmt: skip
"""All that the rules read on a pod."""

PACKING_SCHEDULER: Final = "gke.io/optimize-utilization-scheduler"
"""The scheduler that the autoscaling profile optimize-utilization gives to pods."""
SCHEDULERS: Final = ("default-scheduler", PACKING_SCHEDULER, "gke.io/default-scheduler")
"""Schedulers whose filters are the kube-scheduler's own."""
CRITICAL_CLASSES: Final = ("system-cluster-critical", "system-node-critical")
