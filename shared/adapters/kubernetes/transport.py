"""One request to the API server and its answer, over a way in that is looked up again when it no longer leads there.

GKE rotates a cluster's CA and with it its address, and an instance may live for days.
"""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from shared.adapters.kubernetes import wire
from shared.errors import EbbError

if TYPE_CHECKING:  # reading a dump needs no way in
    from shared.adapters.kubernetes.access import Access

Timeout: TypeAlias = tuple[float, float]  # Seconds to connect, and seconds to wait for the next part of an answer.
_CONNECTIONS: Final = 32  # More than the evictions that run in parallel, so that none waits for a connection.
LOOK_AGAIN_AFTER: Final = 60.0
"""Seconds between two questions where the cluster is: an API server that is down has not moved."""


@dataclass(frozen=True)
class Call:
    """One request. `verb` and `resource` are RBAC's words, for the sentence when it is refused."""

    verb: str
    resource: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    granted_by: str = "infra/rbac.yaml"  # The file with the right to it.

    @property
    def method(self) -> str:
        return {"create": "POST", "patch": "PATCH"}.get(self.verb, "GET")

    @property
    def headers(self) -> dict[str, str]:
        kind = "application/merge-patch+json" if self.verb == "patch" else "application/json"
        return {"Accept": "application/json", **({} if self.body is None else {"Content-Type": kind})}

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}"


class Cause(wire.Partial, frozen=True):
    reason: str = ""
    message: str = ""


class Details(wire.Partial, frozen=True):
    causes: list[Cause] | None = None


class ApiStatus(wire.Partial, frozen=True):
    """The API's answer to a call that failed."""

    message: str = ""
    reason: str = ""
    details: Details | None = None

    @property
    def causes(self) -> list[Cause]:
        return (self.details.causes if self.details else None) or []


@dataclass(frozen=True)
class ApiReply:
    """The API's answer, whatever its code."""

    code: int
    body: bytes
    retry_after: str = ""  # The header of that name.

    @property
    def status(self) -> ApiStatus:
        """The API's own words on a failure; a body that is none of the API's stands in as the message."""
        try:
            return msgspec.json.decode(self.body, type=ApiStatus)
        except (msgspec.MsgspecError, RecursionError):
            return ApiStatus(message=self.body[:200].decode(errors="replace"))


class Connection:
    """One address with its CA, its credentials and its connections: the official client."""

    def __init__(self, access: "Access") -> None:
        from kubernetes.client import ApiClient

        configuration = access.configuration
        configuration.retries, configuration.connection_pool_maxsize = 0, _CONNECTIONS
        self.access = access
        self._client = ApiClient(configuration)
        self._client.user_agent = "ebb"
        self._client.rest_client.pool_manager.connection_pool_kw["ssl_context"] = access.tls

    def send(self, call: Call, timeout: Timeout) -> ApiReply:
        """Return the answer. Raises urllib3's HTTPError, OSError, and what fetching credentials raises."""
        header = self.access.bearer.header()
        headers = {**call.headers, **({"Authorization": header} if header else {})}
        sent = self._client.param_serialize(call.method, call.path, None, call.query, headers, call.body)
        answer = self._client.call_api(*sent, _request_timeout=timeout)
        return ApiReply(answer.status, answer.read(), answer.headers.get("Retry-After", ""))


def is_reset(fault: Exception) -> bool:
    """Return whether the connection broke: the request may have been answered, and a read may be repeated."""
    from urllib3.exceptions import ProtocolError

    return isinstance(_cause(fault), ProtocolError)


def _never_left(fault: Exception) -> bool:
    """Return whether nothing was sent: there was no connection, or no trust in who answers."""
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError, SSLError

    return isinstance(_cause(fault), NewConnectionError | ConnectTimeoutError | SSLError)


def _cause(fault: Exception) -> Exception | None:
    from urllib3.exceptions import MaxRetryError

    return fault.reason if isinstance(fault, MaxRetryError) else fault


class Transport:
    """The way in that leads to the cluster now. Safe to use from several threads."""

    def __init__(self, access: "Access", timeout: Timeout, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._connection = Connection(access)
        self._timeout = timeout
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._last_looked_at = float("-inf")

    @property
    def server(self) -> str:
        """Where requests go now."""
        return str(self._connection.access.configuration.host)

    def renew(self) -> None:
        """Fetch new credentials: the old ones were refused."""
        self._connection.access.bearer.renew()

    def send(self, call: Call) -> ApiReply:
        """Return the answer, another way where the request never left and there is one. Raises as `Connection.send`."""
        from urllib3.exceptions import HTTPError

        connection = self._connection
        try:
            return connection.send(call, self._timeout)
        except HTTPError as fault:
            if not _never_left(fault) or not self._is_elsewhere(connection):
                raise
        return self._connection.send(call, self._timeout)

    def _is_elsewhere(self, connection: Connection) -> bool:
        """Whether another way than this one leads to the cluster now; one thread asks, the others wait for it."""
        with self._lock:
            if self._connection is not connection:
                return True
            if self._monotonic() - self._last_looked_at < LOOK_AGAIN_AFTER:
                return False
            self._last_looked_at = self._monotonic()
            access = None
            with suppress(EbbError):  # where it is cannot be read: the outage stays as it is
                access = connection.access.find_again()
            if access is not None:
                self._connection = Connection(access)
            return access is not None
