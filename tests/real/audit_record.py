"""The API server's watches and audit log, joined into the record that the checker of the promise reads."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from infra.local.clocks import ManualClock
from infra.local.world.store import ObjectChange, Record
from tests.real.watches import Seen

Audit = Mapping[str, Any]
EBB = "ebb"
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


def by_ebb(audit: Iterable[Audit]) -> list[Audit]:
    return [entry for entry in audit if entry.get("userAgent") == EBB]


def about(entry: Audit) -> Mapping[str, str]:
    found: Mapping[str, str] = entry.get("objectRef") or {}
    return found


def at(entry: Audit) -> float:
    """When the request was received, in seconds since 1970."""
    return datetime.fromisoformat(entry["requestReceivedTimestamp"]).timestamp()


def is_write(entry: Audit) -> bool:
    return entry["verb"] in WRITES and not is_dry(entry)


def is_dry(entry: Audit) -> bool:
    return "dryRun=" in entry["requestURI"]


def evictions(audit: Iterable[Audit]) -> list[Audit]:
    asked = [entry for entry in by_ebb(audit) if about(entry).get("subresource") == "eviction"]
    return [entry for entry in asked if not is_dry(entry)]


def uid_asked_for(eviction: Audit) -> str:
    """Return the UID precondition, empty where there is none."""
    options = eviction["requestObject"].get("deleteOptions") or {}
    return str((options.get("preconditions") or {}).get("uid", ""))


def granted(audit: Iterable[Audit]) -> list[Audit]:
    return [entry for entry in evictions(audit) if entry["responseStatus"]["code"] < 300]


def entries(seen: Sequence[Seen], audit: Sequence[Audit]) -> list[dict[str, Any]]:
    """Return the record: requests of Ebb, then changes and evictions in the order of their revisions."""
    clock = ManualClock(seen[0].at)
    record = Record(clock)
    for entry in by_ebb(audit):
        record.add("request", _request(entry))
    _Joining(clock, record, audit).play(seen)
    return record.entries


def _request(entry: Audit) -> dict[str, Any]:
    verb = "DELETE" if entry["verb"].startswith("delete") else entry["verb"].upper()
    return {"verb": verb, "path": entry["requestURI"], "user_agent": entry["userAgent"]}


class _Joining:
    def __init__(self, clock: ManualClock, record: Record, audit: Sequence[Audit]) -> None:
        self._clock, self._record = clock, record
        self._actors = {_version_made(entry): str(entry.get("userAgent", "")) for entry in audit}
        self._evicted = {uid_asked_for(entry): entry for entry in granted(audit)}
        self._things: dict[str, dict[str, Any]] = {}

    def play(self, seen: Sequence[Seen]) -> None:
        for change in seen:
            self._take(change)
        for entry in self._evicted.values():  # of pods that no watch has seen
            self._record.add("eviction", _eviction(entry, ""))

    def _take(self, seen: Seen) -> None:
        self._clock.advance(max(0.0, seen.at - self._clock.now()))
        uid = seen.thing["metadata"]["uid"]
        marked = seen.gone or "deletionTimestamp" in seen.thing["metadata"]
        if marked and uid in self._evicted:
            entry = self._evicted.pop(uid)
            self._record.add("eviction", _eviction(entry, seen.thing["spec"].get("nodeName", "")))
        before = self._things.pop(uid, None)
        if not seen.gone:
            self._things[uid] = seen.thing
        actor = self._actors.get(str(seen.revision), "")
        self._record.on_change(
            ObjectChange(
                seen.plural, before or (seen.thing if seen.gone else None), None if seen.gone else seen.thing, actor
            )
        )


def _version_made(entry: Audit) -> str:
    answer = entry.get("responseObject") or {}
    return str((answer.get("metadata") or {}).get("resourceVersion", ""))


def _eviction(entry: Audit, node: str) -> dict[str, Any]:
    where = entry["objectRef"]
    return {
        "actor": entry["userAgent"],
        "namespace": where["namespace"],
        "name": where["name"],
        "uid": uid_asked_for(entry),
        "node": node,
    }
