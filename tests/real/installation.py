"""Ebb on a real control plane: functions as processes, emulators; GKE's API, bucket and autoscaler are simulated."""

import json
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import requests
from google.pubsub_v1 import PublisherClient, PubsubMessage, SubscriberClient
from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport
from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcTransport
from grpc import insecure_channel

from infra.local.bound_process import Child
from infra.local.clocks import SystemClock
from infra.local.google_apis import Bucket, ServedCluster
from infra.local.http_messages import HttpTransport, RefusedCall
from infra.local.scaling.autoscaler import Autoscaler
from infra.local.scaling.view import AutoscalerSettings
from infra.local.scenario import Autoscaling, MachinePool
from infra.local.servers import HttpServer
from shared.adapters.firestore import FirestoreState
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.state import ClusterState, PoolMarks
from shared.ports import CLUSTER_KEY
from tests.real.held_ports import HeldPorts
from tests.real.pusher import Pusher
from tests.real.waiting import until

CLUSTER = "projects/local/locations/europe-west4/clusters/real"
TOPIC = "projects/local/topics/orders"
SUBSCRIPTION = "projects/local/subscriptions/orders"
POLICY = "gs://policies/policy.yaml"
AUTOSCALER = AutoscalerSettings(
    scan_interval=1, threshold=0, unneeded_time=5, deletion=1, delay_after_delete=0, parallelism=10
)
"""Its gate is shut but for empty nodes: these worlds stand below the real gate, and what moves is to be Ebb's doing."""
TICK_SECONDS = 240.0
RETRY = {"minimum_backoff": {"seconds": 1}, "maximum_backoff": {"seconds": 5}}
"""How soon a message comes again; Terraform's are longer, as a drain's minutes are."""


def simulated_pool(name: str, least: int, most: int, **more: Any) -> MachinePool:
    limits = Autoscaling(min_node_count=least, max_node_count=most)
    return MachinePool(name=name, annotations={"kwok.x-k8s.io/node": "fake"}, autoscaling=limits, **more)


def policy_text(
    pool: str,
    at_once: int,
    drain: Mapping[str, object],
    cluster: Mapping[str, object],
    *,
    paused: bool = False,
    **rules: Any,
) -> str:
    """Return a policy under which so many nodes of one pool may go at once, without gates but those given."""
    budgets = {"budgets": [{"nodes": at_once}]}
    gates = {"timeSinceLastAddition": "0s", "timeGap": "0s", "rate": {"nodes": "100%", "per": "1m"}}
    open_pool = {
        "enabled": True,
        "minimumNodeAge": "0s",
        "excessNodesThreshold": 0,
        "disruption": {"consolidateAfter": "1s", "expireAfter": "Never", **budgets},
    }
    document = {
        "dryRun": False,
        "paused": paused,
        "cluster": {**gates, "disruption": budgets, **cluster},
        "drain": drain,
        "nodePools": {pool: {**open_pool, **rules}},
    }
    return json.dumps(document)


NO_BUDGET = {"disruption": {"budgets": [{"nodes": 0}]}}
"""Of a cluster in which no drain begins, and running ones end as they were begun."""


@dataclass(frozen=True)
class RealServices:
    """What the installation stands on: addresses of real things that somebody else starts and ends."""

    kubeconfig: Path
    proxy_url: str
    firestore: str
    pubsub: str
    database: str = "ebb-real"
    kubeconfigs: Mapping[str, Path] = field(default_factory=dict)
    """By target (`plan`, `drain`), for a function with an identity of its own; else `kubeconfig` is for both."""


