"""Requests to the simulated API by others than Ebb: people and GKE, told apart by their user agent."""

from typing import Any

import msgspec

from infra.local.http_messages import HttpRequest
from infra.local.world.kinds import Json
from infra.local.world.pods import node_of, stays_behind
from tests.faults.installation import Installation


def ask(ebb: Installation, agent: str, method: str, path: str, body: Any = None) -> int:
    """Send one request; return the status code."""
    headers = {"content-type": "application/merge-patch+json", "user-agent": agent}
    sent = b"" if body is None else msgspec.json.encode(body)
    return ebb.cloud.api.handle(HttpRequest(method, path, {}, headers, sent)).status


def patch_spec(ebb: Installation, agent: str, node: Json, spec: Json) -> None:
    """Merge into the node's spec, whatever its version."""
    ask(ebb, agent, "PATCH", f"/api/v1/nodes/{node['metadata']['name']}", {"spec": spec})


def evict_all(ebb: Installation, agent: str, node: Json) -> None:
    """Ask once for the eviction of each pod that a drain would move."""
    for pod in ebb.cloud.world.store.all("pods"):
        meta = pod["metadata"]
        if node_of(pod) == node["metadata"]["name"] and not stays_behind(pod):
            path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/eviction"
            ask(ebb, agent, "POST", path, {"kind": "Eviction", "metadata": {"name": meta["name"]}})
