"""What Pub/Sub's adapter does beyond the laws of `OrderBus`: naming refusals, and the limits of a message."""

from uuid import uuid4

import pytest
from google.pubsub_v1 import PublisherClient, SubscriberClient

from shared.adapters.pubsub import PubSubOrders
from shared.core.reasons import Outcome
from shared.core.records.orders import result_of
from shared.errors import EbbError, Retryable, Terminal
from tests.adapters.scripted import patience
from tests.builders import order
from tests.grpc_stand_in import GrpcStandIn
from tests.real.emulators import PubSubEmulator

TOPIC = "projects/p/topics/orders"
SECONDS = 30.0


@pytest.mark.parametrize(
    ("expected", "status", "sentence"),
    [
        pytest.param(Terminal, "PERMISSION_DENIED", "roles/pubsub.publisher", id="no permission"),
        pytest.param(Terminal, "NOT_FOUND", "Check its name", id="no such topic"),
        pytest.param(Terminal, "INVALID_ARGUMENT", "topics/orders", id="a message that the topic will never take"),
        pytest.param(Retryable, "UNAVAILABLE", "topics/orders", id="an outage"),
        pytest.param(Retryable, "RESOURCE_EXHAUSTED", "topics/orders", id="out of quota"),
    ],
)
def test_a_refusal_is_named(
    expected: type[EbbError], status: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with GrpcStandIn(status=status) as service:
        monkeypatch.setenv("PUBSUB_EMULATOR_HOST", service.host)
        orders = PubSubOrders(TOPIC, call_seconds=patience(expected))

        with pytest.raises(expected, match=sentence):
            orders.publish(order())


def test_without_the_side_roads_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with GrpcStandIn(status="INTERNAL") as service:
        monkeypatch.setenv("PUBSUB_EMULATOR_HOST", service.host)
        orders = PubSubOrders(TOPIC)

        orders.reject(b"x", {}, "why")
        orders.report(result_of(order(), Outcome.REMOVED))

        assert service.calls == []


@pytest.fixture
def rejected(pubsub_emulator: PubSubEmulator, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator.host)
    topic, subscription = (f"projects/p/{kind}/ebb-{uuid4().hex[:8]}" for kind in ("topics", "subscriptions"))
    with PublisherClient() as topics, SubscriberClient() as readers:
        topics.create_topic(request={"name": topic}, timeout=SECONDS)
        readers.create_subscription(request={"name": subscription, "topic": topic}, timeout=SECONDS)
    return topic, subscription


@pytest.mark.emulator
@pytest.mark.xdist_group("emulator")
def test_a_rejected_message_at_the_limits_is_kept(rejected: tuple[str, str]) -> None:
    topic, subscription = rejected
    attributes = {**{f"a{number}": "x" for number in range(99)}, "googclient_schemaencoding": "JSON"}

    PubSubOrders(TOPIC, topic).reject(b"x", attributes, "é" * 1000)

    with SubscriberClient() as readers:
        pulled = readers.pull(request={"subscription": subscription, "max_messages": 1}, timeout=SECONDS)
    kept = dict(pulled.received_messages[0].message.attributes)
    assert kept == {**{f"a{number}": "x" for number in range(99)}, "why": "é" * 512}
