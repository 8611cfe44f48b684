"""The clients that production uses, unmodified, against the simulated GKE over HTTP and gRPC."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from google.api_core.exceptions import NotFound
from google.auth.credentials import AnonymousCredentials
from google.cloud.container_v1 import ClusterManagerClient
from google.cloud.container_v1.services.cluster_manager.transports import ClusterManagerRestTransport
from google.cloud.pubsub_v1 import PublisherClient  # type: ignore[import-untyped]  # published without types
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from infra.local.broker import Subscription
from infra.local.scenario import parse
from infra.local.servers.servers import SimulatedGkeServers
from tests.local.injected_faults import InjectedFault, Mode, inject
from tests.local.virtual_cluster import MERGE
from tests.local.wait_until import wait_until

SCENARIO = """
kubelet: {readyAfter: [3, 3], nodeBoot: 0.2}
autoscaler: {enabled: false}
pools: [{name: main, count: 3}]
topics: [projects/local/topics/orders]
workloads:
  - {name: web, replicas: 4, requests: {cpu: 500m}, nodes: [main/0-1], shutdown: 0, pdb: {maxUnavailable: 1}}
  - {kind: DaemonSet, name: agent, namespace: kube-system, requests: {cpu: 100m}}
"""
TOPIC = "projects/local/topics/orders"


def nobody() -> AnonymousCredentials:
    return AnonymousCredentials()  # type: ignore[no-untyped-call]  # google-auth's own is untyped


@pytest.fixture(scope="module")
def gke() -> Iterator[SimulatedGkeServers]:
    running = SimulatedGkeServers(parse(SCENARIO), token="secret")  # noqa: S106 - a test's token
    running.start()
    yield running
    running.stop()


@pytest.fixture
def core(gke: SimulatedGkeServers, tmp_path: Path) -> Any:
    configuration = client.Configuration()
    configuration.retries = 0
    config.load_kube_config(gke.addresses(tmp_path)["kubeconfig"], client_configuration=configuration)
    return client.CoreV1Api(client.ApiClient(configuration))


def test_the_kubernetes_client_lists(core: Any) -> None:
    assert len(core.list_pod_for_all_namespaces(limit=500).items) == 7
    assert {item.status.phase for item in core.list_namespaced_pod("kube-system").items} == {"Running"}


def test_the_kubernetes_client_patches_a_node_with_its_version(core: Any, gke: SimulatedGkeServers) -> None:
    name = gke.cloud.node_names["main"][2]
    stale = {"metadata": {"resourceVersion": "1"}, "spec": {"unschedulable": True}}
    with pytest.raises(ApiException) as refused:
        core.patch_node(name, stale, _content_type=MERGE)
    assert refused.value.status == 409
    assert core.patch_node(name, {"spec": {"unschedulable": True}}, _content_type=MERGE).spec.unschedulable is True
    assert core.patch_node(name, {"spec": {"unschedulable": None}}, _content_type=MERGE).spec.unschedulable is None


def test_the_kubernetes_client_evicts_and_the_pod_comes_back(core: Any) -> None:
    def pods() -> list[Any]:
        items: list[Any] = core.list_namespaced_pod("default", label_selector="app=web").items
        return items

    def replaced() -> bool:
        found = pods()
        conditions = [item for pod in found for item in pod.status.conditions or [] if item.type == "Ready"]
        ready = [item.status for item in conditions] == ["True"] * 4
        return ready and first.metadata.uid not in {pod.metadata.uid for pod in found}

    first, second = pods()[:2]
    for number, victim in enumerate((first, second)):
        meta = client.V1ObjectMeta(name=victim.metadata.name, namespace="default")
        options = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid=victim.metadata.uid))
        eviction = client.V1Eviction(metadata=meta, delete_options=options)
        if number == 0:
            core.create_namespaced_pod_eviction(meta.name, "default", eviction, _preload_content=False)
            continue
        with pytest.raises(ApiException) as refused:
            core.create_namespaced_pod_eviction(meta.name, "default", eviction, _preload_content=False)
        causes = json.loads(refused.value.body or "{}")["details"]["causes"]
        assert (refused.value.status, causes[0]["reason"]) == (429, "DisruptionBudget")
    wait_until("four ready pods, the first of them replaced", replaced)


@pytest.mark.parametrize("mode", [Mode.TIMEOUT, Mode.DROP])
def test_a_lost_answer_is_a_transport_error_to_the_client(mode: Mode, core: Any, gke: SimulatedGkeServers) -> None:
    name = gke.cloud.node_names["main"][0]
    inject(gke.cloud.api, InjectedFault("PATCH", f"/api/v1/nodes/{name}", mode))
    patch = {"metadata": {"annotations": {"mode": mode.value}}}
    with pytest.raises(HTTPError):
        core.patch_node(name, patch, _content_type=MERGE, _request_timeout=(1, 0.3))

    def is_done() -> bool:
        return (core.read_node(name).metadata.annotations or {}).get("mode") == mode.value

    if mode is Mode.DROP:
        wait_until("what was asked for is done", is_done)
    assert is_done() is (mode is Mode.DROP)


def test_the_container_client_reads_the_cluster(gke: SimulatedGkeServers) -> None:
    transport = ClusterManagerRestTransport(host=gke.gke.base, credentials=nobody())
    cluster = ClusterManagerClient(transport=transport).get_cluster(name=gke.cloud.cluster.name)
    (pool,) = cluster.node_pools
    assert (cluster.name, cluster.status.name, pool.name) == ("demo", "RUNNING", "main")
    assert (pool.autoscaling.enabled, pool.autoscaling.max_node_count, len(pool.locations)) == (True, 100, 3)
    with pytest.raises(NotFound):
        ClusterManagerClient(transport=transport).get_cluster(name="projects/p/locations/l/clusters/none")


class Endpoint:
    """Answers 503 to the first push and 204 to the rest, and keeps what it was sent."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        endpoint = self

        class Answering(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                endpoint.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(503 if len(endpoint.bodies) == 1 else 204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/drain"

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join(timeout=5)
        self.server.server_close()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    listening = Endpoint()
    yield listening
    listening.close()


def test_the_publisher_publishes_and_the_message_is_pushed_until_it_is_taken(
    gke: SimulatedGkeServers, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", gke.pubsub.address)
    subscription = Subscription("projects/local/subscriptions/drainer", TOPIC, endpoint.url, min_backoff=0.2)
    with gke.lock:
        gke.cloud.broker.subscribe(subscription)
    publisher = PublisherClient()
    message_id = publisher.publish(TOPIC, b'{"node": "a"}', kind="drain").result(timeout=10)
    wait_until("the message is pushed twice", lambda: len(endpoint.bodies) == 2)
    assert [body["message"]["messageId"] for body in endpoint.bodies] == [message_id] * 2
    assert endpoint.bodies[0]["message"]["attributes"] == {"kind": "drain"}
    with pytest.raises(NotFound):
        publisher.publish("projects/local/topics/none", b"").result(timeout=10)
    publisher.stop()
