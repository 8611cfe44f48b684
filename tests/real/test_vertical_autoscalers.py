"""A real API server tells whether it knows VerticalPodAutoscalers; those that it has raise what comes back."""

import json
from typing import Any

import pytest

from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.discovery import AccessReviews
from shared.core.cluster.returning import VerticalAutoscaler
from shared.port_types import PoolsReading
from shared.store.snapshots import snapshot_of
from tests.builders import NOW, resources
from tests.real.conftest import Corner, client_as
from tests.real.control_plane import ControlPlane

pytestmark = pytest.mark.control_plane
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
    with_autoscalers.kubectl("apply", "-f", "-", stdin=json.dumps(found))

    reading = KubernetesCluster(client).read()
    target = f"{corner.namespace}/Deployment/web"
    expected = VerticalAutoscaler(corner.namespace, "web", target, recommended={container: resources(0.9, 300 / 1024)})
    assert expected in reading.autoscalers.found
    assert AccessReviews(client).serves(*KIND)
    assert not AccessReviews(client).serves(KIND[0], "nothing")

    snapshot = snapshot_of("c", reading, PoolsReading({}, known=False), NOW, NOW)
    ours = [each for each in snapshot.pods if each.spec.namespace == corner.namespace]
    assert {(our.requests.cpu, our.spec.requests.cpu) for our in ours} == {(250, 900)}
