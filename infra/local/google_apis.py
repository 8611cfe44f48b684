"""Three Google APIs: GKE's clusters, the objects of Cloud Storage, and Pub/Sub's queue with delays, losses and repeats.

Sources: https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters and
https://cloud.google.com/storage/docs/json_api/v1/objects/get (alt=media).
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from infra.local.clocks import TimeSource, stamp
from infra.local.http_messages import HttpAnswer, HttpRequest, answer_json
from infra.local.scenario import MachinePool
from infra.local.world.kinds import Json

_VERSION = "1.36.3-gke.1"


@dataclass
class ServedCluster:
    """The cluster as the GKE API shows it; `name` is projects/P/locations/L/clusters/C."""

    name: str
    pools: dict[str, MachinePool]
    endpoint: str = "127.0.0.1"
    profile: str = "BALANCED"

    @property
    def short_name(self) -> str:
        return self.name.rpartition("/")[2]

    def handle(self, request: HttpRequest) -> HttpAnswer:
        """Answer `GET /v1/projects/P/locations/L/clusters/C`."""
        if (request.method, request.path) == ("GET", f"/v1/{self.name}"):
            return answer_json(200, cluster_body(self))
        return _not_found(request)


def _without_defaults(thing: Json) -> Json:
    """proto3 JSON leaves out zeros, false and empty text."""
    return {key: value for key, value in thing.items() if value not in (None, 0, False, "")}


def pool_body(pool: MachinePool) -> Json:
    limits = pool.autoscaling
    return {
        "name": pool.name,
        "config": _without_defaults({"machineType": pool.machine_type, "labels": pool.labels}),
        "initialNodeCount": max(pool.count // len(pool.zones), 1),
        "locations": pool.zones,
        "autoscaling": _without_defaults(limits.model_dump(by_alias=True)) if limits.enabled else {},
        "status": "RUNNING",
        "version": _VERSION,
    }


def cluster_body(cluster: ServedCluster) -> Json:
    dns = {"endpoint": "", "allowExternalTraffic": False}
    ip = {"enabled": True, "enablePublicEndpoint": True, "publicEndpoint": cluster.endpoint}
    return {
        "name": cluster.short_name,
        "location": cluster.name.split("/")[3],
        "locations": sorted({zone for pool in cluster.pools.values() for zone in pool.zones}),
        "endpoint": cluster.endpoint,
        "masterAuth": {"clusterCaCertificate": ""},
        "controlPlaneEndpointsConfig": {"dnsEndpointConfig": dns, "ipEndpointsConfig": ip},
        "autoscaling": {"autoscalingProfile": cluster.profile},
        "autopilot": {},
        "nodePools": [pool_body(pool) for _, pool in sorted(cluster.pools.items())],
        "currentMasterVersion": _VERSION,
        "status": "RUNNING",
    }


def _not_found(request: HttpRequest) -> HttpAnswer:
    message = f"Not found: {request.method} {request.path}."
    return answer_json(404, {"error": {"code": 404, "message": message, "status": "NOT_FOUND"}})


class Bucket:
    """All buckets of the simulated cloud, as readers of one object's media see them."""

    def __init__(self) -> None:
        self._blobs: dict[tuple[str, str], bytes] = {}

    def put(self, bucket: str, key: str, data: bytes) -> None:
        self._blobs[(bucket, key)] = data

    def handle(self, request: HttpRequest) -> HttpAnswer:
        match [unquote(part) for part in request.path.strip("/").split("/")]:
            case ["storage", "v1", "b", bucket, "o", key] if request.method == "GET" and (bucket, key) in self._blobs:
                return HttpAnswer(200, self._blobs[(bucket, key)], {"Content-Type": "application/octet-stream"})
        return _not_found(request)


ACKNOWLEDGED = frozenset({102, 200, 201, 202, 204})
"""HTTP codes that Pub/Sub takes as an acknowledgement of a push."""


class UnknownTopicError(KeyError):
    """A topic or subscription of that name was never made."""


