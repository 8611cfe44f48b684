"""The port `State` over Firestore: compare-and-set by `create()` and update-time preconditions.

Not transactions: a cold race of eight of them ended with no winner, and create or precondition has exactly
one (docs/decisions/claims.md). The client is imported when a state is made. Must not decide what is written.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from shared.adapters.documents import cluster_key, from_document, path, plain_time, to_document, unescape_id
from shared.adapters.google_failures import CALL_SECONDS, Service, call_options
from shared.documents import DocumentKey, StoredDocument
from shared.errors import Stale, Unreadable

if TYPE_CHECKING:
    from google.cloud.firestore import DocumentReference, DocumentSnapshot

T = TypeVar("T")


class FirestoreState:
    """The documents of one cluster in a named database. Safe for threads."""

    def __init__(self, project: str, database: str, cluster: str, call_seconds: float = CALL_SECONDS) -> None:
        """Make the client.

        Raises:
            Terminal: there is no identity to ask with.
        """
        from google.cloud.firestore import Client

        self._cluster = cluster
        self._service = Service(
            f"Firestore database {database} of {project}",
            "Check that EBB_FIRESTORE_DATABASE names it and that this identity has roles/datastore.user on it.",
        )
        with self._service.naming_failures():
            self._client = Client(project=project, database=database)
        self._bounds = call_options(call_seconds)

    def get(self, key: DocumentKey[T]) -> StoredDocument[T]:
        """Read one document. Raises Retryable, or Unreadable when it does not decode."""
        return _decode(self._read(key), key.type)

    def put(self, key: DocumentKey[T], value: T, expected: str | None) -> str:
        """Write if nobody else did. Raises Stale, Retryable, Terminal.

        A write whose answer was lost is sent again and then meets itself; that it won is seen by its name.
        After Retryable it may stand or not: read again.
        """
        write = uuid4().hex
        try:
            with self._service.naming_failures(guarded=True):
                return self._write(self._document(key), to_document(value, write), expected)
        except Stale:
            stands = self._read(key)
            if (stands.to_dict() or {}).get("write") != write:
                raise
            return _version(stands)

    def delete(self, key: DocumentKey[T], expected: str) -> None:
        """Delete if nobody wrote since. Raises Stale, Retryable, Terminal."""
        with self._service.naming_failures(guarded=True):
            self._document(key).delete(option=self._unchanged_since(expected), **self._bounds)

    def all(self, collection: str, type_: type[T]) -> Mapping[str, StoredDocument[T]]:
        """Read a whole collection by id; a document that does not decode is named in its fault. Raises Retryable."""
        documents = self._client.collection("clusters", cluster_key(self._cluster), collection)
        with self._service.naming_failures():
            snapshots = list(documents.stream(**self._bounds))
        return {unescape_id(each.id): _decode_listed(each, type_) for each in snapshots}

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
