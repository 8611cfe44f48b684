"""Disks on the simulated GKE: where they are made, who may use them, and how long a pod waits for its own."""

from typing import Any

import pytest

from infra.local.scaling.candidates import RemovalSimulation
from infra.local.scaling.client import Client, DirectTransport
from infra.local.scaling.view import View
from infra.local.scenario import Scenario
from infra.local.scheduling.filters import refusal
from infra.local.scheduling.node_infos import node_infos_of
from infra.local.simulated_gke import build
from infra.local.world.disks import SELECTED_NODE, disks_of
from infra.local.world.kinds import Json
from infra.local.world.pods import is_ready, is_unschedulable, node_of
from tests.local.virtual_cluster import VirtualCluster, claim, disk, node, pod

ZONE = "topology.kubernetes.io/zone"
DRIVER = "pd.csi.storage.gke.io"
ONE_POD = ("ReadWriteOncePod",)


def storage_class(mode: str = "WaitForFirstConsumer", **more: Any) -> Json:
    return {"metadata": {"name": "standard-rwo"}, "provisioner": DRIVER, "volumeBindingMode": mode, **more}


def mounted(*claims: str) -> list[Json]:
    return [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]


def scratch(**spec: Any) -> list[Json]:
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "standard-rwo", **spec}}
    return [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]


def two_zones(**settings: Any) -> VirtualCluster:
    nodes = [node("a", labels={ZONE: "z1"}), node("b", labels={ZONE: "z2"}), node("b2", labels={ZONE: "z2"})]
    return VirtualCluster(nodes, **settings)


def zone_of(virtual: VirtualCluster, name: str) -> str:
    volume = disks_of(virtual.store.all).volume(("default", name))
    assert volume is not None
    return str(volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"][0])


LIMITED = {
    "metadata": {"name": "a"},
    "spec": {"drivers": [{"name": DRIVER, "nodeID": "a", "allocatable": {"count": 1}}]},
}
IN_Z1 = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z1"]}]}]
CONFLICT = "node(s) had volume node affinity conflict"
IN_USE = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
NOWHERE = "node(s) didn't find available persistent volumes to bind"


@pytest.mark.parametrize(
    ("expected", "there"),
    [
        pytest.param({"a": None, "b": CONFLICT}, {"persistentvolumes": [disk("v", "z1")],
                     "persistentvolumeclaims": [claim("data", "v")]}, id="bound to a disk of a zone"),
        pytest.param({"a": 'persistentvolumeclaim "data" not found'}, {}, id="no claim"),
        pytest.param({"a": "pod has unbound immediate PersistentVolumeClaims"},
                     {"persistentvolumeclaims": [claim("data")]}, id="no class"),
        pytest.param({"a": None, "b": None}, {"persistentvolumeclaims": [claim("data")],
                     "storageclasses": [storage_class()]}, id="to be made where the pod will be"),
        pytest.param({"a": None, "b": NOWHERE}, {"persistentvolumeclaims": [claim("data")],
                     "storageclasses": [storage_class(allowedTopologies=IN_Z1)]}, id="where the class allows it"),
        pytest.param({"a": None, "b": NOWHERE}, {"storageclasses": [storage_class()], "persistentvolumeclaims": [
                     {**claim("data"), "metadata": {"name": "data", "annotations": {SELECTED_NODE: "a"}}}]},
                     id="asked for on a node already"),
        pytest.param({"a": "node(s) exceed max volume count", "b": None}, {
                     "csinodes": [LIMITED], "storageclasses": [storage_class()],
                     "persistentvolumes": [disk("v0")],
                     "persistentvolumeclaims": [claim("data"), claim("other", "v0")],
                     "pods": [pod("other", on="a", phase="Running", volumes=mounted("other"))]},
                     id="no room for one more"),
        pytest.param({"a": None}, {
                     "csinodes": [LIMITED], "persistentvolumes": [disk("v")],
                     "persistentvolumeclaims": [claim("data", "v")],
                     "pods": [pod("other", on="a", phase="Running", volumes=mounted("data"))]},
                     id="what is attached already takes no more room"),
        pytest.param({"a": IN_USE, "b2": IN_USE},
                     {"persistentvolumes": [disk("v", modes=ONE_POD)],
                      "persistentvolumeclaims": [claim("data", "v", ONE_POD)],
                      "pods": [pod("other", on="b", phase="Running", volumes=mounted("data"))]},
                     id="one pod at a time"),
    ],
)  # fmt: skip
def test_a_pod_with_a_claim_runs_where_its_disk_can_be(
    expected: dict[str, str | None], there: dict[str, list[Json]]
) -> None:
    virtual = two_zones()
    for plural, things in there.items():
        for thing in things:
            virtual.add(plural, thing)
    store = virtual.store
    infos = node_infos_of(store.all("nodes"), store.all("pods"), disks=disks_of(store.all))

    asking = pod(volumes=mounted("data"))

    assert {name: refusal(asking, infos.by_name[name], infos) for name in expected} == expected


def test_a_claim_is_bound_in_the_zone_of_the_node_that_was_chosen() -> None:
    virtual = two_zones()
    virtual.add("storageclasses", storage_class())
    virtual.add("persistentvolumeclaims", claim("data"))
    virtual.add("pods", pod("db", volumes=mounted("data"), nodeSelector={ZONE: "z2"}))

    virtual.run(5)

    (db,) = virtual.pods(app="web")
    assert (zone_of(virtual, "data"), is_ready(db)) == ("z2", True)


def test_a_claim_of_an_immediate_class_is_bound_before_anybody_uses_it() -> None:
    virtual = two_zones()
    virtual.add("storageclasses", storage_class("Immediate"))
    virtual.add("persistentvolumeclaims", claim("data"))

    virtual.run(2)

    assert zone_of(virtual, "data") == "z1"


def test_an_ephemeral_volume_comes_and_goes_with_its_pod() -> None:
    virtual = two_zones(shutdown=0)
    virtual.add("storageclasses", storage_class())
    virtual.add("pods", pod("job", volumes=scratch()))
    virtual.run(5)
    (job,) = virtual.pods(app="web")
    (owned,) = virtual.store.all("persistentvolumeclaims")
    assert (owned["metadata"]["name"], is_ready(job)) == ("job-scratch", True)

    virtual.call("DELETE", "/api/v1/namespaces/default/pods/job")
    virtual.run(5)

    assert [virtual.store.all(plural) for plural in ("pods", "persistentvolumeclaims", "persistentvolumes")] == [
        [],
        [],
        [],
    ]


def test_a_stateful_sets_pod_comes_back_to_its_own_disk() -> None:
    template = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "standard-rwo"},
    }
    workload = {"kind": "StatefulSet", "name": "db", "replicas": 2, "nodes": ["main/0", "main/1"], "claims": [template]}
    body: Json = {"pools": [{"name": "main", "count": 4, "zones": ["z1", "z2"]}], "workloads": [workload],
                  "manifests": [{"kind": "StorageClass", **storage_class()}]}  # fmt: skip
    virtual = VirtualCluster([], shutdown=0)
    build(Scenario.model_validate(body), virtual.world)
    virtual.run(5)
    assert [zone_of(virtual, f"data-db-{each}") for each in (0, 1)] == ["z1", "z2"]
    before = {each["metadata"]["name"]: node_of(each) for each in virtual.pods(app="db")}
    virtual.call(
        "PATCH",
        f"/api/v1/nodes/{before['db-1']}",
        {"spec": {"unschedulable": True}},
        type="application/merge-patch+json",
    )

    assert virtual.evict("db-1").status == 201
    virtual.run(10)

    after = {each["metadata"]["name"]: each for each in virtual.pods(app="db")}
    assert is_ready(after["db-1"])
    assert node_of(after["db-1"]) != before["db-1"]
    assert virtual.store.get("nodes", "", node_of(after["db-1"]))["metadata"]["labels"][ZONE] == "z2"


