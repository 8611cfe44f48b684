"""The port `OrderBus` over Pub/Sub, and the push envelope in which Pub/Sub delivers a message over HTTP.

Uses the service's plain client: one call, one answer. The batching publisher would send from a background thread, and a
function's CPU stands still once it has answered. `PUBSUB_EMULATOR_HOST` replaces the real service. Clients are imported
when they are made, so that a cold start that only refuses a message stays cheap.
"""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from shared.adapters.google_failures import CALL_SECONDS, Service, call_options
from shared.core.policy.values import YEARS
from shared.core.records.orders import DrainResult, Order, encode
from shared.errors import BadOrder

_MOST_ATTRIBUTES: Final = 100
_MOST_VALUE_BYTES: Final = 1024
_PUBLISH: Final = "pubsub.topics.publish"
"""Limits of one message (https://cloud.google.com/pubsub/quotas#resource_limits)."""


class PubSubOrders:
    """Topics of one cluster; an empty topic name means that nobody wants those messages. Safe for threads."""

    def __init__(
        self, topic: str, rejected_topic: str = "", results_topic: str = "", call_seconds: float = CALL_SECONDS
    ) -> None:
        """Make the client.

        Raises:
            Terminal: there is no identity to ask with.
        """
        from google.pubsub_v1 import PublisherClient

        self._topic, self._rejected_topic, self._results_topic = topic, rejected_topic, results_topic
        with _service(topic).naming_failures():
            self._client = PublisherClient()
        self._bounds = call_options(call_seconds)

    def publish(self, order: Order) -> None:
        """Publish and wait until the topic has it. Raises Retryable, Terminal."""
        self._send(self._topic, encode(order), order.attributes)

    def reject(self, data: bytes, attributes: Mapping[str, str], why: str) -> None:
        """Keep a message as it came, with `why` as a further attribute. Raises Retryable, Terminal."""
        if self._rejected_topic:
            self._send(self._rejected_topic, data, {**_own_attributes(attributes), "why": _shorten(why)})

    def report(self, result: DrainResult) -> None:
        """Publish a drain's result as JSON. Raises Retryable, Terminal."""
        if self._results_topic:
            self._send(self._results_topic, msgspec.json.encode(result), {})

    def _send(self, topic: str, data: bytes, attributes: Mapping[str, str]) -> None:
        message = {"data": data, "attributes": dict(attributes)}
        with _service(topic).naming_failures():
            self._client.publish(request={"topic": topic, "messages": [message]}, **self._bounds)


def may_publish(topic: str, call_seconds: float = CALL_SECONDS) -> bool:
    """Whether this identity may publish to the topic. An emulator knows no rights: every topic it has will do.

    Raises:
        Retryable: no answer. Terminal: there is no such topic, or no identity to ask with.
    """
    from google.api_core.exceptions import MethodNotImplemented
    from google.pubsub_v1 import PublisherClient

    bounds = call_options(call_seconds)
    with _service(topic).naming_failures():
        client = PublisherClient()
        try:
            asked = {"resource": topic, "permissions": [_PUBLISH]}
            return _PUBLISH in client.test_iam_permissions(request=asked, **bounds).permissions
        except MethodNotImplemented:
            client.get_topic(request={"topic": topic}, **bounds)
            return True


def _service(topic: str) -> Service:
    return Service(f"Pub/Sub topic {topic}", "Check its name and that this identity has roles/pubsub.publisher on it.")


def _own_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    """Leave out what only Google may set (a `goog` prefix is refused), and leave room for one more."""
    ours = [(key, value) for key, value in attributes.items() if not key.startswith("goog")]
    return dict(ours[: _MOST_ATTRIBUTES - 1])


def _shorten(text: str) -> str:
    return text.encode()[:_MOST_VALUE_BYTES].decode(errors="ignore")


_LONGEST_ID: Final = 100
"""Pub/Sub's are some seventeen digits; a longer one would stand in every line about the message."""


@dataclass(frozen=True)
class PushMessage:
    """One delivery. `delivery_attempt` is None where the subscription has no dead-letter topic."""

    data: bytes
    message_id: str
    published_at: datetime
    attributes: Mapping[str, str] = field(default_factory=dict)
    delivery_attempt: int | None = None


def unwrap(envelope: object) -> PushMessage:
    """Return the message in a push envelope, i.e. in the request's decoded JSON body.

    Source: https://cloud.google.com/pubsub/docs/push#receive_push. Real envelopes carry `messageId` and
    `message_id`, `publishTime` and `publish_time`; either is enough.

    Raises:
        BadOrder: the envelope is not one; the sentence names the path of the fault.
    """
    body = _mapping(envelope, "envelope")
    message = _mapping(body.get("message"), "message")
    return PushMessage(
        data=_data(message.get("data", "")),
        message_id=_message_id(_either(message, "messageId", "message_id")),
        published_at=_time(_either(message, "publishTime", "publish_time")),
        attributes=_attributes(message.get("attributes")),
        delivery_attempt=_attempt(body.get("deliveryAttempt")),
    )


def _mapping(value: object, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadOrder(f"{path}: not an object; the endpoint takes Pub/Sub push requests with wrapped payloads.")
    return value


def _either(message: Mapping[str, Any], camel: str, snake: str) -> object:
    return message.get(camel) or message.get(snake)


def _data(value: object) -> bytes:
    if not isinstance(value, str):
        raise BadOrder("message.data: not a string of base64.")
    try:
        return b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadOrder(f"message.data: not base64 ({error}).") from error


def _message_id(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_ID:
        raise BadOrder("message.messageId: missing, not a string or too long.")
    return value


def _time(value: object) -> datetime:
    if not isinstance(value, str):
        raise BadOrder("message.publishTime: missing or not a string.")
    try:
        time = msgspec.convert(value, datetime)
    except msgspec.ValidationError as error:
        raise BadOrder(f"message.publishTime: {value[:40]!r} is not an RFC 3339 time.") from error
    if time.tzinfo is None or time.year not in YEARS:
        raise BadOrder(f"message.publishTime: {value[:40]!r} has no zone or cannot be a time of publishing.")
    return time.astimezone(UTC)


def _attributes(value: object) -> Mapping[str, str]:
    if value is None:
        return {}
    attributes = _mapping(value, "message.attributes")
    if not all(isinstance(each, str) for pair in attributes.items() for each in pair):
        raise BadOrder("message.attributes: a key or value is not a string.")
    return dict(attributes)


def _attempt(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise BadOrder("deliveryAttempt: not a whole number.")
