"""The port `OrderBus` over Pub/Sub, and the push envelope in which Pub/Sub delivers a message over HTTP.

The service's plain client makes one call, one answer: the batching publisher sends from a thread, and a function's CPU
stands still once it has answered. `PUBSUB_EMULATOR_HOST` replaces the service.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from shared.adapters.google_failures import CALL_SECONDS, Service, call_options, shared_credentials
from shared.core.policy.values import YEARS
from shared.core.records.orders import DrainResult, Order, encode
from shared.errors import BadOrder

if TYPE_CHECKING:
    from google.pubsub_v1 import PublisherClient

_PUBLISH: Final = "pubsub.topics.publish"
_MOST_ATTRIBUTES: Final = 100
_MOST_VALUE_BYTES: Final = 1024  # Limits of one message (https://cloud.google.com/pubsub/quotas#resource_limits).


class PubSubOrders:
    """Topics of one cluster; an empty topic name means that nobody wants those messages. Safe for threads."""

    def __init__(
        self, topic: str, rejected_topic: str = "", results_topic: str = "", call_seconds: float = CALL_SECONDS
    ) -> None:
        """Make the client. Raises Terminal without an identity; in a function Retryable, for its own may come late."""
        self._topic, self._rejected_topic, self._results_topic = topic, rejected_topic, results_topic
        with _service(topic).naming_failures():
            self._client = _publisher()
        self._bounds = call_options(call_seconds)

    def publish(self, order: Order) -> None:
        self._send(self._topic, encode(order), order.attributes)

    def reject(self, data: bytes, attributes: Mapping[str, str], why: str) -> None:
        """Keep a message as it came, with `why` as a further attribute. Raises Retryable, Terminal."""
        if self._rejected_topic:
            short = why.encode()[:_MOST_VALUE_BYTES].decode(errors="ignore")
            self._send(self._rejected_topic, data, {**_own_attributes(attributes), "why": short})

    def report(self, result: DrainResult) -> None:
        if self._results_topic:
            self._send(self._results_topic, msgspec.json.encode(result), {})

    def announce(self, kind: str, message: Mapping[str, object]) -> None:
        if self._results_topic:
            self._send(self._results_topic, msgspec.json.encode(message), {"kind": kind})

    def _send(self, topic: str, data: bytes, attributes: Mapping[str, str]) -> None:
        message = {"data": data, "attributes": dict(attributes)}
        with _service(topic).naming_failures():
            self._client.publish(request={"topic": topic, "messages": [message]}, **self._bounds)


def may_publish(topic: str, call_seconds: float = CALL_SECONDS) -> bool:
    """Whether this identity may publish to the topic; an emulator's topics all will do. Raises Retryable, Terminal."""
    from google.api_core.exceptions import MethodNotImplemented

    bounds = call_options(call_seconds)
    with _service(topic).naming_failures():
        client = _publisher()
        try:
            asked = {"resource": topic, "permissions": [_PUBLISH]}
            return _PUBLISH in client.test_iam_permissions(request=asked, **bounds).permissions
        except MethodNotImplemented:
            client.get_topic(request={"topic": topic}, **bounds)
            return True


def _publisher() -> "PublisherClient":
    # Imported here: a cold start that only refuses a message stays cheap.
    from google.pubsub_v1 import PublisherClient

    return PublisherClient(credentials=shared_credentials(anonymous=bool(os.environ.get("PUBSUB_EMULATOR_HOST"))))


def _service(topic: str) -> Service:
    return Service(f"Pub/Sub topic {topic}", "Check its name and that this identity has roles/pubsub.publisher on it.")


def _own_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    """Leave out what only Google may set (a `goog` prefix is refused), and leave room for one more."""
    ours = [(key, value) for key, value in attributes.items() if not key.startswith("goog")]
    return dict(ours[: _MOST_ATTRIBUTES - 1])


_LONGEST_ID: Final = 100
"""Pub/Sub's are some seventeen digits; a longer one would stand in every line about the message."""
_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=_LONGEST_ID)]
_Time = Annotated[datetime, msgspec.Meta(tz=True)]


class _Message(msgspec.Struct, frozen=True):
    data: bytes = b""
    messageId: _Id | None = None  # noqa: N815 - Pub/Sub's name
    message_id: _Id | None = None
    publishTime: _Time | None = None  # noqa: N815 - Pub/Sub's name
    publish_time: _Time | None = None
    attributes: dict[str, str] | None = None


class _Envelope(msgspec.Struct, frozen=True, rename="camel"):
    message: _Message | None = None
    delivery_attempt: int | None = None


@dataclass(frozen=True)
class PushMessage:
    """One delivery."""

    data: bytes
    message_id: str
    published_at: datetime
    attributes: Mapping[str, str] = field(default_factory=dict)


def unwrap(body: bytes) -> PushMessage:
    """Return the message in a push envelope. Raises BadOrder, with the fault's path, for any other body.

    Real envelopes carry `messageId` and `message_id`, `publishTime` and `publish_time`; either is enough
    (https://cloud.google.com/pubsub/docs/push#receive_push).
    """
    try:
        message = msgspec.json.decode(body, type=_Envelope).message
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        what, _, path = str(fault).partition(" - at `$.")
        place = path.rstrip("`").removesuffix("[...]") or "envelope"
        raise BadOrder(f"{place}: {what}. Send Pub/Sub push requests with wrapped payloads.") from fault
    if message is None:
        raise BadOrder("message: missing; the endpoint takes Pub/Sub push requests with wrapped payloads.")
    message_id, published_at = message.messageId or message.message_id, message.publishTime or message.publish_time
    if message_id is None:
        raise BadOrder("message.messageId: missing.")
    if published_at is None or published_at.year not in YEARS:
        raise BadOrder("message.publishTime: missing, or it cannot be a time of publishing.")
    return PushMessage(message.data, message_id, published_at.astimezone(UTC), message.attributes or {})