def test_a_pod_starts_when_its_disk_is_free_and_attached() -> None:
    virtual = two_zones(attach=30.0)
    virtual.add("persistentvolumes", disk("v", "z2"))
    virtual.add("persistentvolumeclaims", claim("data", "v"))
    virtual.add("pods", pod("old", on="b", phase="Running", volumes=mounted("data"), terminationGracePeriodSeconds=20))
    virtual.add("pods", pod("new", on="b2", volumes=mounted("data")))
    virtual.run(5)
    virtual.call("DELETE", "/api/v1/namespaces/default/pods/old")

    ready = []
    for _ in range(10):
        virtual.run(6)
        ready.append(is_ready(virtual.store.get("pods", "default", "new")))

    assert ready == [False] * 8 + [True] * 2, "20 s until the old pod has ended, 30 s to attach, one to start"


def test_a_claim_for_one_pod_makes_the_next_wait_until_the_first_has_ended() -> None:
    virtual = two_zones()
    virtual.add("persistentvolumes", disk("v", "z2", ONE_POD))
    virtual.add("persistentvolumeclaims", claim("data", "v", ONE_POD))
    virtual.add("pods", pod("old", on="b", phase="Running", volumes=mounted("data"), terminationGracePeriodSeconds=10))
    virtual.add("pods", pod("new", volumes=mounted("data")))
    virtual.run(3)
    assert is_unschedulable(virtual.store.get("pods", "default", "new"))

    virtual.call("DELETE", "/api/v1/namespaces/default/pods/old")
    virtual.run(15)

    assert is_ready(virtual.store.get("pods", "default", "new"))


@pytest.mark.parametrize(
    ("expected", "zone"),
    [
        pytest.param(True, "z2", id="another node of the disk's zone"),
        pytest.param(False, "z1", id="only nodes of other zones"),
    ],
)
def test_the_autoscaler_moves_a_pod_only_where_its_disk_can_be(expected: bool, zone: str) -> None:
    virtual = VirtualCluster([node("a", labels={ZONE: "z2"}), node("b", labels={ZONE: zone})])
    virtual.add("persistentvolumes", disk("v", "z2"))
    virtual.add("persistentvolumeclaims", claim("data", "v"))
    db = virtual.add("pods", pod("db", on="a", phase="Running", volumes=mounted("data")))
    client = Client(DirectTransport(virtual.api.handle))

    view = View(client.listed("nodes"), client.listed("pods"), {}, client.listed)

    assert RemovalSimulation(view).remove(view.nodes[0], [db]) is expected
