"""All servers of the simulated GKE on loopback, and delivery of Pub/Sub messages and ticks.

Control routes of the demo and of tests are on the port of the Kubernetes API, and all begin with an underscore. They
act at once, without the API's checks, and are not in the record as requests.
"""

import json
import logging
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from infra.local.broker import Push, TickJob
from infra.local.clocks import SystemClock
from infra.local.http_messages import HttpAnswer, HttpRequest, answer_json
from infra.local.scaling.client import HttpTransport, RefusedCall, call_http
from infra.local.scenario import Scenario
from infra.local.servers.listeners import HttpServer, PubSubServer
from infra.local.simulated_gke import SimulatedGke


class Control:
    """Answers the underscore routes and hands every other request on to the Kubernetes API."""

    def __init__(self, cloud: SimulatedGke) -> None:
        self._world = cloud.world
        self._api = cloud.api
        self._jobs = cloud.jobs
        self._routes = {("GET", "/_record"): self._record, ("POST", "/_job"): self._job}

    def handle(self, request: HttpRequest) -> HttpAnswer:
        route = self._routes.get((request.method, request.path))
        if route is None:
            return self._api.handle(request)
        try:
            return route(request)
        except (KeyError, TypeError, ValueError) as error:
            return answer_json(400, {"error": f"{request.path}: {type(error).__name__}: {error}"})

    def _record(self, request: HttpRequest) -> HttpAnswer:
        lines = "".join(self._world.record.lines(int(request.query.get("from", "0"))))
        return HttpAnswer(200, lines.encode(), {"Content-Type": "application/jsonl"})

    def _job(self, request: HttpRequest) -> HttpAnswer:
        """Add or replace a scheduler job: {"name", "url", "every" seconds}."""
        job = TickJob(clock=self._world.clock, **request.json())
        self._jobs[:] = [*(old for old in self._jobs if old.name != job.name), job]
        return answer_json(200, {"job": job.name})


TICK = 0.1
"""Real seconds between two steps of the world."""
_PUSH_HEADERS = {"User-Agent": "APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)"}
log = logging.getLogger(__name__)


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
    """Everything of a scenario on free ports of loopback, from `start` to `stop`.

    Other threads take `lock` before they touch it.
    """

    def __init__(self, scenario: Scenario, token: str | None = None) -> None:
        self.lock = threading.RLock()
        self.cloud = SimulatedGke(scenario, SystemClock(), token)
        self.kube = HttpServer(Control(self.cloud).handle, self.lock)
        self.cloud.cluster.endpoint = self.kube.base.removeprefix("http://")
        self.gke = HttpServer(self.cloud.gke.handle, self.lock)
        self.storage = HttpServer(self.cloud.bucket.handle, self.lock)
        self.pubsub = PubSubServer(self.cloud.broker, self.lock)
        self._token = token
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        with self.lock:
            self.cloud.world.settle()
        for server in (self.kube, self.gke, self.storage, self.pubsub):
            server.start()
        self._loop("world", self._step)
        if self.cloud.scenario.autoscaler.enabled:
            autoscaler = self.cloud.autoscaler(HttpTransport(self.kube.base, token=self._token))
            self._loop("autoscaler", autoscaler.step)

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
        """Step the world, and hand every due push and tick to a thread; it ends with the process."""
        with self.lock:
            self.cloud.world.step()
            pushes = self.cloud.broker.due()
            ticks = [(job, headers) for job in self.cloud.jobs if (headers := job.due()) is not None]
        calls = [partial(self._push, push) for push in pushes]
        for call in [*calls, *(partial(self._tick, job, headers) for job, headers in ticks)]:
            threading.Thread(target=call, daemon=True).start()

    def _push(self, push: Push) -> None:
        body, to = json.dumps(push.envelope()).encode(), push.subscription
        status, _ = call_http("POST", to.endpoint, body, _PUSH_HEADERS, to.ack_deadline)
        with self.lock:
            self.cloud.broker.settle(push.number, status)

    def _tick(self, job: TickJob, headers: Mapping[str, str]) -> None:
        call_http("POST", job.url, b"{}", headers, job.attempt_deadline)
        with self.lock:
            job.finish()

    def _loop(self, name: str, step: Callable[[], None]) -> None:
        def run() -> None:
            while not self._stopping.wait(TICK):
                try:
                    step()
                except RefusedCall as error:  # an injected fault meets the autoscaler too; its next loop starts afresh
                    log.warning("%s: %s", name, error)

        thread = threading.Thread(target=run, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()
