"""Asks the simulated GKE over HTTP: its Kubernetes API as anyone may, and the routes that only a demo has.

Every request says who asks: the record then tells the demo's own from Ebb's. Must not decide anything.
"""

import http.client
import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

from shared.errors import Retryable

Json = dict[str, Any]
ME: Final = "ebb-demo"
PERSON: Final = "kubectl (a person)"
_TIMEOUT: Final = 10.0
_GOOD: Final = range(200, 300)


class SimulatedGkeClient:
    """The simulated GKE at the addresses that it said at its start."""

    def __init__(self, addresses: Mapping[str, Any]) -> None:
        self._kube = str(addresses["kube"])
        self._bucket = str(addresses["bucket"])
        self.nodes_of: Mapping[str, list[str]] = addresses["nodes"]
        """Node names of each pool, in the scenario's order."""
        self._read = 0

    def items(self, path: str) -> list[Json]:
        """List one kind of the Kubernetes API, as in `/api/v1/nodes`."""
        found: list[Json] = json.loads(self._ask("GET", self._kube, path))["items"]
        return found

    def cordon(self, node: str) -> None:
        """Cordon a node as a person does with kubectl."""
        headers = {"Content-Type": "application/merge-patch+json", "User-Agent": PERSON}
        self._ask("PATCH", self._kube, f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}}, headers)

    def schedule(self, url: str, every: float, *, paused: bool = False) -> None:
        """Make, or pause, the scheduler job that calls the planner every so many seconds."""
        self._ask("POST", self._kube, "/_job", {"name": "ebb-tick", "url": url, "every": every, "paused": paused})

    def read_policy(self, bucket: str, name: str) -> str:
        """Read the policy as it lies in the bucket."""
        return self._ask("GET", self._bucket, f"/storage/v1/b/{bucket}/o/{quote(name, safe='')}?alt=media")

    def new_entries(self) -> list[Json]:
        """Return the record's entries since the last call."""
        lines = self._ask("GET", self._kube, f"/_record?from={self._read}").splitlines()
        self._read += len(lines)
        return [json.loads(line) for line in lines]

    def _ask(
        self, method: str, base: str, path: str, body: Json | None = None, headers: Mapping[str, str] | None = None
    ) -> str:
        where = urlsplit(base)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=_TIMEOUT)
        all_headers = {"User-Agent": ME, "Content-Type": "application/json", **(headers or {})}
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, all_headers)
            response = connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException) as fault:
            raise Retryable("simulated GKE", f"{method} {path}: {fault}") from fault
        finally:
            connection.close()
        if response.status not in _GOOD:
            raise Retryable("simulated GKE", f"{method} {path}: {response.status} {text[:200]}")
        return text
