"""The simulated kubelets do what the drainer will meet: slow starts, sidecars, jobs that end, broken nodes."""

from typing import Any

import pytest

from infra.local.world.pods import is_ready
from tests.real.conftest import Corner
from tests.real.control_plane import MERGE_PATCH, STRATEGIC_PATCH, ControlPlane
from tests.real.control_plane.manifests import deployment, node, paced
from tests.real.waiting import until

pytestmark = [pytest.mark.control_plane, pytest.mark.deep]


def test_a_pod_that_asks_for_a_slow_start_stays_unready(corner: Corner) -> None:
    slow = deployment("slow", replicas=1, namespace=corner.namespace)
    corner.plane.api.create([paced(slow, readiness="1h")])
    corner.run("quick", replicas=1)

    [pod] = until("the slow pod's containers", lambda: [p for p in corner.pods("slow") if "podIP" in p["status"]])

    assert not is_ready(pod)
    assert pod["status"]["containerStatuses"][0]["state"] == {"waiting": {"reason": "ContainerCreating"}}


def test_an_init_container_ends_and_a_sidecar_runs_on(corner: Corner) -> None:
    setup, sidecar = _container("setup"), _container("sidecar") | {"restartPolicy": "Always"}

    [pod] = corner.run("composed", replicas=1, pod={"initContainers": [setup, sidecar]})

    states = {status["name"]: list(status["state"]) for status in pod["status"]["initContainerStatuses"]}
    assert states == {"setup": ["terminated"], "sidecar": ["running"]}


def test_the_pod_of_a_job_ends_after_its_work(corner: Corner) -> None:
    template = deployment("batch")["spec"]["template"]
    template["spec"]["restartPolicy"] = "Never"
    job = {"metadata": {"name": "batch", "namespace": corner.namespace}, "spec": {"template": template}}
    corner.plane.api.create([paced({"apiVersion": "batch/v1", "kind": "Job"} | job, work="1s")])

    until("the job's success", lambda: [pod for pod in corner.pods("batch") if pod["status"]["phase"] == "Succeeded"])


def test_a_broken_node_stays_not_ready(control_plane: ControlPlane) -> None:
    control_plane.api.create([node("gke-broken", pool="broken")])
    path = "/api/v1/nodes/gke-broken"
    look = control_plane.api.request
    until("a ready node", lambda: is_ready(look("GET", path).body))

    look("PATCH", path, {"metadata": {"annotations": {"kwok.ebb.internal/broken": "yes"}}}, MERGE_PATCH)
    broken = {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Broken"}]}}
    look("PATCH", f"{path}/status", broken, STRATEGIC_PATCH)

    taints = until("the taint of the node lifecycle", lambda: look("GET", path).body["spec"].get("taints"))
    assert "node.kubernetes.io/not-ready" in {taint["key"] for taint in taints}
    assert not is_ready(look("GET", path).body)


def _container(name: str) -> dict[str, Any]:
    return {"name": name, "image": name}
