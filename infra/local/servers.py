"""The thin shell: servers on loopback, threads and real time around a world that knows none of them.

HTTP around handlers, a Pub/Sub publisher (PUBSUB_EMULATOR_HOST) over the broker, and delivery of messages and ticks.
"""

import json
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from wsgiref.types import WSGIApplication

import grpc
from google.pubsub_v1 import types
from werkzeug import Request as WsgiRequest
from werkzeug import Response as WsgiResponse
from werkzeug.serving import WSGIRequestHandler, make_server

from infra.local.clocks import SystemClock, stamp
from infra.local.google_apis import Broker, Push, Subscription, UnknownTopicError
from infra.local.http_messages import (
    MERGE_PATCH,
    Handler,
    HttpAnswer,
    HttpRequest,
    HttpTransport,
    RefusedCall,
    call_http,
)
from infra.local.scenario import Scenario
from infra.local.simulated_gke import SimulatedGke
from infra.local.world.kinds import Json

HOST: Final = "127.0.0.1"
TICK: Final = 0.1
"""Real seconds between two steps of the world."""
_PUSH_HEADERS: Final = {"User-Agent": "APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)"}
_SCHEDULER: Final = {"X-CloudScheduler": "true", "User-Agent": "Google-Cloud-Scheduler"}
_ATTEMPT_SECONDS: Final = 180.0
log = logging.getLogger(__name__)


class _Quiet(WSGIRequestHandler):
    """Writes no access log: the record has every request."""

    def log(self, type: str, message: str, *args: Any) -> None: ...  # noqa: A002 - the name is werkzeug's


def application(handler: Handler, lock: AbstractContextManager[Any]) -> WSGIApplication:
    """A WSGI application around a handler, which runs under the lock."""

    @WsgiRequest.application
    def serve(wsgi: WsgiRequest) -> WsgiResponse:
        path = urlsplit(wsgi.environ["REQUEST_URI"]).path  # undecoded: an object's name may hold a slash
        headers = {name.lower(): value for name, value in wsgi.headers.items()}
        with lock:
            answer = handler(HttpRequest(wsgi.method, path, wsgi.args.to_dict(), headers, wsgi.get_data()))
        return WsgiResponse(answer.body, answer.status, answer.headers)

    return serve


class HttpServer:
    """One handler on a free port, from `start` to `stop`."""

    def __init__(self, handler: Handler, lock: AbstractContextManager[Any]) -> None:
        self._server = make_server(HOST, 0, application(handler, lock), threaded=True, request_handler=_Quiet)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_port)

    @property
    def base(self) -> str:
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join(timeout=5)
        self._server.server_close()


class PubSubServer:
    """The publisher on one port, without making topics: they are the scenario's. Every call runs under the lock."""

    def __init__(self, broker: Broker, lock: AbstractContextManager[Any]) -> None:
        self._broker, self._lock = broker, lock
        self._server = grpc.server(ThreadPoolExecutor(max_workers=4))
        methods = {
            "GetTopic": self._method(self._get_topic, types.GetTopicRequest, types.Topic),
            "Publish": self._method(self._publish, types.PublishRequest, types.PublishResponse),
        }
        service = grpc.method_handlers_generic_handler("google.pubsub.v1.Publisher", methods)
        self._server.add_generic_rpc_handlers((service,))
        self.address = f"{HOST}:{self._server.add_insecure_port(f'{HOST}:0')}"

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        self._server.stop(grace=1).wait(timeout=5)

    def _method(self, call: Callable[[Any], Any], request: Any, response: Any) -> Any:
        def handle(message: Any, context: grpc.ServicerContext) -> Any:
            try:
                with self._lock:
                    return call(message)
            except UnknownTopicError as error:
                context.abort(grpc.StatusCode.NOT_FOUND, str(error.args[0]))

        return grpc.unary_unary_rpc_method_handler(handle, request.deserialize, response.serialize)

    def _get_topic(self, request: types.GetTopicRequest) -> types.Topic:
        self._broker.require(request.topic)
        return types.Topic(name=request.topic)

    def _publish(self, request: types.PublishRequest) -> types.PublishResponse:
        publish, messages = self._broker.publish, request.messages
        ids = [publish(request.topic, message.data, dict(message.attributes)) for message in messages]
        return types.PublishResponse(message_ids=ids)


