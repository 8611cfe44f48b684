"""The push envelope in which Pub/Sub delivers a message over HTTP.

Imports no client, so that a cold start that only refuses a message stays cheap.
"""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from shared.core.policy.times import YEARS
from shared.errors import BadOrder

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
