"""A request and its answer, apart from any server: what every HTTP service of the simulated GKE speaks.

A `Handler` can be called in one process without a socket; `infra.local.servers.http_server` puts WSGI around it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from infra.local.world.kinds import Json


@dataclass(frozen=True)
class HttpRequest:
    """One HTTP request: the path still quoted, header names in lower case, one value for each query name."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> Any:
        """The body as JSON, an empty body as an empty object; ValueError if it is neither."""
        return json.loads(self.body) if self.body else {}


@dataclass(frozen=True)
class HttpAnswer:
    """One HTTP answer. `lost`: the caller never gets it; `hangs`: its connection stays open until it gives up."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    lost: bool = False
    hangs: bool = False


Handler = Callable[[HttpRequest], HttpAnswer]


def answer_json(status: int, body: Any, headers: Mapping[str, str] | None = None) -> HttpAnswer:
    return HttpAnswer(status, msgspec.json.encode(body), {"Content-Type": "application/json", **(headers or {})})


def google_error(status: int, reason: str, message: str) -> HttpAnswer:
    """An error body as Google's JSON APIs write it; `reason` is the canonical status such as NOT_FOUND."""
    error: Json = {"code": status, "message": message, "status": reason}
    error["errors"] = [{"message": message, "domain": "global", "reason": reason}]
    return answer_json(status, {"error": error})
