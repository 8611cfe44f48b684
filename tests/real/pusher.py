"""Pub/Sub's push front end in the emulator's place: takes messages from a subscription and posts them to a function.

The emulator's own push has two requests under way at most (seen with gcloud SDK 528), where Pub/Sub starts slowly and
goes up to thousands (https://cloud.google.com/pubsub/docs/push, delivery rate). Topic, subscription, redelivery and
back-off stay the emulator's.
"""

import base64
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import requests
from google.api_core.exceptions import DeadlineExceeded, ServiceUnavailable
from google.pubsub_v1 import ReceivedMessage, SubscriberClient

_POST_SECONDS = 590.0
_PULL_SECONDS = 2.0


class Pusher:
    """Pushes at most `hands` messages at once, between `start` and `stop`."""

    def __init__(self, subscriber: SubscriberClient, subscription: str, endpoint: str, hands: int) -> None:
        self._subscriber, self._subscription, self._endpoint = subscriber, subscription, endpoint
        self._free = threading.Semaphore(hands)
        self._pool = ThreadPoolExecutor(hands)
        self._stopping = threading.Event()
        self._puller = threading.Thread(target=self._pull, daemon=True)

    def start(self) -> None:
        self._puller.start()

    def stop(self) -> None:
        """Take no further message; those under way fail once the function's process is gone."""
        self._stopping.set()
        self._puller.join(5 * _PULL_SECONDS)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _pull(self) -> None:
        while not self._stopping.is_set():
            if self._free.acquire(timeout=_PULL_SECONDS):
                self._take()

    def _take(self) -> None:
        received = None if self._stopping.is_set() else self._next()
        if received is None:
            self._free.release()
        else:
            self._pool.submit(self._push, received)

    def _next(self) -> ReceivedMessage | None:
        asked = {"subscription": self._subscription, "max_messages": 1}
        try:
            answer = self._subscriber.pull(asked, timeout=_PULL_SECONDS, retry=None)
        except (DeadlineExceeded, ServiceUnavailable):
            return None
        return next(iter(answer.received_messages), None)

    def _push(self, received: ReceivedMessage) -> None:
        try:
            self._settle(received, well=self._post(received))
        finally:
            self._free.release()

    def _post(self, received: ReceivedMessage) -> bool:
        try:
            answer = requests.post(self._endpoint, json=self._envelope(received), timeout=_POST_SECONDS)
        except requests.RequestException:  # the process was killed: as Pub/Sub does, try again later
            return False
        return answer.ok

    def _settle(self, received: ReceivedMessage, *, well: bool) -> None:
        asked: dict[str, Any] = {"subscription": self._subscription, "ack_ids": [received.ack_id]}
        if well:
            self._subscriber.acknowledge(asked)
        else:
            self._subscriber.modify_ack_deadline({**asked, "ack_deadline_seconds": 0})

    def _envelope(self, received: ReceivedMessage) -> dict[str, Any]:
        message = received.message
        return {
            "subscription": self._subscription,
            "message": {
                "data": base64.b64encode(message.data).decode(),
                "messageId": message.message_id,
                "publishTime": message.publish_time.isoformat(),
                "attributes": dict(message.attributes),
            },
        }
