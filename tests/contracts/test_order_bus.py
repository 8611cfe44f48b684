"""The laws of the port `OrderBus`, the same for the fake and Pub/Sub."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from google.pubsub_v1 import PublisherClient, SubscriberClient

from shared.adapters.pubsub import PubSubOrders
from shared.core.reasons import Outcome
from shared.core.records.orders import Order, decode, encode, result_of
from shared.ports import OrderBus
from tests.builders import CLUSTER, NOW, order
from tests.fakes import FakeOrderBus

EMULATOR = (pytest.mark.emulator, pytest.mark.xdist_group("emulator"))
SECONDS = 30.0

Message = tuple[bytes, Mapping[str, str]]


@dataclass
class Road:
    """A bus, and what stands at the end of each of its topics."""

    bus: OrderBus
    orders: Callable[[], list[Message]]
    rejected: Callable[[], list[Message]]
    results: Callable[[], list[Message]]


def fake_road() -> Road:
    bus = FakeOrderBus()
    return Road(
        bus,
        lambda: [(encode(sent), sent.attributes) for sent in bus.published],
        lambda: [(data, {**attributes, "why": why}) for data, attributes, why in bus.rejected],
        lambda: [
            *((msgspec.json.encode(sent), {}) for sent in bus.reported),
            *((msgspec.json.encode(message), {"kind": kind}) for kind, message in bus.announced),
        ],
    )


@contextmanager
def pubsub_road() -> Iterator[Road]:
    prefix = f"ebb-{uuid4().hex[:8]}"
    with PublisherClient() as topics, SubscriberClient() as readers:
        pulls = [_topic(topics, readers, f"{prefix}-{kind}") for kind in ("orders", "rejected", "results")]
        orders, rejected, results = (f"projects/p/topics/{prefix}-{kind}" for kind in ("orders", "rejected", "results"))
        yield Road(PubSubOrders(orders, rejected, results), *pulls)


def _topic(topics: PublisherClient, readers: SubscriberClient, name: str) -> Callable[[], list[Message]]:
    topic, subscription = f"projects/p/topics/{name}", f"projects/p/subscriptions/{name}"
    topics.create_topic(request={"name": topic}, timeout=SECONDS)
    readers.create_subscription(request={"name": subscription, "topic": topic}, timeout=SECONDS)

    def pull() -> list[Message]:
        request = {"subscription": subscription, "max_messages": 10}
        answer: Any = readers.pull(request=request, timeout=SECONDS)
        return [(message.message.data, dict(message.message.attributes)) for message in answer.received_messages]

    return pull


@pytest.fixture(params=["fake", pytest.param("pubsub", marks=EMULATOR)])
def road(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Road]:
    if request.param == "fake":
        yield fake_road()
        return
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", request.getfixturevalue("pubsub_emulator").host)
    with pubsub_road() as made:
        yield made


def test_an_order_arrives_as_it_was_given(road: Road) -> None:
    given = order("gke-a", ignore=("windows",), generation=3)

    road.bus.publish(given)

    [(data, _)] = road.orders()
    assert read(data) == given


def test_the_attributes_repeat_kind_cluster_node_and_order_id(road: Road) -> None:
    road.bus.publish(order("gke-a"))

    [(_, attributes)] = road.orders()
    assert attributes == {"kind": "drain", "cluster": CLUSTER, "node": "gke-a", "order_id": "order"}


def test_a_rejected_message_is_kept_as_it_came_with_the_reason(road: Road) -> None:
    road.bus.reject(b"\x00no json", {"sent-by": "somebody", "timeout": "5", "topic": "t"}, "message data: not JSON")

    [(data, attributes)] = road.rejected()
    assert data == b"\x00no json"
    assert attributes == {"sent-by": "somebody", "timeout": "5", "topic": "t", "why": "message data: not JSON"}


def test_a_rejected_message_without_data_is_kept_too(road: Road) -> None:
    road.bus.reject(b"", {}, "message data: not JSON")

    assert road.rejected() == [(b"", {"why": "message data: not JSON"})]


def test_a_result_is_a_json_object(road: Road) -> None:
    road.bus.report(result_of(order(), Outcome.REMOVED))

    [(data, _)] = road.results()
    expected = {"order_id": "order", "cluster": CLUSTER, "node": "n1", "outcome": "removed"}
    assert msgspec.json.decode(data) == {**expected, "why": "", "detail": "", "dry_run": False}


def test_what_is_announced_is_a_json_object_whose_attribute_names_its_kind(road: Road) -> None:
    road.bus.announce("weekly_summary", {"text": "<b>", "saved": 1.5})

    [(data, attributes)] = road.results()
    assert (msgspec.json.decode(data), attributes) == ({"text": "<b>", "saved": 1.5}, {"kind": "weekly_summary"})


def read(data: bytes) -> Order:
    return decode(data, CLUSTER, "message", NOW)
