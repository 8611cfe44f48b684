"""The simulated Pub/Sub queue, with delays, losses and repeats, and the scheduler's ticks."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field

from infra.local.clocks import TimeSource, micro_stamp, stamp
from infra.local.world.kinds import Json

ACKNOWLEDGED = frozenset({102, 200, 201, 202, 204})
"""HTTP codes that Pub/Sub takes as an acknowledgement of a push."""


class UnknownTopicError(KeyError):
    """A topic or subscription of that name was never made."""


@dataclass(frozen=True)
class Subscription:
    """A push subscription; names are full (projects/P/…), durations in seconds.

    `max_attempts` counts only with a dead-letter topic; without one a message comes back again and again.
    """

    name: str
    topic: str
    endpoint: str
    ack_deadline: float = 600.0
    min_backoff: float = 10.0
    max_backoff: float = 600.0
    dead_letter_topic: str = ""
    max_attempts: int = 5
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
        body: Json = {"message": message, "subscription": self.subscription.name}
        return {**body, "deliveryAttempt": self.attempt} if self.subscription.dead_letter_topic else body


@dataclass
class _Waiting:
    subscription: str
    message: Message
    due_at: float
    attempts: int = 0


@dataclass
class _Outstanding:
    waiting: _Waiting
    expires_at: float


def backoff(subscription: Subscription, attempts: int) -> float:
    """Seconds until the next delivery after so many failed ones: doubling from the least to the most."""
    return float(min(subscription.min_backoff * 2.0 ** (attempts - 1), subscription.max_backoff))


@dataclass
class Broker:
    """All topics and subscriptions."""

    clock: TimeSource
    topics: set[str] = field(default_factory=set)
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    published: list[tuple[str, Message]] = field(default_factory=list)
    """Every message ever published, with its topic: for tests."""
    _waiting: list[_Waiting] = field(default_factory=list)
    _outstanding: dict[int, _Outstanding] = field(default_factory=dict)
    _windows: dict[str, int] = field(default_factory=dict)
    _pushes: int = 0

    def subscribe(self, subscription: Subscription) -> None:
        """Add or replace a subscription; UnknownTopicError if its topic or dead-letter topic does not exist."""
        for topic in filter(None, (subscription.topic, subscription.dead_letter_topic)):
            self._require(topic)
        self.subscriptions[subscription.name] = subscription

    def publish(self, topic: str, data: bytes, attributes: Mapping[str, str]) -> str:
        """Queue a message for every subscription of the topic; returns its id. UnknownTopicError as above."""
        self._require(topic)
        now = self.clock.now()
        message = Message(str(len(self.published) + 1), data, dict(attributes), micro_stamp(now))
        self.published.append((topic, message))
        for subscription in self.subscriptions.values():
            if subscription.topic == topic:
                self._waiting.append(_Waiting(subscription.name, message, now))
        return message.message_id

    def due(self) -> list[Push]:
        """The deliveries to make now; deliveries whose deadline has passed count as failed and come back later."""
        now = self.clock.now()
        for number, item in list(self._outstanding.items()):
            if item.expires_at <= now:
                self.settle(number, None)
        ready = sorted((item for item in self._waiting if item.due_at <= now), key=lambda item: item.due_at)
        return [push for item in ready if (push := self._start(item, now)) is not None]

    def settle(self, number: int, status: int | None) -> None:
        """Note a delivery's answer (None: no answer). A delivery that has expired already is settled: no effect."""
        outstanding = self._outstanding.pop(number, None)
        if outstanding is None:
            return
        waiting, subscription = outstanding.waiting, self.subscriptions[outstanding.waiting.subscription]
        self._resize(subscription, succeeded=status in ACKNOWLEDGED)
        if status in ACKNOWLEDGED:
            return
        if subscription.dead_letter_topic and waiting.attempts >= subscription.max_attempts:
            self._bury(subscription, waiting)
            return
        waiting.due_at = self.clock.now() + backoff(subscription, waiting.attempts)
        self._waiting.append(waiting)

    def idle(self) -> bool:
        """Nothing waits and nothing is under way."""
        return not self._waiting and not self._outstanding

    def window(self, subscription: Subscription) -> int:
        """How many of its pushes may be under way now."""
        return min(self._windows.get(subscription.name, subscription.first_window), subscription.max_outstanding)

    def _resize(self, subscription: Subscription, *, succeeded: bool) -> None:
        window = self.window(subscription)
        size = window + 1 if succeeded else max(window // 2, subscription.first_window)
        self._windows[subscription.name] = min(size, subscription.max_outstanding)

    def _require(self, topic: str) -> None:
        if topic not in self.topics:
            raise UnknownTopicError(f"Resource not found (resource={topic.rpartition('/')[2]}).")

    def _start(self, item: _Waiting, now: float) -> Push | None:
        subscription = self.subscriptions[item.subscription]
        under_way = sum(other.waiting.subscription == subscription.name for other in self._outstanding.values())
        if under_way >= self.window(subscription):
            return None
        self._waiting.remove(item)
        item.attempts += 1
        self._pushes += 1
        self._outstanding[self._pushes] = _Outstanding(item, now + subscription.ack_deadline)
        return Push(self._pushes, subscription, item.message, item.attempts)

    def _bury(self, subscription: Subscription, waiting: _Waiting) -> None:
        source = {
            "CloudPubSubDeadLetterSourceDeliveryCount": str(waiting.attempts),
            "CloudPubSubDeadLetterSourceSubscription": subscription.name.rpartition("/")[2],
            "CloudPubSubDeadLetterSourceSubscriptionProject": subscription.name.split("/")[1],
            "CloudPubSubDeadLetterSourceTopicPublishTime": waiting.message.publish_time,
        }
        self.publish(subscription.dead_letter_topic, waiting.message.data, {**waiting.message.attributes, **source})


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
