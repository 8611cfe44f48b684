"""A real Kubernetes control plane on loopback with simulated kubelets. It must not know Ebb."""

from tests.real.control_plane.api import MERGE_PATCH, STRATEGIC_PATCH
from tests.real.control_plane.go_build import AssetsError
from tests.real.control_plane.plane import ControlPlane, missing

__all__ = ["MERGE_PATCH", "STRATEGIC_PATCH", "AssetsError", "ControlPlane", "missing"]
