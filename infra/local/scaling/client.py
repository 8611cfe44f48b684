"""The autoscaler's own way to a Kubernetes API: over plain HTTP (also `kubectl proxy`) or straight to a handler.

It shares nothing with Ebb's adapters, so a fault of theirs cannot hide here.
"""

import http.client
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from infra.local.http_messages import Handler, HttpRequest
from infra.local.world.kinds import KINDS, Json

AGENT = "cluster-autoscaler"
MERGE_PATCH = "application/merge-patch+json"
_PLAIN = "application/json"


class RefusedCall(Exception):
    """The API answered with a failure, or not at all (status 0)."""

    def __init__(self, method: str, path: str, status: int, body: str) -> None:
        super().__init__(f"{method} {path}: status {status}: {body[:300]}")
        self.status = status


class ApiTransport(Protocol):
    """Carries one request; returns status and body. Status 0: no answer came."""

    def __call__(self, method: str, path: str, body: bytes, content_type: str) -> tuple[int, bytes]: ...


@dataclass(frozen=True)
class HttpTransport:
    """Plain HTTP to `base` (http://host:port), a connection for each request."""

    base: str
    timeout: float = 10.0
    token: str | None = None

    def __call__(self, method: str, path: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        parts = urlsplit(self.base)
        connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=self.timeout)
        headers = {"Content-Type": content_type, "User-Agent": AGENT, "Accept": "application/json"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            connection.request(method, parts.path.rstrip("/") + path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            return 0, str(error).encode()
        finally:
            connection.close()


@dataclass(frozen=True)
class DirectTransport:
    """Calls a handler in this process: no socket, for a simulator."""

    handler: Handler

    def __call__(self, method: str, path: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        headers = {"content-type": content_type, "user-agent": AGENT}
        answer = self.handler(HttpRequest(method, path, {}, headers, body))
        return (0, b"no answer came") if answer.lost else (answer.status, answer.body)


class Client:
    """The few calls an autoscaler makes; each raises ApiError on any failure."""

    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def _call(self, method: str, path: str, body: Json | None = None, content_type: str = _PLAIN) -> Any:
        sent = b"" if body is None else msgspec.json.encode(body)
        status, text = self._transport(method, path, sent, content_type)
        if not 200 <= status < 300:  # noqa: PLR2004 - the HTTP success range
            raise RefusedCall(method, path, status, text.decode(errors="replace"))
        return msgspec.json.decode(text)

    def nodes(self) -> list[Json]:
        items: list[Json] = self._call("GET", "/api/v1/nodes")["items"]
        return items

    def pods(self) -> list[Json]:
        items: list[Json] = self._call("GET", "/api/v1/pods")["items"]
        return items

    def budgets(self) -> list[Json]:
        items: list[Json] = self._call("GET", "/apis/policy/v1/poddisruptionbudgets")["items"]
        return items

    def listed(self, plural: str) -> list[Json]:
        """All objects of a kind, wherever the API has it."""
        kind = KINDS[plural]
        root = f"/apis/{kind.group}" if kind.group else "/api"
        items: list[Json] = self._call("GET", f"{root}/{kind.version}/{plural}")["items"]
        return items

    def evict(self, pod: Json, grace: int) -> None:
        meta = pod["metadata"]
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": meta["name"]}}
        options = {"deleteOptions": {"gracePeriodSeconds": grace}}
        self._call("POST", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/eviction", {**body, **options})

    def patch_node(self, node: Json, spec: Json) -> Json:
        """Merge `spec` into the node as it was read; ApiError 409 if it has changed since."""
        meta = node["metadata"]
        body = {"metadata": {"resourceVersion": meta["resourceVersion"]}, "spec": spec}
        patched: Json = self._call("PATCH", f"/api/v1/nodes/{meta['name']}", body, MERGE_PATCH)
        return patched

    def patch_buffer(self, buffer: Json, status: Json) -> None:
        """Merge `status` into the status of a capacity buffer."""
        meta = buffer["metadata"]
        root = f"/apis/autoscaling.x-k8s.io/v1beta1/namespaces/{meta['namespace']}"
        self._call("PATCH", f"{root}/capacitybuffers/{meta['name']}/status", {"status": status}, MERGE_PATCH)

    def delete_node(self, name: str) -> None:
        self._call("DELETE", f"/api/v1/nodes/{name}")

    def create_node(self, node: Json) -> None:
        self._call("POST", "/api/v1/nodes", node)

    def event(self, about: Json, kind: str, reason: str, message: str, at: str) -> None:
        """Write an Event on a node or pod; `at` is its time in RFC 3339."""
        meta = about["metadata"]
        namespace = meta.get("namespace", "default")
        involved = {"apiVersion": "v1", "kind": kind, "name": meta["name"], "uid": meta["uid"]}
        body: Json = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{meta['name']}.", "namespace": namespace},
            "involvedObject": {**involved, **({"namespace": namespace} if kind == "Pod" else {})},
            "reason": reason,
            "message": message,
            "type": "Warning" if reason.endswith("Failed") else "Normal",
            "source": {"component": AGENT},
            "firstTimestamp": at,
            "lastTimestamp": at,
            "count": 1,
        }
        self._call("POST", f"/api/v1/namespaces/{namespace}/events", body)
