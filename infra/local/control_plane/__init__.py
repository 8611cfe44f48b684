"""A real Kubernetes control plane on loopback, with simulated kubelets, for tests and for playing by hand.

It must not know Ebb: what the planner and the drainer promise is judged against it.
"""

from infra.local.control_plane.api import MERGE_PATCH, STRATEGIC_PATCH, Answer, Api, ApiError
from infra.local.control_plane.assets import AssetsError
from infra.local.control_plane.cluster import ControlPlaneError
from infra.local.control_plane.plane import ControlPlane, missing

__all__ = [
    "MERGE_PATCH",
    "STRATEGIC_PATCH",
    "Answer",
    "Api",
    "ApiError",
    "AssetsError",
    "ControlPlane",
    "ControlPlaneError",
    "missing",
]
