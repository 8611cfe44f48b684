"""Every change of pods and nodes in etcd's order: two watches, whose versions are revisions of one etcd."""

import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

WATCHED = ("pods", "nodes")
_WATCH_SECONDS = 10
"""A watch ends by itself, so that its thread can end too; a bookmark before its end says where the next begins."""
_PATIENCE = 30.0


@dataclass(frozen=True)
class Seen:
    """One change: its revision, when this process saw it (seconds since 1970), and the object as it then stood."""

    revision: int
    at: float
    plural: str
    gone: bool
    thing: dict[str, Any]


class Watch:
    def __init__(self, base_url: str) -> None:
        self._address = urlsplit(base_url).netloc
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._follow, args=(plural,), daemon=True) for plural in WATCHED]
        self._seen: list[Seen] = []
        self._failures: list[str] = []

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(_PATIENCE)

    def seen(self) -> list[Seen]:
        """Return all changes so far, in their order. Raises AssertionError if a watch has a hole."""
        assert not self._failures, self._failures
        return sorted(self._seen, key=lambda change: change.revision)

    def _follow(self, plural: str) -> None:
        try:
            revision = self._list(plural)
            while not self._stopping.is_set():
                revision = self._watch(plural, revision)
        except (OSError, http.client.HTTPException, LookupError, ValueError) as failure:
            self._failures.append(f"{plural}: {failure!r}")

    def _list(self, plural: str) -> int:
        body = json.loads(b"".join(self._lines(f"/api/v1/{plural}")))
        for item in body["items"]:
            self._keep(plural, item, gone=False)
        return int(body["metadata"]["resourceVersion"])

    def _watch(self, plural: str, revision: int) -> int:
        query = f"watch=1&allowWatchBookmarks=true&timeoutSeconds={_WATCH_SECONDS}&resourceVersion={revision}"
        for line in self._lines(f"/api/v1/{plural}?{query}"):
            event = json.loads(line)
            if event["type"] == "ERROR":
                raise ValueError(event["object"])
            revision = _revision(event["object"])
            if event["type"] != "BOOKMARK":
                self._keep(plural, event["object"], gone=event["type"] == "DELETED")
        return revision

    def _lines(self, path: str) -> Iterator[bytes]:
        connection = http.client.HTTPConnection(self._address, timeout=_PATIENCE)
        try:
            connection.request("GET", path)
            yield from connection.getresponse()
        finally:
            connection.close()

    def _keep(self, plural: str, thing: dict[str, Any], *, gone: bool) -> None:
        # The clock of the machine, as the API server's audit log has it: both are read side by side.
        self._seen.append(Seen(_revision(thing), time.time(), plural, gone, _slim(thing)))


def _revision(thing: Mapping[str, Any]) -> int:
    return int(thing["metadata"]["resourceVersion"])


def _slim(thing: dict[str, Any]) -> dict[str, Any]:
    """Leave out what no judge reads and what would fill the memory."""
    spec, status = thing["spec"], thing.get("status", {})
    return {
        "metadata": {key: value for key, value in thing["metadata"].items() if key != "managedFields"},
        "spec": {key: spec[key] for key in ("nodeName", "taints", "unschedulable") if key in spec},
        "status": {key: status[key] for key in ("phase", "conditions") if key in status},
    }
