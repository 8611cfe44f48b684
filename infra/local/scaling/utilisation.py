"""How full a node is, as the autoscaler's gate measures it.

Source: cluster-autoscaler pkg/simulator/utilization/info.go: requests only; of a node with GPUs only the GPUs count.
"""

from collections import Counter

from infra.local.quantities import units
from infra.local.scaling.view import View, is_long_terminating
from infra.local.scheduling.requests import pod_requests
from infra.local.world.kinds import Json
from infra.local.world.pods import MIRROR, annotations_of, is_finished, labels_of, owner_kind

GPU = "nvidia.com/gpu"
GPU_LABEL = "cloud.google.com/gke-accelerator"


def utilisation(view: View, node: Json, now: float, *, ignore_daemonsets: bool) -> float:
    """The larger of the CPU and memory request ratios; ignored pods leave both sides of the fraction."""
    booked: Counter[str] = Counter()
    ignored: Counter[str] = Counter()
    for pod in view.pods_on(node):
        if not is_finished(pod) and not is_long_terminating(pod, now):
            stays = owner_kind(pod) == "DaemonSet" or MIRROR in annotations_of(pod)
            (ignored if stays and ignore_daemonsets else booked).update(pod_requests(pod))
    offered: Json = (node.get("status") or {}).get("allocatable") or {}
    if GPU_LABEL in labels_of(node):
        return _ratio(booked[GPU], units(GPU, offered[GPU])) if GPU in offered else 0.0
    ratios = [_ratio(booked[name], units(name, offered.get(name, 0)) - ignored[name]) for name in ("cpu", "memory")]
    return max(ratios)


def _ratio(booked: int, offered: int) -> float:
    return booked / offered if offered > 0 else float(booked > 0)
