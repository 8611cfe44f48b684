"""Control routes for demos and tests, on the port of the Kubernetes API: all begin with an underscore.

They act at once, without the API's checks, and are not in the record as requests.
"""

import json
from collections.abc import Callable
from typing import Any

from infra.local.api.patches import merge
from infra.local.broker import Subscription, TickJob, UnknownTopicError
from infra.local.http_messages import HttpAnswer, HttpRequest, InjectedFault, Mode, answer_json
from infra.local.simulated_gke import SimulatedGke
from infra.local.world.kinds import KINDS, Json
from infra.local.world.store import MissingError, copied

ACTOR = "control"
Route = Callable[[HttpRequest], HttpAnswer]


class Control:
    """Answers the underscore routes and hands every other request on to the Kubernetes API."""

    def __init__(self, cloud: SimulatedGke) -> None:
        self._world = cloud.world
        self._api = cloud.api
        self._broker = cloud.broker
        self._jobs = cloud.jobs
        self._routes: dict[tuple[str, str], Route] = {
            ("GET", "/_record"): self._record,
            ("GET", "/_messages"): self._messages,
            ("POST", "/_scale"): self._scale,
            ("POST", "/_set"): self._set,
            ("POST", "/_fault"): self._fault,
            ("POST", "/_kubelet"): self._kubelet,
            ("POST", "/_publish"): self._publish,
            ("POST", "/_subscribe"): self._subscribe,
            ("POST", "/_job"): self._job,
        }

    def handle(self, request: HttpRequest) -> HttpAnswer:
        route = self._routes.get((request.method, request.path))
        if route is None:
            return self._api.handle(request)
        try:
            return route(request)
        except (KeyError, TypeError, ValueError, MissingError, UnknownTopicError) as error:
            return answer_json(400, {"error": f"{request.path}: {type(error).__name__}: {error}"})

    def _record(self, request: HttpRequest) -> HttpAnswer:
        lines = "".join(self._world.record.lines(int(request.query.get("from", "0"))))
        return HttpAnswer(200, lines.encode(), {"Content-Type": "application/jsonl"})

    def _messages(self, request: HttpRequest) -> HttpAnswer:
        topic = request.query.get("topic")
        messages = [
            {"topic": name, "id": item.message_id, "attributes": dict(item.attributes), "data": item.data.decode()}
            for name, item in self._broker.published
            if topic in (None, name)
        ]
        return answer_json(200, messages)

    def _merge(self, body: Json, patch: Json) -> HttpAnswer:
        namespace = body.get("namespace", "default") if KINDS[body["kind"]].namespaced else ""
        store = self._world.store
        thing = store.get(body["kind"], namespace, body["name"])
        return answer_json(200, store.replace(copied(merge(thing, patch)), ACTOR))

    def _scale(self, request: HttpRequest) -> HttpAnswer:
        body = {"kind": "deployments", **request.json()}
        return self._merge(body, {"spec": {"replicas": int(body["replicas"])}})

    def _set(self, request: HttpRequest) -> HttpAnswer:
        body: Json = request.json()
        return self._merge(body, body["patch"])

    def _fault(self, request: HttpRequest) -> HttpAnswer:
        body: Json = request.json()
        if body.pop("clear", False):
            self._api.faults.clear()
        if body:
            self._api.faults.append(InjectedFault(**{**body, "mode": Mode(body.get("mode", "answer"))}))
        return answer_json(200, {"rules": len(self._api.faults)})

    def _kubelet(self, request: HttpRequest) -> HttpAnswer:
        """Stop or restart the kubelet of a node: {"node": name, "dead": true}."""
        body: Json = request.json()
        change = self._world.kubelet.dead.add if body["dead"] else self._world.kubelet.dead.discard
        change(body["node"])
        return answer_json(200, sorted(self._world.kubelet.dead))

    def _publish(self, request: HttpRequest) -> HttpAnswer:
        body: Json = request.json()
        data: Any = body["data"]
        text = data if isinstance(data, str) else json.dumps(data)
        message_id = self._broker.publish(body["topic"], text.encode(), body.get("attributes", {}))
        return answer_json(200, {"messageId": message_id})

    def _subscribe(self, request: HttpRequest) -> HttpAnswer:
        subscription = Subscription(**request.json())
        for topic in filter(None, (subscription.topic, subscription.dead_letter_topic)):
            self._broker.create_topic(topic)
        self._broker.subscribe(subscription)
        return answer_json(200, {"subscription": subscription.name})

    def _job(self, request: HttpRequest) -> HttpAnswer:
        """Add or replace a scheduler job: {"name", "url", "every" seconds, "paused"?}."""
        job = TickJob(clock=self._world.clock, **request.json())
        self._jobs[:] = [*(old for old in self._jobs if old.name != job.name), job]
        return answer_json(200, {"job": job.name})
