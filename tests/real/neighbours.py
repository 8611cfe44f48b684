"""What stands beside the shop on its cluster: nodes that others speak for, and workloads whose pods come late."""

from typing import Any

from tests.real.control_plane import STRATEGIC_PATCH
from tests.real.control_plane.api import Api
from tests.real.control_plane.manifests import Manifest, deployment, namespace, node, paced
from tests.real.waiting import until

NAMESPACE = "late"
STANDBY, SUSPENDED = "buffer.gke.io/standby-capacity-node", "buffer.gke.io/standby-capacity-node-suspended"
MANAGED = "cloud.google.com/autopilot-managed-node"
MAINTAINED = "gke-local-shop-0019"
"""One of the shop's own nodes, whose upkeep somebody has planned."""
REPLICAS = 10


def add(api: Api) -> None:
    api.create([namespace(NAMESPACE)])
    api.create(workloads())
    until("pods that are replaced late", lambda: len(running(api)) == 2 * REPLICAS)
    api.create(nodes())
    _write(api, MAINTAINED, {"type": "MaintenancePlanned", "status": "True", "reason": "Planned"})
    for kind, status in (("Suspended", "True"), ("Ready", "Unknown")):
        _write(api, "suspended", {"type": kind, "status": status, "reason": "NodeSuspended"})


def nodes() -> list[Manifest]:
    """A machine that waits for a buffer, one that is suspended, and one that Google manages; all of the shop's pool."""
    return [
        _tainted("waiting", {STANDBY: "true"}, STANDBY, "PreferNoSchedule"),
        _tainted("suspended", {STANDBY: "true"}, SUSPENDED, "NoSchedule", unschedulable=True),
        _tainted("managed", {MANAGED: "true"}, MANAGED, "NoSchedule"),
    ]


def workloads() -> list[Manifest]:
    """A StatefulSet and a Job that makes another pod only once one has failed (podReplacementPolicy: Failed)."""
    database = {**deployment("db", namespace=NAMESPACE, replicas=REPLICAS, cpu="100m", grace=4), "kind": "StatefulSet"}
    database["spec"]["podManagementPolicy"] = "Parallel"
    template = paced(deployment("batch", cpu="100m", grace=4), work="1h")["spec"]["template"]
    template["spec"]["restartPolicy"] = "Never"
    spec = {"parallelism": REPLICAS, "completions": REPLICAS, "backoffLimit": 100, "podReplacementPolicy": "Failed"}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "batch", "namespace": NAMESPACE}}
    return [database, {**job, "spec": {**spec, "template": template}}]


def running(api: Api) -> list[Manifest]:
    pods = api.pods(NAMESPACE)
    return [
        pod for pod in pods if pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
    ]


def _tainted(name: str, labels: dict[str, str], key: str, effect: str, **spec: Any) -> Manifest:
    made = node(name, pool="shop", labels=labels)
    if name == "suspended":
        made["metadata"]["annotations"]["kwok.ebb.internal/broken"] = "yes"
    made["spec"] |= {"taints": [{"key": key, "value": "true", "effect": effect}], **spec}
    return made


def _write(api: Api, name: str, condition: dict[str, str]) -> None:
    answer = api.request(
        "PATCH", f"/api/v1/nodes/{name}/status", {"status": {"conditions": [condition]}}, STRATEGIC_PATCH
    )
    assert answer.status == 200, answer.body
