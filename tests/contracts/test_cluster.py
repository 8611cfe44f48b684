"""The laws of the port `Cluster` on the fake, and on the adapter over the simulated GKE's API server."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest
from msgspec import structs

from infra.local.http_messages import HttpAnswer, HttpRequest
from infra.local.servers import HttpServer
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster.selectors import Taint
from shared.core.cluster.workloads import Deployment, Workload
from tests.adapters.scripted import access_to, no_wait
from tests.builders import node, pdb, persistent_volume, pod, pod_class, storage, volume_claim
from tests.contracts.cluster_contract import ClusterContract
from tests.contracts.cluster_world import SHOP, World
from tests.fakes import FakeCluster
from tests.faults.worlds import disk
from tests.local import virtual_cluster

PATH = "/apis/apps/v1/namespaces/default/deployments/shop"
UID = "9f1c5a30-4a0e-4d52-8b1f-6d2f0c1e7a11"


@dataclass
class FakeWorld:
    cluster: FakeCluster = field(default_factory=FakeCluster)

    def add_node(self, name: str, *taints: Taint) -> None:
        self.cluster.put(node(name, taints=taints))

    def add_pod(self, name: str, *, on: str, app: str = "web") -> None:
        self.cluster.put(pod(name, on=on, labels={"app": app}))

    def add_budget(self, name: str, *, app: str = "web", allowed: int) -> None:
        self.cluster.put(pdb(name, allowed=allowed, app=app))

    def add_replicas(self, number: int, *, on: str) -> None:
        kind = pod_class(owner="ReplicaSet/shop-1")
        self.cluster.put(*(pod(f"shop-{index}", on=on, kind=kind) for index in range(number)))
        self.cluster.workloads[kind.workload] = Workload(SHOP, number, number, created=number)
        read = Deployment(name=SHOP, uid="u-shop", resource_version="1", template="t")
        rolled_out = replace(read, wanted=number, created=number, updated=number, available=number)
        self.cluster.deployments[SHOP] = rolled_out

    def add_disk(self, name: str, *, zone: str) -> None:
        self.cluster.storage_held = storage(volume_claim(name), persistent_volume(f"pv-{name}", zone=zone))

    def annotate(self, pod: str, **annotations: str) -> None:
        standing = self.cluster.pods[f"default/{pod}"]
        spec = replace(standing.spec, annotations={**standing.spec.annotations, **annotations})
        self.cluster.put(structs.replace(standing, spec=spec))

    def touch(self, name: str) -> None:
        self.cluster.put(replace(self.cluster.nodes[name], annotations={"touched": "yes"}))

    def change_template(self) -> None:
        standing = self.cluster.deployments[SHOP]
        self.cluster.deployments[SHOP] = replace(standing, template="another", resource_version="2")

    def delete_replicas(self) -> None:
        del self.cluster.deployments[SHOP]

    def untaint(self, name: str) -> None:
        self.cluster.put(replace(self.cluster.nodes[name], taints=()))

    def cordon(self, name: str, *, yes: bool) -> None:
        self.cluster.put(replace(self.cluster.nodes[name], unschedulable=yes))

    def replace(self, name: str) -> None:
        self.cluster.put(replace(self.cluster.nodes[name], uid="another"))


class LittleWorld:
    """The adapter over real HTTP; the world behind it moves only when a test furnishes it."""

    def __init__(self, virtual: virtual_cluster.VirtualCluster, cluster: KubernetesCluster) -> None:
        self._virtual = virtual
        self.cluster = cluster

    def add_node(self, name: str, *taints: Taint) -> None:
        given = [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in taints]
        self._virtual.add("nodes", virtual_cluster.node(name, taints=given))
        self._virtual.run(2)

    def add_pod(self, name: str, *, on: str, app: str = "web") -> None:
        self._virtual.add("pods", virtual_cluster.pod(name, on=on, phase="Running", app=app))

    def add_budget(self, name: str, *, app: str = "web", allowed: int) -> None:
        pods = len(self._virtual.pods(app=app))
        self._virtual.add("poddisruptionbudgets", virtual_cluster.budget(name, app, minAvailable=pods - allowed))
        self._virtual.run(1)

    def add_replicas(self, number: int, *, on: str) -> None:
        self._virtual.add("deployments", virtual_cluster.workload("shop", number, nodeName=on))
        self._virtual.run(10)

    def add_disk(self, name: str, *, zone: str) -> None:
        volume, claim = disk(name, zone)
        self._virtual.add("persistentvolumes", volume)
        self._virtual.add("persistentvolumeclaims", claim)

    def annotate(self, pod: str, **annotations: str) -> None:
        patch = {"metadata": {"annotations": annotations}}
        path = f"/api/v1/namespaces/default/pods/{pod}"
        self._virtual.call("PATCH", path, patch, type=virtual_cluster.MERGE)

    def touch(self, name: str) -> None:
        patch = {"metadata": {"annotations": {"touched": "yes"}}}
        self._virtual.call("PATCH", f"/api/v1/nodes/{name}", patch, type=virtual_cluster.MERGE)

    def change_template(self) -> None:
        patch = {"spec": {"template": {"metadata": {"annotations": {"touched": "yes"}}}}}
        self._virtual.call("PATCH", PATH, patch, type=virtual_cluster.MERGE)

    def delete_replicas(self) -> None:
        self._virtual.store.remove(self._virtual.store.get("deployments", "default", "shop"), "test")

    def untaint(self, name: str) -> None:
        self._virtual.call("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": []}}, type=virtual_cluster.MERGE)

    def cordon(self, name: str, *, yes: bool) -> None:
        self._virtual.call(
            "PATCH", f"/api/v1/nodes/{name}", {"spec": {"unschedulable": yes or None}}, type=virtual_cluster.MERGE
        )

    def replace(self, name: str) -> None:
        self._virtual.store.remove(self._virtual.store.get("nodes", "", name), "test")
        self.add_node(name)


class TestFakeCluster(ClusterContract):
    @pytest.fixture
    def world(self) -> World:
        return FakeWorld()


class Stage:
    """One server for all tests, each with a world of its own behind it."""

    def __init__(self) -> None:
        self.virtual = virtual_cluster.VirtualCluster(nodes=[])
        self.server = HttpServer(self._handle, threading.Lock())

    def set(self) -> virtual_cluster.VirtualCluster:
        self.virtual = virtual_cluster.VirtualCluster(nodes=[])
        return self.virtual

    def _handle(self, request: HttpRequest) -> HttpAnswer:
        return self.virtual.api.handle(request)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    stage = Stage()
    stage.server.start()
    yield stage
    stage.server.stop()


class TestKubernetesCluster(ClusterContract):
    @pytest.fixture
    def world(self, stage: Stage) -> World:
        return LittleWorld(
            stage.set(), KubernetesCluster(KubernetesClient(access_to(stage.server.base), sleep=no_wait))
        )