def kubeconfig(server: str) -> str:
    """A kubeconfig (JSON, which is YAML) that leads to the simulated API server."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "local",
        "clusters": [{"name": "local", "cluster": {"server": server}}],
        "users": [{"name": "local", "user": {}}],
        "contexts": [{"name": "local", "context": {"cluster": "local", "user": "local"}}],
    }
    return json.dumps(config, indent=1)


class SimulatedGkeServers:
    """Everything of a scenario on free ports of loopback; other threads take `lock` before they touch it."""

    def __init__(self, scenario: Scenario) -> None:
        self.lock = threading.RLock()
        self.cloud = SimulatedGke(scenario, SystemClock())
        self.kube = HttpServer(self.cloud.api.handle, self.lock)
        self.cloud.cluster.endpoint = self.kube.base.removeprefix("http://")
        self.gke = HttpServer(self.cloud.cluster.handle, self.lock)
        self.storage = HttpServer(self.cloud.bucket.handle, self.lock)
        self.pubsub = PubSubServer(self.cloud.broker, self.lock)
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        with self.lock:
            self.cloud.world.settle()
        for server in (self.kube, self.gke, self.storage, self.pubsub):
            server.start()
        self._loop("world", self._step)
        if self.cloud.scenario.autoscaler.enabled:
            autoscaler = self.cloud.autoscaler(HttpTransport(self.kube.base))
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

    def environment(self, folder: Path) -> dict[str, str]:
        """The variables by which Ebb finds the servers, with a kubeconfig written into `folder`."""
        path = folder / "kubeconfig.json"
        path.write_text(kubeconfig(self.kube.base), encoding="utf-8")
        return {
            "EBB_CLUSTER": self.cloud.cluster.name,
            "EBB_KUBECONFIG": str(path),
            "EBB_GKE_API": self.gke.base,
            "PUBSUB_EMULATOR_HOST": self.pubsub.address,
            "STORAGE_EMULATOR_HOST": self.storage.base,
            "GOOGLE_CLOUD_PROJECT": "local",
        }

    def push(self, topic: str, url: str, window: int = 3) -> None:
        """Push a topic's messages to the URL, at first so many at once."""
        name = topic.replace("/topics/", "/subscriptions/")
        with self.lock:
            self.cloud.broker.topics.add(topic)
            self.cloud.broker.subscribe(Subscription(name, topic, url, first_window=window))

    def call(self, name: str, url: str, every: float) -> None:
        """Call the URL every so many seconds, as a job of Cloud Scheduler does; a call that runs delays the next."""
        now = self.cloud.clock.now

        def tick() -> None:
            due = now()
            headers = {**_SCHEDULER, "X-CloudScheduler-JobName": name, "X-CloudScheduler-ScheduleTime": stamp(due)}
            call_http("POST", url, b"{}", headers, _ATTEMPT_SECONDS)
            self._stopping.wait(due + every - now())

        self._loop(name, tick)

    def send(self, agent: str, method: str, path: str, body: Json) -> HttpAnswer:
        """Make a request to the Kubernetes API, from within this process."""
        headers = {"user-agent": agent, "content-type": MERGE_PATCH}
        with self.lock:
            return self.cloud.api.handle(HttpRequest(method, path, {}, headers, json.dumps(body).encode()))

    def entries(self, start: int) -> list[Json]:
        with self.lock:
            return self.cloud.world.record.entries[start:]

    def list_all(self, plural: str) -> list[Json]:
        """The objects of a kind; none of them changes later."""
        with self.lock:
            return self.cloud.world.store.all(plural)

    def _step(self) -> None:
        """Step the world, and hand every due push to a thread; it ends with the process."""
        with self.lock:
            self.cloud.world.step()
            pushes = self.cloud.broker.due()
        for push in pushes:
            threading.Thread(target=self._push, args=(push,), daemon=True).start()

    def _push(self, push: Push) -> None:
        body, to = json.dumps(push.envelope()).encode(), push.subscription
        answer = call_http("POST", to.endpoint, body, _PUSH_HEADERS, to.ack_deadline)
        with self.lock:
            self.cloud.broker.settle(push.number, answer.status)

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
