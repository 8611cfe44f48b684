"""A real API server tells whether it knows capacity buffers; those that it has hold room."""

import json
from datetime import timedelta
from fractions import Fraction

import pytest

from infra.local.scaling.client import Client, HttpTransport
from infra.local.scaling.view import CLASS_LABEL, ClassRule, View
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.discovery import AccessReviews
from shared.core.cluster.autoscaling import AutoscalingPolicy, buffer_of
from tests.builders import resources
from tests.real.conftest import Corner, client_as
from tests.real.control_plane import ControlPlane
from tests.real.control_plane.manifests import capacity_buffer

pytestmark = pytest.mark.control_plane

REAPS = {"consolidationThreshold": 0, "consolidationDelayMinutes": 1}


def simulated_autoscalers(plane: ControlPlane, name: str) -> ClassRule:
    """What the simulated autoscaler reads of that class, by its own client."""
    labelled = {"metadata": {"name": "n", "labels": {CLASS_LABEL: name}}}
    return View([labelled], [], {}, Client(HttpTransport(plane.proxy_url)).list_objects).rule_of(labelled)


def test_buffers_are_found_by_discovery_with_the_templates_of_their_chunks(
    corner: Corner, with_buffers: ControlPlane
) -> None:
    """Their group's preferred version has another kind, which is asked, too."""
    for manifest in capacity_buffer("web", corner.namespace, replicas=3, node_selector={"pool": "web"}):
        with_buffers.kubectl("apply", "-f", "-", stdin=json.dumps(manifest))
    compute_class = {
        "apiVersion": "cloud.google.com/v1",
        "kind": "ComputeClass",
        "metadata": {"name": corner.namespace},
        "spec": {"buffers": [{"limits": {"cpu": "5", "memory": "100Gi"}}], "autoscalingPolicy": REAPS},
    }
    with_buffers.kubectl("apply", "-f", "-", stdin=json.dumps(compute_class))
    client = client_as(with_buffers.kubeconfig)

    reading = KubernetesCluster(client).read()
    found = reading.buffers
    by_key = {each.key: each for each in found.held}
    web, of_class = by_key[f"{corner.namespace}/web"], by_key[f"gke-managed-ccc/{corner.namespace}"]
    assert (web.replicas, web.ready, buffer_of(web.chunk)) == (3, 0, f"{corner.namespace}/web")
    assert (web.chunk.requests, web.chunk.node_selector) == (resources(0.5, 1), {"pool": "web"})
    assert (of_class.replicas, found.unread) == (2, ())
    said = AutoscalingPolicy(threshold=Fraction(0), delay=timedelta(minutes=1))
    assert reading.compute_classes.found[corner.namespace] == said
    assert KubernetesCluster(client).buffers()[1] == reading.compute_classes
    assert simulated_autoscalers(with_buffers, corner.namespace) == ClassRule(threshold=0.0, unneeded_time=60.0)
    assert AccessReviews(client).serves("autoscaling.x-k8s.io", "capacitybuffers")
    assert not AccessReviews(client).serves("autoscaling.x-k8s.io", "nothing")
    with_buffers.kubectl("delete", "computeclass", corner.namespace)