class Installation:
    def __init__(
        self,
        services: RealServices,
        policy: str,
        pools: Mapping[str, MachinePool],
        settings: Mapping[str, str] | None = None,
        *,
        hands: int = 0,
        scaling: AutoscalerSettings = AUTOSCALER,
    ) -> None:
        """`hands` push so many messages at once; without them the emulator pushes, two at a time."""
        self.services = services
        self._hands = hands
        self._settings = dict(settings or {})
        self._lock = threading.RLock()
        self.bucket = Bucket()
        self.bucket.put("policies", "policy.yaml", policy.encode())
        self._gke = HttpServer(ServedCluster(CLUSTER, dict(pools)).handle, self._lock)
        self._storage = HttpServer(self.bucket.handle, self._lock)
        self._autoscaler = Autoscaler(HttpTransport(services.proxy_url), pools, SystemClock(), scaling)
        self._stopping = threading.Event()
        self._scaling = threading.Thread(target=self._scale, daemon=True)
        self._ports = HeldPorts(2)
        self.planner_port, self.drainer_port = self._ports.numbers
        self._functions: dict[str, Child] = {}
        self._forget: list[Callable[[], object]] = []

    def __enter__(self) -> Self:
        self._gke.start()
        self._storage.start()
        for target, port in (("plan", self.planner_port), ("drain", self.drainer_port)):
            self._functions[target] = self._function(target, port)
        until("the function plan", lambda: self._answers("plan", self.planner_port))
        until("the function drain", lambda: self._answers("drain", self.drainer_port))
        self._subscribe()
        self._scaling.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._scaling.join(timeout=10)
        for forget in self._forget:
            forget()
        for function in self._functions.values():
            function.close(60)
            shutil.rmtree(function.out.parent, ignore_errors=True)
        self._ports.close()
        self._storage.stop()
        self._gke.stop()

    @property
    def environment(self) -> dict[str, str]:
        return {
            "EBB_CLUSTER": CLUSTER,
            "EBB_TOPIC": TOPIC,
            "EBB_POLICY": POLICY,
            "EBB_FIRESTORE_DATABASE": self.services.database,
            "EBB_KUBECONFIG": str(self.services.kubeconfig),
            "EBB_GKE_API": self._gke.base,
            "FIRESTORE_EMULATOR_HOST": self.services.firestore,
            "PUBSUB_EMULATOR_HOST": self.services.pubsub,
            "STORAGE_EMULATOR_HOST": self._storage.base,
            "GOOGLE_CLOUD_PROJECT": "local",
            "LOG_EXECUTION_ID": "true",  # as the platform sets it for every function
            "THREADS": "20",
            **self._settings,
        }

    def tick(self) -> dict[str, Any]:
        response = requests.post(f"http://127.0.0.1:{self.planner_port}/", json={}, timeout=TICK_SECONDS)
        assert response.status_code == 200, f"{response.text}\n{self.said('plan')}"
        summary: dict[str, Any] = response.json()
        return summary

    def publish(self, order: Mapping[str, Any]) -> None:
        self._publisher.publish(topic=TOPIC, messages=[PubsubMessage(data=json.dumps(order).encode())])

    def pid(self, target: str) -> int:
        """The process that a function is bound to: its child is the server, whose children are the workers."""
        return self._functions[target].pid

    def said(self, target: str, most: int = 2_000) -> str:
        function = self._functions[target]
        return "".join(path.read_text(errors="replace") for path in (function.out, function.err))[-most:].strip()

    def _function(self, target: str, port: int) -> Child:
        folder = Path(tempfile.mkdtemp(prefix=f"ebb-{target}-"))
        kubeconfig = self.services.kubeconfigs.get(target, self.services.kubeconfig)
        environment = {**self.environment, "EBB_KUBECONFIG": str(kubeconfig), "PYTHONFAULTHANDLER": "1"}
        framework = ["-m", "functions_framework", "--target", target, "--host", "127.0.0.1", "--port", str(port)]
        bound = ["-m", "infra.local.bound_process", str(folder), sys.executable, *framework]
        return Child(target, bound, folder, environment)

    def _answers(self, target: str, port: int) -> bool:
        assert not self._functions[target].has_ended(), self.said(target)
        try:
            return requests.get(f"http://127.0.0.1:{port}/", timeout=5).status_code == 405
        except (requests.ConnectionError, requests.Timeout):  # before its first worker is up it listens and is silent
            return False

    def _subscribe(self) -> None:
        channel = insecure_channel(self.services.pubsub)
        self._publisher = publisher = PublisherClient(transport=PublisherGrpcTransport(channel=channel))
        publisher.create_topic(name=TOPIC)
        subscriber = SubscriberClient(transport=SubscriberGrpcTransport(channel=channel))
        endpoint = f"http://127.0.0.1:{self.drainer_port}/"
        push = {} if self._hands else {"push_config": {"push_endpoint": endpoint}}
        subscriber.create_subscription(
            {"name": SUBSCRIPTION, "topic": TOPIC, "ack_deadline_seconds": 600, "retry_policy": RETRY, **push}
        )
        self._forget = [
            partial(subscriber.delete_subscription, subscription=SUBSCRIPTION),
            partial(publisher.delete_topic, topic=TOPIC),
        ]
        if self._hands:
            pusher = Pusher(subscriber, SUBSCRIPTION, endpoint, self._hands)
            pusher.start()
            self._forget.insert(0, pusher.stop)

    def _scale(self) -> None:
        while not self._stopping.wait(0.2):
            try:
                self._autoscaler.step()
            except RefusedCall as error:
                sys.stderr.write(f"autoscaler: {error}\n")


class Memory:
    def __init__(self, ebb: Installation) -> None:
        self._store = FirestoreState("local", ebb.services.database, CLUSTER)

    def state(self) -> ClusterState:
        return self._store.get(CLUSTER_KEY).value or ClusterState()

    def records(self) -> list[DrainRecord]:
        return [found.value for found in self._store.all("drains", DrainRecord).values() if found.value]

    def pools(self) -> list[PoolMarks]:
        return [found.value for found in self._store.all("pools", PoolMarks).values() if found.value]

    def is_answered(self) -> bool:
        """Whether no order is on its way or being judged: each has its claim or was refused."""
        return not self.state().published and all(record.phase is not DrainPhase.ACCEPTED for record in self.records())

    def has_ended_drains(self) -> bool:
        """Whether no claim stands, and every drain that began is settled and leased by nobody.

        An order that is being judged has no claim yet, and is no longer on its way: only its record tells of it.
        """
        ended = all(record.phase is DrainPhase.SETTLED and record.lease is None for record in self.records())
        return ended and not self.state().claims

    def is_at_rest(self) -> bool:
        """Whether every drain has ended and no order is on its way; one that was lost is until it expires."""
        return self.has_ended_drains() and not self.state().published
