"""Carries pushes and ticks to their endpoints over HTTP, each on a thread of its own.

Which are due, how many at once, and what an answer means, the broker and the jobs decide.
"""

import http.client
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlsplit

from infra.local.broker.queue import Broker, Push
from infra.local.broker.ticks import TickJob


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> int | None:
    """The status of an HTTP POST; None if no answer came in time."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, body, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException):
        return None
    else:
        return response.status
    finally:
        connection.close()


def _start(call: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=call, args=arguments, daemon=True).start()


class Deliverer:
    """Starts what is due; the lock guards broker and jobs. Calls under way end with the process."""

    def __init__(self, broker: Broker, jobs: list[TickJob], lock: AbstractContextManager[Any]) -> None:
        self._broker = broker
        self._lock = lock
        self._jobs = jobs

    def step(self) -> None:
        """Hand every due push and tick to a thread."""
        with self._lock:
            pushes = self._broker.due()
            ticks = [(job, headers) for job in self._jobs if (headers := job.due()) is not None]
        for push in pushes:
            _start(self._push, push)
        for job, headers in ticks:
            _start(self._tick, job, headers)

    def _push(self, push: Push) -> None:
        body = json.dumps(push.envelope()).encode()
        subscription = push.subscription
        headers = {"User-Agent": "APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)"}
        status = post(subscription.endpoint, body, headers, subscription.ack_deadline)
        with self._lock:
            self._broker.settle(push.number, status)

    def _tick(self, job: TickJob, headers: Mapping[str, str]) -> None:
        post(job.url, b"{}", headers, job.attempt_deadline)
        with self._lock:
            job.finish()
