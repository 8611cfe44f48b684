"""State in Firestore: one document for each key, written under a precondition on its update time."""

import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote, unquote
from uuid import uuid4

import msgspec

from shared.adapters.google_failures import CALL_SECONDS, Service, call_options, shared_credentials
from shared.errors import Stale, Unreadable
from shared.ports import DocumentKey, StoredDocument

T = TypeVar("T")

_RESERVED: Final = re.compile(r"\.{0,2}|__.*__", re.DOTALL)
"""What Firestore takes neither as an id nor as a map key (https://firebase.google.com/docs/firestore/quotas)."""


def cluster_key(cluster: str) -> str:
    """Return the id of a cluster's document, e.g. `my-project_europe-west1_prod`; no two clusters share one."""
    parts = cluster.split("/")
    named = parts[1::2] if parts[::2] == ["projects", "locations", "clusters"] else [cluster]
    return "_".join(quote(part, safe="").replace("_", "%5F") for part in named)


def path(cluster: str, key: DocumentKey[Any]) -> str:
    root = f"clusters/{cluster_key(cluster)}"
    return root if key.collection == "cluster" else f"{root}/{key.collection}/{escape_id(key.id)}"


def escape_id(text: str) -> str:
    """Return a document id for any text, reversibly; plain names and times stay as they are."""
    quoted = quote(text, safe=":")
    return f"%{quoted}" if _RESERVED.fullmatch(quoted) else quoted


def unescape_id(text: str) -> str:
    bare = text.removeprefix("%")
    return unquote(bare if _RESERVED.fullmatch(bare) else text)


def to_document(value: object, write: str) -> dict[str, Any]:
    """Return the fields of a value's document; `write` names this write."""
    plain = msgspec.to_builtins(value, builtin_types=(datetime,))
    return {"value": _walk(plain, _escape), "expire_at": getattr(value, "expire_at", None), "write": write}


def from_document(fields: Mapping[str, Any], type_: type[T], name: str) -> T:
    """Return the value in a document. Raises Unreadable, by name, when this version of Ebb did not write it."""
    try:
        return msgspec.convert(
            _walk(fields.get("value"), lambda key: key.removeprefix("%")), type_, builtin_types=(datetime,)
        )
    except msgspec.ValidationError as error:
        raise Unreadable(f"document {name}", f"{error}. Delete it: Ebb then uncordons its nodes.") from error


def _walk(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {rename(key): _walk(part, rename) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_walk(part, rename) for part in value]
    return plain_time(value) if isinstance(value, datetime) else value


def plain_time(time: datetime) -> datetime:
    """Return a time in UTC as a plain datetime; the client's own class also counts nanoseconds."""
    utc = time.astimezone(UTC)
    return datetime.combine(utc.date(), utc.time(), UTC)


def _escape(key: str) -> str:
    return f"%{key}" if key.startswith("%") or key == "" or _RESERVED.fullmatch(key) else key


if TYPE_CHECKING:
    from google.cloud.firestore import DocumentReference, DocumentSnapshot


class FirestoreState:
    """The documents of one cluster in a named database. Safe for threads."""

    def __init__(self, project: str, database: str, cluster: str, call_seconds: float = CALL_SECONDS) -> None:
        """Make the client. Raises Terminal without an identity; in a function Retryable, for its own may come late."""
        from google.cloud.firestore import Client

        self._cluster = cluster
        self._service = Service(
            f"Firestore database {database} of {project}",
            "Check that EBB_FIRESTORE_DATABASE names it and that this identity has roles/datastore.user on it.",
        )
        with self._service.naming_failures():
            credentials = shared_credentials(anonymous="FIRESTORE_EMULATOR_HOST" in os.environ)
            self._client = Client(project=project, database=database, credentials=credentials)
        self._bounds = call_options(call_seconds)

    def get(self, key: DocumentKey[T]) -> StoredDocument[T]:
        return _decode(self._read(key), key.type)

    def put(self, key: DocumentKey[T], value: T, expected: str | None) -> str:
        """Write if nobody else did. Raises Stale, Retryable (it may stand or not: read again), Terminal."""
        write = uuid4().hex
        try:
            with self._service.naming_failures(guarded=True):
                return self._write(self._document(key), to_document(value, write), expected)
        except Stale:  # one whose answer was lost is sent again and meets itself: by its name it is seen to have won
            stands = self._read(key)
            if (stands.to_dict() or {}).get("write") != write:
                raise
            return _version(stands)

    def delete(self, key: DocumentKey[T], expected: str) -> None:
        with self._service.naming_failures(guarded=True):
            self._document(key).delete(option=self._unchanged_since(expected), **self._bounds)

    def all(self, collection: str, type_: type[T]) -> Mapping[str, StoredDocument[T]]:
        documents = self._client.collection("clusters", cluster_key(self._cluster), collection)
        with self._service.naming_failures():
            snapshots = list(documents.stream(**self._bounds))
        return {unescape_id(snapshot.id): _decode_listed(snapshot, type_) for snapshot in snapshots}

    def _document(self, key: DocumentKey[Any]) -> "DocumentReference":
        return self._client.document(path(self._cluster, key))

    def _read(self, key: DocumentKey[Any]) -> "DocumentSnapshot[Any]":
        with self._service.naming_failures():
            return self._document(key).get(**self._bounds)

    def _write(self, document: "DocumentReference", fields: dict[str, Any], expected: str | None) -> str:
        if expected is None:
            return _version(document.create(fields, **self._bounds))
        return _version(document.update(fields, option=self._unchanged_since(expected), **self._bounds))

    def _unchanged_since(self, version: str) -> Any:
        from google.api_core.datetime_helpers import DatetimeWithNanoseconds

        exact: Any = DatetimeWithNanoseconds
        return self._client.write_option(last_update_time=exact.from_rfc3339(version).timestamp_pb())


def _decode(snapshot: "DocumentSnapshot[Any]", type_: type[T]) -> StoredDocument[T]:
    read_at = plain_time(snapshot.read_time)
    if not snapshot.exists:
        return StoredDocument(None, None, read_at)
    fields = snapshot.to_dict() or {}
    return StoredDocument(from_document(fields, type_, snapshot.reference.path), _version(snapshot), read_at)


def _decode_listed(snapshot: "DocumentSnapshot[Any]", type_: type[T]) -> StoredDocument[T]:
    try:
        return _decode(snapshot, type_)
    except Unreadable as fault:
        return StoredDocument(None, _version(snapshot), plain_time(snapshot.read_time), fault=str(fault))


def _version(written: Any) -> str:
    """Return the exact update time of a snapshot or write result: in microseconds two writes may look alike."""
    return str(written.update_time.rfc3339())
