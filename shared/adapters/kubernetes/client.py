"""Calls to the Kubernetes API: one request out, one answer or a named failure back, in the API's own words.

Each call has a connect and a read timeout. The official client connects; its models of the API are not used: lists of
a large cluster would take minutes and gigabytes in them.
"""

import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar
from urllib.parse import quote

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.transport import ApiReply, Call, Transport, is_reset
from shared.errors import BadInput, EbbError, Forbidden, Gone, Retryable, Stale, Terminal
from shared.ports import Traffic

if TYPE_CHECKING:
    from shared.adapters.kubernetes.access import Access

DENIED: Final = re.compile(r'admission webhook "[^"]+" denied the request')
"""A webhook's no, whatever its code: it is about this object, and no right of the account's would change it."""


CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 30.0
PAGE: Final = 500
_LIST_ATTEMPTS: Final = 3
_CHANGED: Final[Mapping[int, type[Stale]]] = {HTTPStatus.NOT_FOUND: Gone, HTTPStatus.CONFLICT: Stale}
_PASSING: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT)
REPEATS: Final = 3  # How often a read is repeated after an answer that passes (429, 5xx): one bad answer is no outage.
FIRST_PAUSE: Final = 0.2
"""Seconds before the first repetition; each later one waits twice as long, and up to half as much again by chance."""
LONGEST_PAUSE: Final = 5.0
"""Where the API server asks for more (Retry-After), the message or the next pass comes again instead."""

Item = TypeVar("Item")
T = TypeVar("T")
Pages: TypeAlias = msgspec.json.Decoder[wire.Page[Item]]


class PageExpired(Retryable):
    """A list's continue token is too old (410): the list must start again."""


class TrafficMeter:
    """Counts the calls that were sent and the bytes that came back. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted = Traffic()

    def count(self, answered: int) -> None:
        with self._lock:
            self._counted = Traffic(self._counted.calls + 1, self._counted.bytes + answered)

    def read(self) -> Traffic:
        return self._counted


class _Reset(Retryable):
    """The connection of a read broke before its answer."""


class KubernetesClient:
    """One cluster's API server. Safe to use from several threads."""

    def __init__(
        self,
        access: "Access",
        *,
        connect_seconds: float = CONNECT_SECONDS,
        read_seconds: float = READ_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._sleep = sleep
        self.meter = TrafficMeter()
        self._transport = Transport(access, (connect_seconds, read_seconds), monotonic)

    def ask(self, call: Call) -> bytes:
        """Return the body. Raises Gone (404), Stale (409), PageExpired (410), Forbidden, Retryable, else Terminal."""
        reply = self.send(call)
        if reply.code >= HTTPStatus.BAD_REQUEST:
            raise _failure(call, reply)
        return reply.body

    def fetch(self, call: Call, decode: Callable[[bytes], T]) -> T:
        """Return the decoded body. Raises as `ask`, and Terminal when it is not of the API's shape."""
        body = self.ask(call)
        with readable(call):
            return decode(body)

    def send(self, call: Call) -> ApiReply:
        """Return the answer; a read is repeated after passing trouble or a reset. Raises Retryable, Terminal."""
        for attempt in range(REPEATS):
            try:
                reply = self._send_authorized(call)
            except _Reset:
                pause = _pause(attempt, "")
            else:
                pause = _pause(attempt, reply.retry_after)
                if call.method != "GET" or not _passes(reply.code) or pause > LONGEST_PAUSE:
                    return reply
            self._sleep(pause)
        return self._send_authorized(call)

    def _send_authorized(self, call: Call) -> ApiReply:
        """Return the answer to a call whose credentials are good. Raises as `send`."""
        reply = self._send(call)
        if reply.code == HTTPStatus.UNAUTHORIZED:  # a token may have expired on the way
            self._transport.renew()
            reply = self._send(call)
        if reply.code == HTTPStatus.UNAUTHORIZED:  # no verdict: its authentication webhook may not have answered
            why = "fresh credentials were refused; if this lasts, check the account's access to the cluster"
            raise Retryable(f"Kubernetes API, {call}", why)
        return reply

    def _send(self, call: Call) -> ApiReply:
        from urllib3.exceptions import HTTPError

        answered = 0
        try:
            reply = self._transport.send(call)
            answered = len(reply.body)
        except (HTTPError, OSError) as fault:
            kind = _Reset if call.method == "GET" and is_reset(fault) else Retryable
            raise kind(f"Kubernetes API, {call}", _no_answer(self._transport.server, fault)) from fault
        finally:
            self.meter.count(answered)
        return reply

    def read_list(self, call: Call, decoder: Pages[Item], gather: Callable[[Iterator[Item]], T]) -> T:
        """Return what `gather` makes of a list, page by page; begun again if it expires. Raises as `fetch`."""
        for _ in range(_LIST_ATTEMPTS):
            try:
                with readable(call):
                    return gather(self._items(call, decoder))
            except PageExpired:
                continue
        raise Retryable(f"Kubernetes API, {call}", f"the list expired {_LIST_ATTEMPTS} times while it was read")

    def _items(self, call: Call, decoder: Pages[Item]) -> Iterator[Item]:
        query = {**call.query, "limit": str(PAGE)}
        while True:
            page = decoder.decode(self.ask(replace(call, query=query)))
            yield from page.items or ()
            if not page.metadata.continue_:
                return
            query = {**query, "continue": page.metadata.continue_}


_POOL: Final = re.compile(r"^(<.*?>|HTTPS?Connection(Pool)?\(.*?\)): ")


def _no_answer(server: str, fault: Exception) -> str:
    """Return what stopped a request, without the client's objects, and as kubectl if nobody listens there."""
    reason = getattr(fault, "reason", None) or fault
    if isinstance(reason.__cause__, ConnectionRefusedError):
        return f"the connection to the server {server} was refused - is that the right host and port?"
    return f"no answer from {server} ({getattr(reason.__cause__, 'strerror', None) or _POOL.sub('', str(reason))})"


@contextmanager
def readable(call: Call) -> Iterator[None]:
    """Raise Terminal for an answer whose JSON, shape or quantities cannot be read."""
    try:
        yield
    except (msgspec.MsgspecError, RecursionError, BadInput) as fault:
        raise Terminal(f"Kubernetes API, {call}", f"the answer cannot be read: {fault}") from fault


def segment(text: str) -> str:
    return quote(text, safe="")


def _failure(call: Call, reply: ApiReply) -> EbbError:
    message = reply.status.message
    if reply.code == HTTPStatus.FORBIDDEN and DENIED.search(message) is None:
        return Forbidden(
            f"not allowed to {call.verb} {call.resource}", f"{message}; {call.granted_by} shows how to grant it"
        )
    what, detail = f"Kubernetes API, {call}", f"{reply.code} {message}"
    changed = _CHANGED.get(reply.code)
    if changed is not None:
        return changed(f"{what}: {detail}")
    if reply.code == HTTPStatus.GONE:
        return PageExpired(what, detail)
    return Retryable(what, detail) if _passes(reply.code) else Terminal(what, detail)


def _passes(code: int) -> bool:
    return code >= HTTPStatus.INTERNAL_SERVER_ERROR or code in _PASSING


def _pause(attempt: int, retry_after: str) -> float:
    """Return how long to wait; a Retry-After in seconds counts where it is longer, a date is passed over."""
    asked = float(retry_after) if retry_after.isdecimal() else 0.0
    own = FIRST_PAUSE * (1 << attempt) * (1 + random.random() / 2)  # noqa: S311 - callers are not to come all at once
    return max(own, asked)
