"""All servers of the simulated GKE on loopback, and delivery of Pub/Sub messages and ticks."""

import http.client
import json
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from infra.local.broker import Broker, Push, TickJob
from infra.local.clocks import ScaledClock
from infra.local.scaling.client import HttpTransport, RefusedCall
from infra.local.scenario import Scenario
from infra.local.servers.control_routes import Control
from infra.local.servers.listeners import HttpServer, PubSubServer
from infra.local.simulated_gke import SimulatedGke


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> int | None:
    """The status of an HTTP POST; None if no answer came in time."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, body, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException):
        return None
    else:
        return response.status
    finally:
        connection.close()


def _start(call: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=call, args=arguments, daemon=True).start()


class Deliverer:
    """Starts what is due; the lock guards broker and jobs. Calls under way end with the process."""

    def __init__(self, broker: Broker, jobs: list[TickJob], lock: AbstractContextManager[Any]) -> None:
        self._broker = broker
        self._lock = lock
        self._jobs = jobs

    def step(self) -> None:
        """Hand every due push and tick to a thread."""
        with self._lock:
            pushes = self._broker.due()
            ticks = [(job, headers) for job in self._jobs if (headers := job.due()) is not None]
        for push in pushes:
            _start(self._push, push)
        for job, headers in ticks:
            _start(self._tick, job, headers)

    def _push(self, push: Push) -> None:
        body = json.dumps(push.envelope()).encode()
        subscription = push.subscription
        headers = {"User-Agent": "APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)"}
        status = post(subscription.endpoint, body, headers, subscription.ack_deadline)
        with self._lock:
            self._broker.settle(push.number, status)

    def _tick(self, job: TickJob, headers: Mapping[str, str]) -> None:
        post(job.url, b"{}", headers, job.attempt_deadline)
        with self._lock:
            job.finish()


TICK = 0.1
"""Real seconds between two steps of the world."""
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServerPorts:
    """The port of each server; 0 takes any free one."""

    kube: int = 0
    gke: int = 0
    bucket: int = 0
    pubsub: int = 0

    @classmethod
    def from_base(cls, base: int) -> "ServerPorts":
        return cls(base, base + 1, base + 2, base + 3) if base else cls()


def kubeconfig(server: str, token: str | None) -> str:
    """A kubeconfig (JSON, which is YAML) that leads to the simulated API server."""
    user = {"token": token} if token else {}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "local",
            "clusters": [{"name": "local", "cluster": {"server": server}}],
            "users": [{"name": "local", "user": user}],
            "contexts": [{"name": "local", "context": {"cluster": "local", "user": "local"}}],
        },
        indent=1,
    )


class SimulatedGkeServers:
    """Everything of a scenario on loopback, from `start` to `stop`. Other threads take `lock` before they touch it."""

    def __init__(self, scenario: Scenario, ports: ServerPorts | None = None, token: str | None = None) -> None:
        ports = ports or ServerPorts()
        self.lock = threading.RLock()
        self.cloud = SimulatedGke(scenario, ScaledClock(scenario.time_scale), token)
        self.deliverer = Deliverer(self.cloud.broker, self.cloud.jobs, self.lock)
        control = Control(self.cloud)
        self.kube = HttpServer(control.handle, self.lock, ports.kube)
        self.cloud.cluster.endpoint = self.kube.base.removeprefix("http://")
        self.gke = HttpServer(self.cloud.gke.handle, self.lock, ports.gke)
        self.storage = HttpServer(self.cloud.bucket.handle, self.lock, ports.bucket)
        self.pubsub = PubSubServer(self.cloud.broker, self.lock, ports.pubsub)
        self._token = token
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        with self.lock:
            self.cloud.world.settle()
        for server in (self.kube, self.gke, self.storage, self.pubsub):
            server.start()
        self._loop("world", TICK, self._step)
        if self.cloud.scenario.autoscaler.enabled:
            autoscaler = self.cloud.autoscaler(HttpTransport(self.kube.base, token=self._token))
            self._loop("autoscaler", TICK, autoscaler.step)

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(timeout=10)
        for server in (self.kube, self.gke, self.storage, self.pubsub):
            server.stop()

    def alive(self) -> bool:
        """Every loop still runs; one that has failed has written its traceback to standard error."""
        return all(thread.is_alive() for thread in self._threads)

    def addresses(self, folder: Path) -> dict[str, Any]:
        """Where everything is, and a kubeconfig written into `folder`; all that a caller needs in its environment."""
        path = folder / "kubeconfig.json"
        path.write_text(kubeconfig(self.kube.base, self._token), encoding="utf-8")
        return {
            "cluster": self.cloud.cluster.name,
            "kube": self.kube.base,
            "gke": self.gke.base,
            "bucket": self.storage.base,
            "pubsub": self.pubsub.address,
            "kubeconfig": str(path),
            "nodes": self.cloud.node_names,
        }

    def _step(self) -> None:
        with self.lock:
            self.cloud.world.step()
        self.deliverer.step()

    def _loop(self, name: str, every: float, step: Callable[[], None]) -> None:
        def run() -> None:
            while not self._stopping.wait(every):
                try:
                    step()
                except RefusedCall as error:  # an injected fault meets the autoscaler too; its next loop starts afresh
                    log.warning("%s: %s", name, error)

        thread = threading.Thread(target=run, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()
