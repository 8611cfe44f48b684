"""The port `OrderBus` over Pub/Sub.

Uses the service's plain client: one call, one answer. The batching publisher would send from a background
thread, and a function's CPU stands still once it has answered. `PUBSUB_EMULATOR_HOST` replaces the real
service.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from shared.adapters.google_failures import CALL_SECONDS, Service, call_options
from shared.core.records.orders import DrainResult, Order, encode

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
