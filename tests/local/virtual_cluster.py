"""Builders for the simulated GKE: a world in virtual time with short defaults, with an autoscaler or without."""

import json
from collections.abc import Callable
from typing import Any

from infra.local.clocks import ManualClock
from infra.local.http_messages import HttpAnswer, HttpRequest
from infra.local.kube_api import KubeApi
from infra.local.scaling.autoscaler import Autoscaler
from infra.local.scaling.view import AutoscalerSettings
from infra.local.scenario import Autoscaling, MachinePool
from infra.local.simulated_gke import World
from infra.local.world.kinds import Json
from infra.local.world.kubelet import KubeletTimes

MERGE = "application/merge-patch+json"


def node(name: str = "a", cpu: str = "4", memory: str = "16Gi", pods: int = 110, **more: Any) -> Json:
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "z1", **more.pop("labels", {})}
    return {
        "metadata": {"name": name, "labels": labels, "annotations": more.pop("annotations", {})},
        "spec": more,
        "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": str(pods)}},
    }


def template(app: str = "web", cpu: str = "1", memory: str = "1Gi", **more: Any) -> Json:
    meta = {"labels": {"app": app, **more.pop("labels", {})}, "annotations": more.pop("annotations", {})}
    containers = [{"name": "main", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]
    return {"metadata": meta, "spec": {"containers": containers, **more}}


def pod(name: str = "p", on: str = "", phase: str = "Pending", ready: bool | None = None, **more: Any) -> Json:
    body = template(**more)
    body["metadata"] |= {"name": name, "namespace": "default"}
    if on:
        body["spec"]["nodeName"] = on
    is_ready = phase == "Running" if ready is None else ready
    conditions = [{"type": "Ready", "status": str(is_ready)}, {"type": "PodScheduled", "status": str(bool(on))}]
    return {**body, "status": {"phase": phase, "conditions": conditions}}


def workload(name: str = "web", replicas: int | None = 2, **more: Any) -> Json:
    spec: Json = {"selector": {"matchLabels": {"app": name}}, "template": template(name, **more)}
    if replicas is not None:
        spec["replicas"] = replicas
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


def budget(name: str = "guard", app: str = "web", **spec: Any) -> Json:
    selector = {"matchLabels": {"app": app}}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"selector": selector, **spec}}


class VirtualCluster:
    """A world with its API in one process; `run` lets virtual time pass in steps of a second."""

    def __init__(self, nodes: list[Json] | None = None, **settings: Any) -> None:
        self.clock = ManualClock()
        times = KubeletTimes(ready_after=(1.0, 1.0), shutdown=settings.pop("shutdown", None), node_boot=0.0)
        self.world = World(self.clock, times, **settings)
        self.store = self.world.store
        self.api = KubeApi(self.world.store, self.world.record)
        for item in [node()] if nodes is None else nodes:
            self.store.create("nodes", item, "test")
        self.run(1)

    def add(self, plural: str, thing: Json) -> Json:
        return self.store.create(plural, thing, "test")

    def change(self, plural: str, namespace: str, name: str, change: Callable[[Json], object]) -> None:
        self.store.update(self.store.get(plural, namespace, name), change, "test")

    def run(self, seconds: int) -> None:
        for _ in range(seconds):
            self.world.step()
            self.clock.advance(1)
        self.world.step()

    def pods(self, **labels: str) -> list[Json]:
        found = self.store.all("pods")
        return [item for item in found if labels.items() <= (item["metadata"].get("labels") or {}).items()]

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> HttpAnswer:
        """`query` and `type` (content type) are taken out of the options; the rest are headers."""
        query = {str(key): str(value) for key, value in options.pop("query", {}).items()}
        headers = {"content-type": options.pop("type", "application/json"), "user-agent": "test", **options}
        return self.api.handle(
            HttpRequest(method, path, query, headers, b"" if body is None else json.dumps(body).encode())
        )

    def json(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        return json.loads(self.call(method, path, body, **options).body)

    def evict(self, name: str, query: Json | None = None, **options: Any) -> HttpAnswer:
        body = {"kind": "Eviction", "metadata": {"name": name}, "deleteOptions": options}
        return self.call("POST", f"/api/v1/namespaces/default/pods/{name}/eviction", body, query=query or {})


def status_of(answer: HttpAnswer) -> tuple[int, str]:
    """The code and the Status reason of an answer."""
    return answer.status, json.loads(answer.body).get("reason", "")


QUICK = AutoscalerSettings(scan_interval=1, unneeded_time=10, deletion=3, delay_after_failure=20, delay_after_delete=0)


def pooled(name: str, zone: str = "z1", **more: Any) -> Json:
    labels = {"cloud.google.com/gke-nodepool": "main", "topology.kubernetes.io/zone": zone}
    return node(name, labels=labels, **more)


def main_pool(*zones: str, **limits: Any) -> MachinePool:
    return MachinePool(name="main", zones=[*(zones or ("z1", "z2"))], autoscaling=Autoscaling(**limits))


class AutoscaledCluster(VirtualCluster):
    """A virtual cluster with an autoscaler over one pool named `main`."""

    def __init__(
        self, nodes: list[Json], pool: MachinePool | None = None, settings: AutoscalerSettings = QUICK
    ) -> None:
        super().__init__(nodes)
        pool = pool or main_pool()
        self.autoscaler = Autoscaler(self.api.handle, {pool.name: pool}, self.clock, settings)

    def live(self, seconds: int) -> None:
        for _ in range(seconds):
            self.run(1)
            self.autoscaler.step()

    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.store.all("nodes")]

    def events(self) -> list[str]:
        return [item["reason"] for item in self.store.all("events")]
