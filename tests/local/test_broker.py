"""Pushes come at least once and back off, in a window that grows and narrows."""

import base64
import json

import pytest

from infra.local.clocks import ManualClock
from infra.local.google_apis import Broker, Push, Subscription, UnknownTopicError

TOPIC, NAME = "projects/p/topics/t", "projects/p/subscriptions/s"


def scaled(outstanding: int = 16) -> tuple[ManualClock, Broker]:
    clock = ManualClock(1000.0)
    broker = Broker(clock, {TOPIC})
    broker.subscribe(Subscription(NAME, TOPIC, "http://x", 60, 2, 10, max_outstanding=outstanding))
    return clock, broker


def only(pushes: list[Push]) -> Push:
    (push,) = pushes
    return push


def test_a_push_carries_the_standard_envelope() -> None:
    _, broker = scaled()
    broker.publish(TOPIC, b'{"node":"a"}', {"kind": "drain"})
    body = only(broker.due()).envelope()
    message = body["message"]
    assert json.loads(base64.b64decode(message["data"])) == {"node": "a"}
    assert (message["attributes"], message["messageId"]) == ({"kind": "drain"}, "1")
    assert (body["subscription"], body["deliveryAttempt"]) == (NAME, 1)


@pytest.mark.parametrize("status", [102, 200, 201, 202, 204])
def test_a_success_is_an_acknowledgement(status: int) -> None:
    _, broker = scaled()
    broker.publish(TOPIC, b"", {})
    broker.settle(only(broker.due()).number, status)
    assert broker.idle()


@pytest.mark.parametrize("status", [None, 203, 301, 400, 503])
def test_anything_else_comes_back_after_a_growing_wait(status: int | None) -> None:
    clock, broker = scaled()
    broker.publish(TOPIC, b"", {})
    pushes, waits = broker.due(), []
    for _ in range(5):
        broker.settle(only(pushes).number, status)
        failed_at = clock.now()
        while not (pushes := broker.due()):
            clock.advance(1)
        waits.append(int(clock.now() - failed_at))
    assert waits == [2, 4, 8, 10, 10]


def test_a_push_without_an_answer_comes_again_after_the_deadline_and_a_late_answer_changes_nothing() -> None:
    clock, broker = scaled()
    broker.publish(TOPIC, b"", {})
    late = only(broker.due())
    clock.advance(60)
    assert broker.due() == []
    clock.advance(2)
    again = only(broker.due())
    broker.settle(late.number, 204)
    assert (again.attempt, broker.idle()) == (2, False)


def test_pushes_under_way_are_bounded() -> None:
    _, broker = scaled(outstanding=2)
    for _ in range(5):
        broker.publish(TOPIC, b"", {})
    first = broker.due()
    assert (len(first), broker.due()) == (2, [])
    broker.settle(first[0].number, 200)
    assert len(broker.due()) == 1


def test_a_topic_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownTopicError):
        scaled()[1].publish("projects/p/topics/none", b"", {})


def test_the_window_opens_with_three_and_doubles_with_each_full_round_of_acknowledgements() -> None:
    _, broker = scaled(outstanding=40)
    for _ in range(200):
        broker.publish(TOPIC, b"", {})

    rounds = []
    for _ in range(6):
        pushes = broker.due()
        rounds.append(len(pushes))
        for push in pushes:
            broker.settle(push.number, 204)

    assert rounds == [3, 6, 12, 24, 40, 40]


@pytest.mark.parametrize("status", [None, 503])
def test_the_window_narrows_with_a_failure_but_never_below_its_first(status: int | None) -> None:
    _, broker = scaled()
    for _ in range(60):
        broker.publish(TOPIC, b"", {})
    for _ in range(2):
        for push in broker.due():
            broker.settle(push.number, 204)
    under_way, sizes = broker.due(), []
    assert len(under_way) == 12

    for push in under_way[:4]:
        broker.settle(push.number, status)
        sizes.append(broker.window(push.subscription))

    assert sizes == [6, 3, 3, 3]
