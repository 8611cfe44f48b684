"""A real Kubernetes control plane on loopback, with simulated kubelets, for tests and for playing by hand.

It must not know Ebb: what the planner and the drainer promise is judged against it.
"""

from tests.real.control_plane.api import MERGE_PATCH, STRATEGIC_PATCH, Answer, Api, ApiError
from tests.real.control_plane.cluster import ControlPlaneError
from tests.real.control_plane.go_build import AssetsError
from tests.real.control_plane.plane import ControlPlane, missing

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