@dataclass(frozen=True)
class Subscription:
    """A push subscription: full names (projects/P/…), durations in seconds. What is not acknowledged comes again."""

    name: str
    topic: str
    endpoint: str
    ack_deadline: float = 600.0
    min_backoff: float = 10.0
    max_backoff: float = 600.0
    first_window: int = 3
    max_outstanding: int = 500
    """What the endpoint itself takes at once: its instances, each with so many requests."""


@dataclass(frozen=True)
class Message:
    message_id: str
    data: bytes
    attributes: Mapping[str, str]
    publish_time: str


@dataclass(frozen=True)
class Push:
    """One message for one subscription; `due_at` is when it is pushed, or while it is, when that has failed."""

    subscription: Subscription
    message: Message
    due_at: float
    attempt: int = 0
    number: int = 0
    """Of a delivery under way: settle it with this."""

    def envelope(self) -> Json:
        message: Json = {
            "data": base64.b64encode(self.message.data).decode(),
            "attributes": dict(self.message.attributes),
            "messageId": self.message.message_id,
            "message_id": self.message.message_id,
            "publishTime": self.message.publish_time,
            "publish_time": self.message.publish_time,
        }
        return {"message": message, "subscription": self.subscription.name, "deliveryAttempt": self.attempt}


@dataclass
class Broker:
    clock: TimeSource
    topics: set[str] = field(default_factory=set)
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    _waiting: list[Push] = field(default_factory=list)
    _under_way: dict[int, Push] = field(default_factory=dict)
    _windows: dict[str, int] = field(default_factory=dict)
    _messages: int = 0
    _pushes: int = 0

    def subscribe(self, subscription: Subscription) -> None:
        """Add or replace a subscription; UnknownTopicError if its topic does not exist."""
        self.require(subscription.topic)
        self.subscriptions[subscription.name] = subscription

    def publish(self, topic: str, data: bytes, attributes: Mapping[str, str]) -> str:
        """Queue a message for every subscription of the topic; returns its id. UnknownTopicError as above."""
        self.require(topic)
        now = self.clock.now()
        self._messages += 1
        message = Message(str(self._messages), data, dict(attributes), stamp(now))
        subscribed = [item for item in self.subscriptions.values() if item.topic == topic]
        self._waiting += [Push(subscription, message, now) for subscription in subscribed]
        return message.message_id

    def due(self) -> list[Push]:
        """The deliveries to make now; deliveries whose deadline has passed count as failed and come back later."""
        now = self.clock.now()
        for number in [number for number, push in self._under_way.items() if push.due_at <= now]:
            self.settle(number, None)
        ready = sorted((push for push in self._waiting if push.due_at <= now), key=lambda push: push.due_at)
        return [begun for push in ready if (begun := self._start(push, now)) is not None]

    def settle(self, number: int, status: int | None) -> None:
        """Note a delivery's answer (None: no answer). A delivery that has expired already is settled: no effect."""
        push = self._under_way.pop(number, None)
        if push is None:
            return
        subscription, window = push.subscription, self.window(push.subscription)
        if status in ACKNOWLEDGED:
            self._windows[subscription.name] = window + 1
            return
        self._windows[subscription.name] = max(window // 2, subscription.first_window)
        wait = min(subscription.min_backoff * 2.0 ** (push.attempt - 1), subscription.max_backoff)
        self._waiting.append(replace(push, due_at=self.clock.now() + wait))

    def idle(self) -> bool:
        return not self._waiting and not self._under_way

    def window(self, subscription: Subscription) -> int:
        """How many of its pushes may be under way now."""
        return min(self._windows.get(subscription.name, subscription.first_window), subscription.max_outstanding)

    def require(self, topic: str) -> None:
        """Raise UnknownTopicError for a topic that was never made."""
        if topic not in self.topics:
            raise UnknownTopicError(f"Resource not found (resource={topic.rpartition('/')[2]}).")

    def _start(self, push: Push, now: float) -> Push | None:
        subscription = push.subscription
        under_way = sum(other.subscription.name == subscription.name for other in self._under_way.values())
        if under_way >= self.window(subscription):
            return None
        self._waiting.remove(push)
        self._pushes += 1
        expires_at = now + subscription.ack_deadline
        begun = replace(push, number=self._pushes, attempt=push.attempt + 1, due_at=expires_at)
        self._under_way[begun.number] = begun
        return begun
