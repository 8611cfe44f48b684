"""The simulated Pub/Sub queue, with delays, losses and repeats, and the scheduler's ticks."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from infra.local.clocks import TimeSource, stamp
from infra.local.world.kinds import Json

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
    """One delivery under way: settle it with its `number`."""

    number: int
    subscription: Subscription
    message: Message
    attempt: int

    def envelope(self) -> Json:
        """The JSON body of a push request."""
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
class _Delivery:
    """One message for one subscription; `due_at` is when it is pushed, or while it is, when that has failed."""

    subscription: Subscription
    message: Message
    due_at: float
    attempts: int = 0


@dataclass
class Broker:
    """All topics and subscriptions."""

    clock: TimeSource
    topics: set[str] = field(default_factory=set)
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    published: list[tuple[str, Message]] = field(default_factory=list)
    """Every message ever published, with its topic: for tests."""
    _waiting: list[_Delivery] = field(default_factory=list)
    _under_way: dict[int, _Delivery] = field(default_factory=dict)
    _windows: dict[str, int] = field(default_factory=dict)
    _pushes: int = 0

    def subscribe(self, subscription: Subscription) -> None:
        """Add or replace a subscription; UnknownTopicError if its topic does not exist."""
        self.require(subscription.topic)
        self.subscriptions[subscription.name] = subscription

    def publish(self, topic: str, data: bytes, attributes: Mapping[str, str]) -> str:
        """Queue a message for every subscription of the topic; returns its id. UnknownTopicError as above."""
        self.require(topic)
        now = self.clock.now()
        message = Message(str(len(self.published) + 1), data, dict(attributes), stamp(now))
        self.published.append((topic, message))
        subscribed = [item for item in self.subscriptions.values() if item.topic == topic]
        self._waiting += [_Delivery(subscription, message, now) for subscription in subscribed]
        return message.message_id

    def due(self) -> list[Push]:
        """The deliveries to make now; deliveries whose deadline has passed count as failed and come back later."""
        now = self.clock.now()
        for number in [number for number, delivery in self._under_way.items() if delivery.due_at <= now]:
            self.settle(number, None)
        ready = sorted((item for item in self._waiting if item.due_at <= now), key=lambda item: item.due_at)
        return [push for delivery in ready if (push := self._start(delivery, now)) is not None]

    def settle(self, number: int, status: int | None) -> None:
        """Note a delivery's answer (None: no answer). A delivery that has expired already is settled: no effect."""
        delivery = self._under_way.pop(number, None)
        if delivery is None:
            return
        subscription, window = delivery.subscription, self.window(delivery.subscription)
        if status in ACKNOWLEDGED:
            self._windows[subscription.name] = window + 1
            return
        self._windows[subscription.name] = max(window // 2, subscription.first_window)
        wait = min(subscription.min_backoff * 2.0 ** (delivery.attempts - 1), subscription.max_backoff)
        self._waiting.append(replace(delivery, due_at=self.clock.now() + wait))

    def idle(self) -> bool:
        """Nothing waits and nothing is under way."""
        return not self._waiting and not self._under_way

    def window(self, subscription: Subscription) -> int:
        """How many of its pushes may be under way now."""
        return min(self._windows.get(subscription.name, subscription.first_window), subscription.max_outstanding)

    def require(self, topic: str) -> None:
        """Raise UnknownTopicError for a topic that was never made."""
        if topic not in self.topics:
            raise UnknownTopicError(f"Resource not found (resource={topic.rpartition('/')[2]}).")

    def _start(self, delivery: _Delivery, now: float) -> Push | None:
        subscription = delivery.subscription
        under_way = sum(other.subscription.name == subscription.name for other in self._under_way.values())
        if under_way >= self.window(subscription):
            return None
        self._waiting.remove(delivery)
        self._pushes += 1
        attempts, expires_at = delivery.attempts + 1, now + subscription.ack_deadline
        self._under_way[self._pushes] = replace(delivery, attempts=attempts, due_at=expires_at)
        return Push(self._pushes, subscription, delivery.message, attempts)


@dataclass
class TickJob:
    """Calls `url` every `every` seconds; the header's job name is its last part."""

    name: str
    url: str
    every: float
    clock: TimeSource
    attempt_deadline: float = 180.0
    running: bool = False
    _next: float = field(init=False)

    def __post_init__(self) -> None:
        self._next = self.clock.now()

    def due(self) -> dict[str, str] | None:
        """The headers of the call to make now, or None; a call that is due while one runs waits for its end."""
        if self.running or self.clock.now() < self._next:
            return None
        scheduled, self._next = self._next, self._next + self.every
        self._next = max(self._next, self.clock.now())
        self.running = True
        return {
            "X-CloudScheduler": "true",
            "X-CloudScheduler-JobName": self.name.rpartition("/")[2],
            "X-CloudScheduler-ScheduleTime": stamp(scheduled),
            "User-Agent": "Google-Cloud-Scheduler",
        }

    def finish(self) -> None:
        """The call has been answered, or its attempt deadline has passed."""
        self.running = False
