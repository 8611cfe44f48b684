"""Scenario files, the GKE API over them, and the process that runs them."""

import json

import pytest

from infra.local.clocks import ManualClock
from infra.local.google_apis import ServedCluster
from infra.local.http_messages import HttpRequest
from infra.local.machine_types import allocatable
from infra.local.scaling.candidates import utilization
from infra.local.scaling.view import BALANCED, View, group_of, is_movable
from infra.local.scenario import DEMO, load, parse
from infra.local.servers import SimulatedGkeServers
from infra.local.simulated_gke import SimulatedGke, World
from infra.local.world.pods import is_ready, node_of
from tests.depth import cases
from tests.real.waiting import until

CLUSTER = "projects/p/locations/l/clusters/c"


@pytest.fixture(scope="module")
def demo() -> World:
    world = SimulatedGke(load(DEMO), ManualClock()).world
    world.settle()
    return world


def test_the_demo_begins_in_steady_state_with_all_but_one_pool_above_the_autoscalers_gate(demo: World) -> None:
    nodes, pods = demo.store.all("nodes"), demo.store.all("pods")
    view, now = View(nodes, pods, {}), demo.clock.now()
    assert (len(nodes), len(pods), all(is_ready(pod) for pod in pods)) == (24, 132, True)
    assert (load(DEMO).profile, "threshold" in (load(DEMO).autoscaler.model_extra or {})) == ("BALANCED", False)
    for node in nodes:
        share = utilization(view, node, now)
        low, high = (0.3, 0.4) if group_of(node)[0] == "batch" else (BALANCED.threshold, 0.66)
        assert low < share < high, node["metadata"]["name"]


def test_each_node_of_the_demo_has_a_pod_that_would_have_to_move(demo: World) -> None:
    movable = {node_of(pod) for pod in demo.store.all("pods") if is_movable(pod)}
    assert movable == {node["metadata"]["name"] for node in demo.store.all("nodes")}


def test_every_budget_of_the_demo_is_open_at_first(demo: World) -> None:
    budgets = demo.store.all("poddisruptionbudgets")
    assert all(item["status"]["disruptionsAllowed"] >= 1 for item in budgets)


def test_allocatable_follows_gkes_reservations() -> None:
    # https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes: 80m and 2.7 GiB are kept
    assert allocatable("e2-standard-4") == {"cpu": "3920m", "memory": "13621Mi", "pods": "110"}


@cases(
    "expected, path",
    ("the cluster", (200, ""), f"/v1/{CLUSTER}"),
    ("another cluster", (404, "NOT_FOUND"), "/v1/projects/p/locations/l/clusters/none"),
    ("another path", (404, "NOT_FOUND"), "/v1/nothing"),
)
def test_the_gke_api_answers_as_googles_does(expected: tuple[int, str], path: str) -> None:
    api = ServedCluster(CLUSTER, {})
    answer = api.handle(HttpRequest("GET", path))
    assert (answer.status, json.loads(answer.body).get("error", {}).get("status", "")) == expected


SMALL = """
kubelet: {readyAfter: [0.1, 0.2], nodeBoot: 0.5}
autoscaler: {scanInterval: 0.2, unneededTime: 0.5, deletion: 0.2, delayAfterDelete: 0}
pools: [{name: main, count: 2, zones: [z1-a], autoscaling: {minNodeCount: 1, maxNodeCount: 3}}]
workloads: [{name: web, replicas: 1, requests: {cpu: "3"}, nodes: [main/0]}]
"""


def test_its_servers_run_a_scenario_until_they_are_stopped() -> None:
    """The autoscaler deletes the empty node, and adds one when a workload grows."""
    running = SimulatedGkeServers(parse(SMALL))
    running.start()
    try:
        (left, _) = running.cloud.node_names["main"]
        until("the empty node is gone", lambda: len(running.list_all("nodes")) == 1)
        assert running.list_all("nodes")[0]["metadata"]["name"] == left
        path = "/apis/apps/v1/namespaces/default/deployments/web"
        assert running.send("person", "PATCH", path, {"spec": {"replicas": 2}}).status == 200
        until("a node was added", lambda: len(running.list_all("nodes")) == 2)
        assert {entry["type"] for entry in running.entries(0)} == {"request", "change"}
        assert running.alive()
    finally:
        running.stop()
