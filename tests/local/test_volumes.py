"""Disks on the simulated GKE: who may use them where, and how long a pod waits for its own."""

from collections.abc import Iterable
from typing import Any

from infra.local.scenario import Scenario
from infra.local.scheduling import fits, node_infos_of
from infra.local.simulated_gke import build
from infra.local.world.kinds import PLURAL_OF_KIND, Json
from infra.local.world.pods import disks_of, is_ready, node_of
from tests.adapters.test_kubernetes_storage import mounted
from tests.depth import cases
from tests.faults.worlds import disk
from tests.local.virtual_cluster import MERGE, VirtualCluster, node, pod

ZONE = "topology.kubernetes.io/zone"


def two_zones(**settings: Any) -> VirtualCluster:
    nodes = [node("a", labels={ZONE: "z1"}), node("b", labels={ZONE: "z2"}), node("b2", labels={ZONE: "z2"})]
    return VirtualCluster(nodes, **settings)


def add(virtual: VirtualCluster, things: Iterable[Json]) -> None:
    for thing in things:
        virtual.add(PLURAL_OF_KIND[thing["kind"]], thing)


@cases(
    "expected, there",
    ("bound to a disk of a zone", {"a": True, "b": False}, disk("data", "z1")),
    ("not bound", {"a": False}, disk("data")[1:]),
)
def test_a_pod_with_a_claim_runs_where_its_disk_can_be(expected: dict[str, bool], there: list[Json]) -> None:
    virtual = two_zones()
    add(virtual, there)
    store = virtual.store
    infos = node_infos_of(store.all("nodes"), store.all("pods"), disks=disks_of(store.all))

    asking = pod(volumes=mounted("data"))

    assert {name: fits(asking, infos.by_name[name], infos) for name in expected} == expected


def test_a_stateful_sets_pod_comes_back_to_its_own_disk() -> None:
    template = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    workload = {"kind": "StatefulSet", "name": "db", "replicas": 2, "nodes": ["main/0", "main/1"], "claims": [template]}
    disks = [thing for index in (0, 1) for thing in disk(f"data-db-{index}", f"z{index + 1}")]
    body: Json = {"pools": [{"name": "main", "count": 4, "zones": ["z1", "z2"]}], "workloads": [workload],
                  "manifests": disks}  # fmt: skip
    virtual = VirtualCluster([], shutdown=0)
    build(Scenario.model_validate(body), virtual.world)
    virtual.run(5)
    before = {item["metadata"]["name"]: node_of(item) for item in virtual.pods(app="db")}
    virtual.json("PATCH", f"/api/v1/nodes/{before['db-1']}", {"spec": {"unschedulable": True}}, type=MERGE)

    assert virtual.evict("db-1").status == 201
    virtual.run(10)

    after = {item["metadata"]["name"]: item for item in virtual.pods(app="db")}
    assert is_ready(after["db-1"])
    assert node_of(after["db-1"]) != before["db-1"]
    assert virtual.store.get("nodes", "", node_of(after["db-1"]))["metadata"]["labels"][ZONE] == "z2"


def test_a_pod_starts_when_its_disk_is_free() -> None:
    virtual = two_zones()
    add(virtual, disk("data", "z2"))
    virtual.add("pods", pod("old", on="b", phase="Running", volumes=mounted("data"), terminationGracePeriodSeconds=20))
    virtual.add("pods", pod("new", on="b2", volumes=mounted("data")))
    virtual.run(5)
    virtual.call("DELETE", "/api/v1/namespaces/default/pods/old")

    ready = []
    for _ in range(5):
        virtual.run(6)
        ready.append(is_ready(virtual.store.get("pods", "default", "new")))

    assert ready == [False] * 3 + [True] * 2, "20 s until the old pod has ended, one to start"
