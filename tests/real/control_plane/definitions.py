"""Definitions of kinds that GKE has and a bare control plane has not: names and scopes, and no rules of their own."""

from tests.real.control_plane.manifests import Manifest


def definition(kind: str, group: str, plural: str, version: str = "v1", scope: str = "Namespaced") -> Manifest:
    """A CustomResourceDefinition that takes objects of any shape."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
        },
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "scope": scope,
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


CAPACITY_BUFFER = definition("CapacityBuffer", "autoscaling.x-k8s.io", "capacitybuffers", "v1beta1")
PROVISIONING_REQUEST = definition("ProvisioningRequest", "autoscaling.x-k8s.io", "provisioningrequests")
"""Of the same group, in a version that buffers do not have."""
COMPUTE_CLASS = definition("ComputeClass", "cloud.google.com", "computeclasses", scope="Cluster")
VERTICAL_POD_AUTOSCALER = definition("VerticalPodAutoscaler", "autoscaling.k8s.io", "verticalpodautoscalers")
