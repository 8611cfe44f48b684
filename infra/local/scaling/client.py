"""The autoscaler's own way to a Kubernetes API: any handler of requests, over plain HTTP too (also `kubectl proxy`).

It shares nothing with Ebb's adapters, so a fault of theirs cannot hide here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import msgspec
import urllib3
from urllib3.exceptions import HTTPError

from infra.local.clocks import stamp
from infra.local.http_messages import Handler, HttpAnswer, HttpRequest
from infra.local.world.kinds import KINDS, Json
from infra.local.world.pods import event_about

AGENT = "cluster-autoscaler"
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


class Client:
    """The few calls an autoscaler makes; each raises RefusedCall on any failure."""

    def __init__(self, api: Handler) -> None:
        self._api = api

    def _call(self, method: str, path: str, body: Json | None = None, content_type: str = JSON) -> Any:
        sent = b"" if body is None else msgspec.json.encode(body)
        headers = {"content-type": content_type, "user-agent": AGENT, "accept": JSON}
        answer = self._api(HttpRequest(method, path, {}, headers, sent))
        if not 200 <= answer.status < 300:  # noqa: PLR2004 - the HTTP success range
            raise RefusedCall(method, path, answer.status, answer.body.decode(errors="replace"))
        return msgspec.json.decode(answer.body)

    def list_objects(self, plural: str) -> list[Json]:
        """All objects of a kind; none of a custom kind that the cluster does not have."""
        try:
            items: list[Json] = self._call("GET", f"{KINDS[plural].root}/{plural}")["items"]
        except RefusedCall as refused:
            if refused.status != HTTPStatus.NOT_FOUND or not KINDS[plural].custom:
                raise
            return []
        return items

    def evict(self, pod: Json, grace: int) -> None:
        meta = pod["metadata"]
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": meta["name"]}}
        options = {"deleteOptions": {"gracePeriodSeconds": grace}}
        self._call("POST", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/eviction", {**body, **options})

    def patch_node(self, node: Json, spec: Json) -> Json:
        """Merge `spec` into the node as it was read; RefusedCall 409 if it has changed since."""
        meta = node["metadata"]
        body = {"metadata": {"resourceVersion": meta["resourceVersion"]}, "spec": spec}
        patched: Json = self._call("PATCH", f"/api/v1/nodes/{meta['name']}", body, MERGE_PATCH)
        return patched

    def patch_buffer(self, buffer: Json, status: Json) -> None:
        """Merge `status` into the status of a capacity buffer."""
        meta, root = buffer["metadata"], KINDS["capacitybuffers"].root
        path = f"{root}/namespaces/{meta['namespace']}/capacitybuffers/{meta['name']}/status"
        self._call("PATCH", path, {"status": status}, MERGE_PATCH)

    def delete_node(self, name: str) -> None:
        self._call("DELETE", f"/api/v1/nodes/{name}")

    def create_node(self, node: Json) -> None:
        self._call("POST", "/api/v1/nodes", node)

    def report(self, about: Json, kind: str, reason: str, message: str, at: float) -> None:
        event = event_about(about, kind, reason, message, AGENT, stamp(at))
        self._call("POST", f"/api/v1/namespaces/{event['metadata']['namespace']}/events", event)
