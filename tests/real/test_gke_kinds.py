"""A real API server tells whether it knows GKE's own kinds; buffers hold room, autoscalers raise what comes back."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from infra.local.http_messages import HttpTransport
from infra.local.scaling.view import BALANCED, CLASS_LABEL, AutoscalerSettings, Client, View
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.discovery import AccessReviews
from shared.core.cluster.autoscaling import AutoscalingPolicy, buffer_of
from shared.core.cluster.returning import VerticalAutoscaler
from shared.ports import PoolsReading
from shared.store.snapshots import snapshot_of
from tests.builders import NOW, resources
from tests.real.conftest import Corner, client_as
from tests.real.control_plane import ControlPlane
from tests.real.control_plane.api import collection
from tests.real.control_plane.manifests import capacity_buffer

pytestmark = pytest.mark.control_plane

REAPS = {"consolidationThreshold": 0, "consolidationDelayMinutes": 1}


def simulated_autoscalers(plane: ControlPlane, name: str) -> AutoscalerSettings:
    labelled = {"metadata": {"name": "n", "labels": {CLASS_LABEL: name}}}
    return View([labelled], [], {}, Client(HttpTransport(plane.proxy_url)).list_objects).settings_of(labelled, BALANCED)


def test_buffers_are_found_by_discovery_with_the_templates_of_their_chunks(
    corner: Corner, with_buffers: ControlPlane
) -> None:
    """Their group's preferred version has another kind, which is asked, too."""
    with_buffers.api.create(capacity_buffer("web", corner.namespace, replicas=3, node_selector={"pool": "web"}))
    compute_class = {
        "apiVersion": "cloud.google.com/v1",
        "kind": "ComputeClass",
        "metadata": {"name": corner.namespace},
        "spec": {"buffers": [{"limits": {"cpu": "5", "memory": "100Gi"}}], "autoscalingPolicy": REAPS},
    }
    with_buffers.api.create([compute_class])
    client = client_as(with_buffers.kubeconfig)

    reading = KubernetesCluster(client).read()
    found = reading.buffers
    by_key = {buffer.key: buffer for buffer in found.held}
    web, of_class = by_key[f"{corner.namespace}/web"], by_key[f"gke-managed-ccc/{corner.namespace}"]
    assert (web.replicas, web.ready, buffer_of(web.chunk)) == (3, 0, f"{corner.namespace}/web")
    assert (web.chunk.requests, web.chunk.node_selector) == (resources(0.5, 1), {"pool": "web"})
    assert (of_class.replicas, found.unread) == (2, ())
    said = AutoscalingPolicy(threshold=Fraction(0), delay=timedelta(minutes=1))
    assert reading.compute_classes.found[corner.namespace] == said
    assert KubernetesCluster(client).buffers()[1] == reading.compute_classes
    assert simulated_autoscalers(with_buffers, corner.namespace) == replace(BALANCED, threshold=0.0, unneeded_time=60.0)
    assert AccessReviews(client).serves("autoscaling.x-k8s.io", "capacitybuffers")
    assert not AccessReviews(client).serves("autoscaling.x-k8s.io", "nothing")
    with_buffers.api.request("DELETE", f"{collection(compute_class)}/{corner.namespace}")


KIND = ("autoscaling.k8s.io", "verticalpodautoscalers")


def autoscaler(namespace: str) -> dict[str, Any]:
    rows = [{"containerName": "main", "target": {"cpu": "900m", "memory": "300Mi"}}]
    return {
        "apiVersion": "autoscaling.k8s.io/v1",
        "kind": "VerticalPodAutoscaler",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
        "status": {"recommendation": {"containerRecommendations": rows}},
    }


def test_autoscalers_are_found_by_discovery_and_raise_what_their_pods_come_back_with(
    corner: Corner, with_autoscalers: ControlPlane
) -> None:
    client = client_as(with_autoscalers.kubeconfig)
    (pod, *_) = corner.run("web", cpu="250m", memory="256Mi")
    container = pod["spec"]["containers"][0]["name"]
    found = autoscaler(corner.namespace)
    found["status"]["recommendation"]["containerRecommendations"][0]["containerName"] = container
    with_autoscalers.api.create([found])

    reading = KubernetesCluster(client).read()
    target = f"{corner.namespace}/Deployment/web"
    expected = VerticalAutoscaler(corner.namespace, "web", target, recommended={container: resources(0.9, 300 / 1024)})
    assert expected in reading.autoscalers.found
    assert AccessReviews(client).serves(*KIND)
    assert not AccessReviews(client).serves(KIND[0], "nothing")

    snapshot = snapshot_of("c", reading, PoolsReading({}, known=False), NOW, NOW)
    ours = [pod for pod in snapshot.pods if pod.spec.namespace == corner.namespace]
    assert {(our.requests.cpu, our.spec.requests.cpu) for our in ours} == {(250, 900)}
