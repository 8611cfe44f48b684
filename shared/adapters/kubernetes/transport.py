"""One request to the API server and its answer, over a way in that is looked up again when it no longer leads there.

GKE rotates a cluster's CA and with it its address, and an instance may live for days.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from shared.adapters.kubernetes.access import Access
from shared.errors import EbbError

if TYPE_CHECKING:
    from urllib3 import PoolManager, Timeout

_CONNECTIONS: Final = 32
"""More than the evictions that run in parallel, so that none waits for a connection."""
LOOK_AGAIN_AFTER: Final = 60.0
"""Seconds between two questions where the cluster is: an API server that is down has not moved."""


@dataclass(frozen=True)
class RawRequest:
    """What is sent; `target` is the path with its query."""

    method: str
    target: str
    body: bytes | None
    headers: Mapping[str, str]


@dataclass(frozen=True)
class RawAnswer:
    """What came back; `retry_after` is the header of that name, empty without it."""

    code: int
    body: bytes
    retry_after: str = ""


class Connection:
    """One address with its CA, its credentials and its connections."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self._pool = _pool(access)

    def send(self, request: RawRequest, timeout: "Timeout") -> RawAnswer:
        """Return the answer. Raises urllib3's HTTPError, OSError, and what fetching credentials raises."""
        header = self.access.bearer.header()
        answer = self._pool.request(
            request.method,
            f"{self.access.server.rstrip('/')}{request.target}",
            body=request.body,
            headers={**request.headers, **({"Authorization": header} if header else {})},
            timeout=timeout,
        )
        return RawAnswer(answer.status, answer.data, answer.headers.get("Retry-After", ""))


def _pool(access: Access) -> "PoolManager":
    from urllib3 import PoolManager, ProxyManager

    options: dict[str, Any] = {"maxsize": _CONNECTIONS, "retries": 0, "ssl_context": access.tls}
    if access.name:
        options |= {"server_hostname": access.name, "assert_hostname": access.name}
    return ProxyManager(access.proxy, **options) if access.proxy else PoolManager(**options)


class _RequestLoss(Enum):
    """How a request was lost."""

    UNREACHED = "unreached"
    """No connection, or no trust in who answers: nothing was sent."""
    RESET = "reset"
    """The connection broke: it may have been sent."""
    OTHER = "other"


def _loss_of(fault: Exception) -> _RequestLoss:
    from urllib3.exceptions import (
        ConnectTimeoutError,
        MaxRetryError,
        NewConnectionError,
        ProtocolError,
        SSLError,
    )

    cause = fault.reason if isinstance(fault, MaxRetryError) else fault
    if isinstance(cause, NewConnectionError | ConnectTimeoutError | SSLError):
        return _RequestLoss.UNREACHED
    return _RequestLoss.RESET if isinstance(cause, ProtocolError) else _RequestLoss.OTHER


def is_reset(fault: Exception) -> bool:
    """Return whether the connection broke: the request may have been answered, and a read may be repeated."""
    return _loss_of(fault) is _RequestLoss.RESET


class Transport:
    """The way in that leads to the cluster now. Safe to use from several threads."""

    def __init__(self, access: Access, timeout: "Timeout", monotonic: Callable[[], float] = time.monotonic) -> None:
        self._connection = Connection(access)
        self._timeout = timeout
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._last_looked_at = float("-inf")

    @property
    def server(self) -> str:
        """Where requests go now."""
        return self._connection.access.server

    def renew(self) -> None:
        """Fetch new credentials: the old ones were refused."""
        self._connection.access.bearer.renew()

    def send(self, request: RawRequest) -> RawAnswer:
        """Return the answer; a request that never left goes another way, where there is one by now.

        Raises:
            HTTPError, OSError, EbbError: as `Connection.send`.
        """
        from urllib3.exceptions import HTTPError

        connection = self._connection
        try:
            return connection.send(request, self._timeout)
        except HTTPError as fault:
            if _loss_of(fault) is not _RequestLoss.UNREACHED or not self._is_elsewhere(connection):
                raise
        return self._connection.send(request, self._timeout)

    def _is_elsewhere(self, connection: Connection) -> bool:
        """Whether another way than this one leads to the cluster now; one thread asks, the others wait for it."""
        with self._lock:
            if self._connection is not connection:
                return True
            if self._monotonic() - self._last_looked_at < LOOK_AGAIN_AFTER:
                return False
            self._last_looked_at = self._monotonic()
            access = _look_up_again(connection.access)
            if access is not None:
                self._connection = Connection(access)
            return access is not None


def _look_up_again(access: Access) -> Access | None:
    """Return the way in as it is now; None if it is the same or cannot be read."""
    try:
        return access.find_again()
    except EbbError:
        return None
