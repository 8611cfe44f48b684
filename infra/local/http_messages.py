"""HTTP messages of the simulated servers, Kubernetes Status objects for failures, and plain HTTP to real servers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import urllib3
from urllib3.exceptions import HTTPError

from infra.local.world.kinds import Json


@dataclass(frozen=True)
class HttpRequest:
    """One HTTP request: the path still quoted, header names in lower case, one value for each query name."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def agent(self) -> str:
        """Who asks, by its own word."""
        return self.headers.get("user-agent", "unknown")


@dataclass(frozen=True)
class HttpAnswer:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[HttpRequest], HttpAnswer]


def answer_json(status: int, body: Any, headers: Mapping[str, str] | None = None) -> HttpAnswer:
    return HttpAnswer(status, msgspec.json.encode(body), {"Content-Type": "application/json", **(headers or {})})


class RefusedError(Exception):
    """A request that is answered with a failure Status. `retry_after` is in seconds; 0 sends no header."""

    def __init__(self, code: int, reason: str, message: str, details: Json | None = None, retry_after: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.details = {**(details or {}), **({"retryAfterSeconds": retry_after} if retry_after else {})}
        self.retry_after = retry_after

    def answer(self) -> HttpAnswer:
        headers = {"Retry-After": str(self.retry_after)} if self.retry_after else {}
        details = {"details": self.details} if self.details else {}
        body = status_body("Failure", self.code) | {"message": str(self), "reason": self.reason} | details
        return answer_json(self.code, body, headers)


def status_body(status: str, code: int) -> Json:
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": status, "code": code}


def refusal_about(code: int, reason: str, plural: str, name: str, what: str) -> RefusedError:
    return RefusedError(code, reason, f'{plural} "{name}" {what}', {"name": name, "kind": plural})


def not_found(plural: str, name: str) -> RefusedError:
    return refusal_about(404, "NotFound", plural, name, "not found")


def no_such_path(path: str) -> RefusedError:
    return RefusedError(404, "NotFound", f"the server could not find the requested resource: {path}")


def conflict(plural: str, name: str, why: str) -> RefusedError:
    message = f'Operation cannot be fulfilled on {plural} "{name}": {why}'
    return RefusedError(409, "Conflict", message, {"name": name, "kind": plural})


def bad_request(message: str) -> RefusedError:
    return RefusedError(400, "BadRequest", message)


MERGE_PATCH = "application/merge-patch+json"
JSON = "application/json"
_HTTP = urllib3.PoolManager(maxsize=64)
"""As many connections to one server as pushes are under way at once."""


class RefusedCall(Exception):
    """The API answered with a failure, or not at all (status 0)."""

    def __init__(self, method: str, path: str, status: int, body: str) -> None:
        super().__init__(f"{method} {path}: status {status}: {body[:300]}")
        self.status = status


def call_http(
    method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None, timeout: float = 10.0
) -> HttpAnswer:
    """Make one request, once; status 0 and the error's text if no answer comes in `timeout` s."""
    try:
        answer = _HTTP.request(
            method, url, body=body, headers={"content-type": JSON, **(headers or {})}, timeout=timeout, retries=False
        )
    except (OSError, HTTPError) as error:
        return HttpAnswer(0, str(error).encode())
    return HttpAnswer(answer.status, answer.data)


@dataclass(frozen=True)
class HttpTransport:
    """A handler that hands requests on to `base` (http://host:port)."""

    base: str

    def __call__(self, request: HttpRequest) -> HttpAnswer:
        return call_http(request.method, self.base.rstrip("/") + request.path, request.body, request.headers)
