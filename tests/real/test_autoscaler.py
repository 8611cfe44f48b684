"""The simulated autoscaler works the same against a real API server."""

from contextlib import suppress

import pytest

from infra.local.clocks import SystemClock
from infra.local.machine_types import make_node
from infra.local.scaling.autoscaler import Autoscaler
from infra.local.scaling.client import HttpTransport, RefusedCall
from infra.local.scaling.view import AutoscalerSettings
from infra.local.scenario import Autoscaling, MachinePool
from tests.real.control_plane import ControlPlane
from tests.real.waiting import until

pytestmark = pytest.mark.control_plane

FAKE = {"kwok.x-k8s.io/node": "fake"}


def test_empty_nodes_above_the_minimum_go_and_a_waiting_pod_brings_one(control_plane: ControlPlane) -> None:
    pool = MachinePool(
        name="scaled", zones=["z1-a"], annotations=FAKE, autoscaling=Autoscaling(min_node_count=1, max_node_count=3)
    )
    settings = AutoscalerSettings(scan_interval=0.3, unneeded_time=1, deletion=0.3, delay_after_delete=0)
    transport = HttpTransport(control_plane.proxy_url)
    autoscaler = Autoscaler(transport, {pool.name: pool}, SystemClock(), settings, cluster="real")
    api = control_plane.api
    for serial in ("a", "b"):
        assert api.request("POST", "/api/v1/nodes", make_node(pool, "z1-a", "real", serial)).status == 201
    path = f"/api/v1/nodes?labelSelector=cloud.google.com%2Fgke-nodepool%3D{pool.name}"

    def nodes() -> int:
        with suppress(RefusedCall):  # somebody else wrote the node meanwhile: the next loop starts afresh
            autoscaler.step()
        return len(api.items(path))

    until("one of two empty nodes is gone", lambda: nodes() == 1)
    meta = {"name": "scaled", "namespace": "default"}
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "3"}}}
    spec = {"containers": [container], "nodeSelector": {"cloud.google.com/gke-nodepool": pool.name}}
    template = {"metadata": {"labels": {"app": "scaled"}}, "spec": spec}
    body = {"replicas": 2, "selector": {"matchLabels": {"app": "scaled"}}, "template": template}
    api.create([{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": body}])
    until("a node was added for the pod that had no room", lambda: nodes() == 2)
    reasons = {event["reason"] for event in api.items("/api/v1/namespaces/default/events")}
    api.request("DELETE", "/apis/apps/v1/namespaces/default/deployments/scaled")
    assert {"ScaleDown", "TriggeredScaleUp"} <= reasons
