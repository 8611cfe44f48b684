"""A real cluster with room on it, and a corner of it for each test."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from infra.local.world.pods import is_ready
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.kubeconfig import from_kubeconfig
from shared.core.cluster.pod import Pod
from tests.real.control_plane import ControlPlane
from tests.real.control_plane.manifests import (
    CAPACITY_BUFFER,
    COMPUTE_CLASS,
    PROVISIONING_REQUEST,
    VERTICAL_POD_AUTOSCALER,
    capacity_buffer,
    deployment,
    disruption_budget,
    namespace,
    nodes,
)
from tests.real.emulators import FirestoreEmulator, PubSubEmulator
from tests.real.installation import RealServices
from tests.real.least_rights import least_rights
from tests.real.waiting import until

NODES = 20
_AT_ONCE = {"metadata": {"annotations": {"kwok.ebb.internal/readiness": "100ms"}}}
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Corner:
    """A namespace of its own on the shared cluster."""

    plane: ControlPlane
    namespace: str

    def run(self, name: str, **options: Any) -> list[dict[str, Any]]:
        """Create a Deployment and return its pods, which are Ready; those that replace them start at their own pace."""
        self.plane.api.create([deployment(name, namespace=self.namespace, **options)])
        return self.hurry(name, options.get("replicas", 2))

    def hurry(self, app: str, wanted: int) -> list[dict[str, Any]]:
        """Let the app's first pods get Ready at once, whatever its template says of the next ones, and return them."""
        for pod in until(f"{wanted} pods of {app}", lambda: found if len(found := self.pods(app)) == wanted else None):
            path = f"/api/v1/namespaces/{self.namespace}/pods/{pod['metadata']['name']}"
            assert self.plane.api.patch(path, _AT_ONCE)
        return until(f"{wanted} ready pods of {app}", lambda: self.ready(app, wanted))

    def protect(self, app: str, **limit: int | str) -> None:
        """Create a PodDisruptionBudget over the app and wait until the controller has counted every pod as healthy."""
        self.plane.api.create([disruption_budget(app, namespace=self.namespace, **limit)])
        path, pods = f"/apis/policy/v1/namespaces/{self.namespace}/poddisruptionbudgets/{app}", len(self.pods(app))
        until(
            f"{pods} pods under the budget over {app}",
            lambda: self.plane.api.request("GET", path).body["status"].get("currentHealthy") == pods,
        )

    def pods(self, app: str) -> list[dict[str, Any]]:
        return self.plane.api.items(f"/api/v1/namespaces/{self.namespace}/pods?labelSelector=app%3D{app}")

    def pod(self, name: str) -> dict[str, Any] | None:
        answer = self.plane.api.request("GET", f"/api/v1/namespaces/{self.namespace}/pods/{name}")
        return answer.body if answer.status == 200 else None

    def ready(self, app: str, wanted: int) -> list[dict[str, Any]] | None:
        pods = [pod for pod in self.pods(app) if "deletionTimestamp" not in pod["metadata"]]
        return pods if len(pods) == wanted and all(map(is_ready, pods)) else None


def first_pod(cluster: KubernetesCluster, corner: Corner, app: str, **options: Any) -> Pod:
    raw = corner.run(app, **options)[0]
    on_its_node = cluster.pods_on(raw["spec"]["nodeName"])
    return next(pod for pod in on_its_node if pod.name == raw["metadata"]["name"])


def client_as(kubeconfig: Path) -> KubernetesClient:
    return KubernetesClient(from_kubeconfig(str(kubeconfig)))


def cluster_as(kubeconfig: Path) -> KubernetesCluster:
    return KubernetesCluster(client_as(kubeconfig))


@pytest.fixture(scope="session")
def twenty_nodes(control_plane: ControlPlane) -> ControlPlane:
    control_plane.api.create(nodes(NODES))
    until(f"{NODES} ready nodes", lambda: sum(map(is_ready, control_plane.api.nodes())) >= NODES)
    return control_plane


@pytest.fixture(scope="session")
def cluster(twenty_nodes: ControlPlane) -> KubernetesCluster:
    return cluster_as(twenty_nodes.kubeconfig)


@pytest.fixture(scope="session")
def with_autoscalers(twenty_nodes: ControlPlane) -> ControlPlane:
    """The shared control plane, which knows VerticalPodAutoscalers from now on."""
    add_kinds(twenty_nodes, VERTICAL_POD_AUTOSCALER)
    return twenty_nodes


def add_kinds(plane: ControlPlane, *definitions: dict[str, Any]) -> None:
    """Define kinds, and wait until the API server lists their objects and names them to whoever asks what it serves."""
    plane.api.create(definitions)
    for definition in definitions:
        until(f"{definition['metadata']['name']} to be served", partial(is_served, plane, definition["spec"]))


def is_served(plane: ControlPlane, kind: dict[str, Any]) -> bool:
    group, version, plural = f"/apis/{kind['group']}", kind["versions"][0]["name"], kind["names"]["plural"]
    of_group, of_version, listed = (
        plane.api.request("GET", path) for path in (group, f"{group}/{version}", f"{group}/{version}/{plural}")
    )
    versions = {row["version"] for row in of_group.body.get("versions", [])}
    kinds = {row["name"] for row in of_version.body.get("resources", [])}
    return version in versions and plural in kinds and listed.status == 200


@pytest.fixture(scope="session")
def with_buffers(twenty_nodes: ControlPlane) -> ControlPlane:
    """The shared control plane, which knows capacity buffers from now on, and has one that no node has room for."""
    add_kinds(twenty_nodes, PROVISIONING_REQUEST, CAPACITY_BUFFER, COMPUTE_CLASS)
    twenty_nodes.api.create(capacity_buffer("nowhere", "default", replicas=1, node_selector={"no": "node"}))
    return twenty_nodes


@pytest.fixture(scope="session")
def kubeconfigs(twenty_nodes: ControlPlane) -> Mapping[str, Path]:
    """Of both functions' users on the shared control plane, by the function's target."""
    return least_rights(twenty_nodes)


@pytest.fixture(scope="module")
def services_on(
    firestore_emulator: FirestoreEmulator, pubsub_emulator: PubSubEmulator
) -> Iterator[Callable[..., RealServices]]:
    """Tell what an installation on a control plane stands on; this process reads the same Firestore."""

    def services(plane: ControlPlane, database: str = "ebb-real", **more: Any) -> RealServices:
        hosts = firestore_emulator.host, pubsub_emulator.host
        return RealServices(plane.kubeconfig, plane.proxy_url, *hosts, database, **more)

    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator.host)
        yield services


@pytest.fixture(scope="session")
def new_corner(twenty_nodes: ControlPlane) -> Callable[[], Corner]:
    def make() -> Corner:
        name = f"corner-{next(_numbers)}"
        twenty_nodes.api.create([namespace(name)])
        return Corner(twenty_nodes, name)

    return make


@pytest.fixture
def corner(new_corner: Callable[[], Corner]) -> Corner:
    return new_corner()
