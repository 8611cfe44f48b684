"""A very small client of the API over plain HTTP on loopback: a refusal is a status to look at. Not for functions."""

import http.client
import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_SECONDS = 120.0
_AT_ONCE = 8
_CLUSTER_WIDE = frozenset({
    "Namespace", "Node", "PersistentVolume", "PriorityClass", "StorageClass", "ClusterRole", "ClusterRoleBinding",
    "ComputeClass", "CustomResourceDefinition",
})  # fmt: skip
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"


class ApiError(RuntimeError):
    """The API server refused something that the caller could not go on without."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: dict[str, Any]
    headers: Mapping[str, str]


class Api:
    def __init__(self, base_url: str) -> None:
        self._address = urlsplit(base_url).netloc

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        content: str = "application/json",
        user: str = "",
    ) -> Answer:
        """Send one request, as an administrator or in a user's name, and return the answer, whatever its status."""
        connection = http.client.HTTPConnection(self._address, timeout=_SECONDS)
        try:
            sent = None if body is None else json.dumps(body)
            named = {"Impersonate-User": user} if user else {}
            connection.request(method, path, sent, {"Content-Type": content, "User-Agent": "ebb-local", **named})
            answer = connection.getresponse()
            return Answer(answer.status, _decoded(answer.read()), dict(answer.getheaders()))
        finally:
            connection.close()

    def refusal(
        self, method: str, path: str, body: Mapping[str, Any], content: str = "application/json", user: str = ""
    ) -> str:
        answer = self.request(method, path, body, content, user)
        return "" if answer.status < http.client.BAD_REQUEST else f"{answer.status} {answer.body.get('message')}"

    def patch(self, path: str, body: Mapping[str, Any]) -> bool:
        """Merge into an object; return whether it was granted: it may have changed meanwhile."""
        return self.refusal("PATCH", path, body, MERGE_PATCH) == ""

    def items(self, path: str) -> list[dict[str, Any]]:
        """Return the items of a list. Raises ApiError if the answer is none."""
        answer = self.request("GET", path)
        if answer.status != http.client.OK:
            raise ApiError(f"GET {path}: {answer.status} {answer.body.get('message')}")
        return list(answer.body["items"])

    def nodes(self) -> list[dict[str, Any]]:
        return self.items("/api/v1/nodes")

    def pods(self, namespace: str = "default") -> list[dict[str, Any]]:
        return self.items(f"/api/v1/namespaces/{namespace}/pods")

    def deployments(self, namespace: str = "default") -> list[dict[str, Any]]:
        return self.items(f"/apis/apps/v1/namespaces/{namespace}/deployments")

    def budgets(self, namespace: str = "default") -> list[dict[str, Any]]:
        return self.items(f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets")

    def create(self, manifests: Iterable[Mapping[str, Any]]) -> None:
        """Create objects, in no order; those that exist stay as they are. Raises ApiError if one is refused."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(self._create, manifests))

    def evict(self, namespace: str, pod: str, **options: Any) -> Answer:
        """Ask for an eviction; `options` are metav1.DeleteOptions (gracePeriodSeconds, preconditions, dryRun)."""
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod, "namespace": namespace},
            "deleteOptions": options,
        }
        return self.request("POST", f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction", body)

    def _create(self, manifest: Mapping[str, Any]) -> None:
        path = collection(manifest)
        answer = self.request("POST", path, manifest)
        if answer.status not in {http.client.CREATED, http.client.CONFLICT}:
            raise ApiError(f"POST {path} {manifest['metadata']}: {answer.status} {answer.body.get('message')}")


def collection(manifest: Mapping[str, Any]) -> str:
    """Return the path under which objects of the manifest's kind are created; no namespace means `default`."""
    version, kind = str(manifest["apiVersion"]), str(manifest["kind"])
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    plural = kind.lower() + ("es" if kind.endswith("s") else "s")
    if kind in _CLUSTER_WIDE:
        return f"{root}/{plural}"
    return f"{root}/namespaces/{manifest['metadata'].get('namespace', 'default')}/{plural}"


def _decoded(data: bytes) -> dict[str, Any]:
    try:
        decoded = json.loads(data)
    except ValueError:
        return {"message": data.decode(errors="replace")}
    return decoded if isinstance(decoded, dict) else {"value": decoded}
