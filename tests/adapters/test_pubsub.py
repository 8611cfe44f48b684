"""Pub/Sub's adapter beyond the laws of `OrderBus`; whatever is posted to the drainer is a message or a BadOrder."""

import json
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from google.pubsub_v1 import PublisherClient, SubscriberClient
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.pubsub import PubSubOrders, PushMessage, may_publish, unwrap
from shared.core.reasons import Outcome
from shared.core.records.orders import result_of
from shared.errors import BadOrder, EbbError, Retryable, Terminal
from tests.adapters.scripted import patience
from tests.builders import order
from tests.depth import cases
from tests.grpc_stand_in import GrpcStandIn
from tests.real.emulators import PubSubEmulator

TOPIC = "projects/p/topics/orders"
SECONDS = 30.0


@cases(
    "expected, status, sentence",
    ("no permission", Terminal, "PERMISSION_DENIED", "roles/pubsub.publisher"),
    ("no such topic", Terminal, "NOT_FOUND", "Check its name"),
    ("a message that the topic will never take", Terminal, "INVALID_ARGUMENT", "topics/orders"),
    ("an outage", Retryable, "UNAVAILABLE", "topics/orders"),
    ("out of quota", Retryable, "RESOURCE_EXHAUSTED", "topics/orders"),
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


@pytest.mark.emulator
@pytest.mark.xdist_group("emulator")
def test_whether_one_may_publish_is_asked_of_the_topic(rejected: tuple[str, str]) -> None:
    topic, _ = rejected

    assert may_publish(topic)
    with pytest.raises(Terminal):
        may_publish(f"{topic}-gone")


TEXT = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
DATA = st.binary(max_size=20).map(lambda data: b64encode(data).decode()) | TEXT
TIME = st.datetimes().map(lambda time: f"{time.isoformat()}+05:00") | st.datetimes().map(lambda time: f"{time}Z") | TEXT
NAMES = ("data", "messageId", "message_id", "publishTime", "publish_time", "attributes", "orderingKey")


def message(**changes: Any) -> dict[str, Any]:
    given_fields = {
        "data": b64encode(b'{"node": "gke-x"}').decode(),
        "messageId": "4711",
        "message_id": "4711",
        "publishTime": "2026-03-04T22:00:00.123Z",
        "publish_time": "2026-03-04T22:00:00.123Z",
        "attributes": {"node": "gke-x"},
        **changes,
    }
    return {name: value for name, value in given_fields.items() if value is not None}


def unwrapped(given: dict[str, Any]) -> PushMessage:
    return unwrap(json.dumps({"message": given}).encode())


def test_a_real_envelope_gives_its_message() -> None:
    envelope = {"message": message(), "subscription": "projects/p/subscriptions/s", "deliveryAttempt": 2}

    assert unwrap(json.dumps(envelope).encode()) == PushMessage(
        data=b'{"node": "gke-x"}',
        message_id="4711",
        published_at=datetime(2026, 3, 4, 22, 0, 0, 123000, tzinfo=UTC),
        attributes={"node": "gke-x"},
    )


@cases(
    "expected, changes",
    ("a message of attributes only", "data", {"data": None}),
    ("snake case only", "names", {"messageId": None, "publishTime": None}),
    ("camel case only", "names", {"message_id": None, "publish_time": None}),
    ("no attributes", "attributes", {"attributes": None}),
    ("nanoseconds", "nanoseconds", {"publishTime": "2026-03-04T22:00:00.123456789Z"}),
    ("another zone", "offset", {"publishTime": "2026-03-04T23:00:00.123+01:00"}),
)
def test_every_form_that_pubsub_sends_is_read(expected: str, changes: dict[str, Any]) -> None:
    plain = unwrapped(message())

    read = unwrapped(message(**changes))

    assert read.message_id == "4711"
    assert abs(read.published_at - plain.published_at) < timedelta(milliseconds=1)
    assert read.published_at.utcoffset() == timedelta(0)
    assert (read.data == b"") == (expected == "data")
    assert (read.attributes == {}) == (expected == "attributes")


@cases(
    "path, envelope",
    ("no JSON", "envelope", None),
    ("a list", "envelope", []),
    ("an object without message", "message", {}),
    ("a message that is text", "message", {"message": "text"}),
    ("an unwrapped payload", "message", {"data": "eA=="}),
    ("data that is no base64", r"message\.data", {"message": message(data="%%%")}),
    ("data that is not ASCII", r"message\.data", {"message": message(data="é")}),
    ("data cut short", r"message\.data", {"message": message(data="eA=")}),
    ("data that is an object", r"message\.data", {"message": message(data={"node": "gke-x"})}),
    ("no id", r"message\.messageId", {"message": message(messageId=None, message_id=None)}),
    ("an id that is a number", r"message\.messageId", {"message": message(messageId=7)}),
    ("no time", r"message\.publishTime", {"message": message(publishTime=None, publish_time=None)}),
    ("a time in words", r"message\.publishTime", {"message": message(publishTime="today")}),
    ("no zone", r"message\.publishTime", {"message": message(publishTime="2026-03-04T22:00:00")}),
    ("before all time", r"message\.publishTime", {"message": message(publishTime="0001-01-01T00:00:00+05:00")}),
    ("after all time", r"message\.publishTime", {"message": message(publishTime="9999-12-31T23:59:59Z")}),
    ("attributes in a list", r"message\.attributes", {"message": message(attributes=["a"])}),
    ("an attribute's number", r"message\.attributes", {"message": message(attributes={"a": 1})}),
    ("an attempt in quotes", "deliveryAttempt", {"message": message(), "deliveryAttempt": "2"}),
    ("an attempt that is true", "deliveryAttempt", {"message": message(), "deliveryAttempt": True}),
)
def test_a_malformed_envelope_is_named_by_its_path(path: str, envelope: object) -> None:
    with pytest.raises(BadOrder, match=f"^{path}: "):
        unwrap(json.dumps(envelope).encode())


@given(JSON | st.fixed_dictionaries({"message": JSON, "deliveryAttempt": JSON}))
def test_any_json_is_a_message_or_a_bad_order(envelope: object) -> None:
    message_or_named(envelope)


@given(
    st.dictionaries(st.sampled_from(NAMES), JSON, max_size=3),
    st.fixed_dictionaries({"data": DATA, "publishTime": TIME, "messageId": TEXT}),
)
def test_any_nearly_right_envelope_is_a_message_or_a_bad_order(changes: dict[str, Any], right: dict[str, Any]) -> None:
    message_or_named({"message": {**right, **changes}})
    message_or_named({"message": {**changes, **right}})


def message_or_named(envelope: object) -> None:
    try:
        read = unwrap(json.dumps(envelope).encode())
    except BadOrder:
        return
    assert read.message_id
    assert read.published_at + timedelta(minutes=10) > read.published_at
