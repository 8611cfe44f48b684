"""The simulated Pub/Sub queue, with delays, losses and repeats."""

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
    published: list[tuple[str, Message]] = field(default_factory=list)
    """Every message ever published, with its topic: for tests."""
    _waiting: list[Push] = field(default_factory=list)
    _under_way: dict[int, Push] = field(default_factory=dict)
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
