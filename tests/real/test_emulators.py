"""The emulators keep what the state and the order bus rely on: one winner, no lost update, delivery by push."""

import base64
import json
import queue
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from google.api_core.exceptions import AlreadyExists, FailedPrecondition
from google.cloud import firestore
from google.cloud.pubsub_v1 import (  # type: ignore[import-untyped]  # published without types
    PublisherClient,
    SubscriberClient,
)

from shared.adapters.pubsub import may_publish
from shared.errors import Terminal
from tests.real.emulators import FirestoreEmulator, PubSubEmulator

pytestmark = [pytest.mark.emulator, pytest.mark.xdist_group("emulator")]
PROJECT = "ebb-local"
SECONDS = 30.0


@pytest.fixture
def database(firestore_emulator: FirestoreEmulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[firestore.Client]:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator.host)
    client = firestore.Client(project=PROJECT, database="ebb-test")
    yield client
    client.close()  # type: ignore[no-untyped-call]  # the library has no annotation here


def test_a_named_database_does_not_share_documents_with_the_default_one(database: firestore.Client) -> None:
    name = uuid.uuid4().hex
    database.collection("clusters").document(name).create({"paused": False}, timeout=SECONDS)
    other = firestore.Client(project=PROJECT)
    try:
        assert database.collection("clusters").document(name).get(timeout=SECONDS).exists
        assert not other.collection("clusters").document(name).get(timeout=SECONDS).exists
    finally:
        other.close()  # type: ignore[no-untyped-call]  # the library has no annotation here


def test_of_many_that_create_one_document_one_wins(database: firestore.Client) -> None:
    document = database.collection("runs").document(uuid.uuid4().hex)

    def wins(number: int) -> bool:
        try:
            document.create({"owner": number}, timeout=SECONDS)
        except AlreadyExists:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(wins, range(8))) == [False] * 7 + [True]


def test_an_update_from_an_old_reading_is_refused(database: firestore.Client) -> None:
    document = database.collection("clusters").document(uuid.uuid4().hex)
    document.create({"claims": 0}, timeout=SECONDS)
    read = document.get(timeout=SECONDS)
    option = database.write_option(last_update_time=read.update_time)

    document.update({"claims": 1}, option=option, timeout=SECONDS)

    with pytest.raises(FailedPrecondition):
        document.update({"claims": 2}, option=option, timeout=SECONDS)
    assert document.get(timeout=SECONDS).to_dict() == {"claims": 1}


def test_whether_one_may_publish_is_asked_of_the_topic(
    pubsub_emulator: PubSubEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator.host)
    topic = f"projects/{PROJECT}/topics/t{uuid.uuid4().hex}"
    PublisherClient().create_topic(name=topic, timeout=SECONDS)

    assert may_publish(topic)
    with pytest.raises(Terminal):
        may_publish(f"{topic}-gone")


def test_a_push_subscription_delivers_to_loopback_and_comes_again_until_it_is_acknowledged(
    pubsub_emulator: PubSubEmulator, inbox: "Inbox", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator.host)
    name = f"orders-{uuid.uuid4().hex}"
    topic, subscription = f"projects/{PROJECT}/topics/{name}", f"projects/{PROJECT}/subscriptions/{name}"
    with SubscriberClient() as subscriber:
        publisher = PublisherClient()
        try:
            publisher.create_topic(name=topic, timeout=SECONDS)
            push = {"push_endpoint": inbox.url}
            subscriber.create_subscription(
                request={"name": subscription, "topic": topic, "push_config": push}, timeout=SECONDS
            )
            sent = publisher.publish(topic, b'{"node": "gke-a"}', kind="drain", node="gke-a").result(SECONDS)
        finally:
            publisher.stop()
            publisher.transport.close()
        # The inbox refuses the first delivery.
        first, second = inbox.next(), inbox.next()

    assert first["subscription"] == subscription
    assert first["message"]["messageId"] == second["message"]["messageId"] == sent
    assert json.loads(base64.b64decode(second["message"]["data"])) == {"node": "gke-a"}
    assert second["message"]["attributes"] == {"kind": "drain", "node": "gke-a"}


class Inbox:
    """An endpoint on loopback that answers the first delivery with 503 and all later ones with 204."""

    def __init__(self) -> None:
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self._answers = iter([503])
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def next(self) -> dict[str, Any]:
        return self._messages.get(timeout=SECONDS)

    def receive(self, message: dict[str, Any]) -> int:
        self._messages.put(message)
        return next(self._answers, 204)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        inbox = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(inbox.receive(json.loads(body)))
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing: what arrived is what the test asserts."""

        return Handler


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    box = Inbox()
    thread = threading.Thread(target=box.server.serve_forever)
    thread.start()
    yield box
    box.server.shutdown()
    box.server.server_close()
    thread.join()
