"""The port `State` in one SQLite file, for laptops and tests: the same laws as Firestore's, no cloud.

Safe across processes: each change is one `BEGIN IMMEDIATE` transaction, so that comparing and setting cannot
be divided. A connection lives for one call, so threads and forks share nothing.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from time import monotonic, sleep
from typing import Any, Final, TypeVar
from uuid import uuid4

import msgspec

from shared.adapters.process import system_time
from shared.errors import Retryable, Stale, Terminal, Unreadable
from shared.ports import DocumentKey, StoredDocument

T = TypeVar("T")

BUSY_SECONDS: Final = 10.0  # How long to wait for another process's write before the call counts as an outage.
_PAUSE_SECONDS: Final = 0.05
_PASSING: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS documents (
    cluster TEXT NOT NULL, collection TEXT NOT NULL, id TEXT NOT NULL,
    value BLOB NOT NULL, version TEXT NOT NULL, expire_at REAL,
    PRIMARY KEY (cluster, collection, id)
) WITHOUT ROWID
"""
_READ: Final = "SELECT value, version FROM documents WHERE cluster = ? AND collection = ? AND id = ?"
_READ_ALL: Final = "SELECT id, value, version FROM documents WHERE cluster = ? AND collection = ?"


class SqliteState:
    """The documents of one cluster in a file. Safe for threads and processes."""

    def __init__(
        self, path: str, cluster: str, now: Callable[[], datetime] = system_time, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        """Open the file, or make it. Raises Terminal when it cannot be opened or is no database."""
        self._path = path
        self._cluster = cluster
        self._now = now
        self._busy_seconds = busy_seconds
        self._latest = datetime.min.replace(tzinfo=UTC)
        self._create_table()

    def get(self, key: DocumentKey[T]) -> StoredDocument[T]:
        with self._open() as database:
            row = database.execute(_READ, self._id(key)).fetchone()
        if row is None:
            return StoredDocument(None, None, self._read_at())
        return StoredDocument(self._decode(row[0], key), row[1], self._read_at())

    def put(self, key: DocumentKey[T], value: T, expected: str | None) -> str:
        """Write if nobody else did, and let documents go whose time is over. Raises Stale, Retryable, Terminal."""
        version = uuid4().hex
        expire_at: datetime | None = getattr(value, "expire_at", None)
        row = (*self._id(key), msgspec.json.encode(value), version, expire_at.timestamp() if expire_at else None)
        with self._change(key, expected) as database:
            database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?)", row)
            database.execute("DELETE FROM documents WHERE expire_at < ?", (self._read_at().timestamp(),))
        return version

    def delete(self, key: DocumentKey[T], expected: str) -> None:
        with self._change(key, expected) as database:
            database.execute("DELETE FROM documents WHERE cluster = ? AND collection = ? AND id = ?", self._id(key))

    def all(self, collection: str, type_: type[T]) -> Mapping[str, StoredDocument[T]]:
        with self._open() as database:
            rows = database.execute(_READ_ALL, (self._cluster, collection)).fetchall()
        read_at = self._read_at()
        return {
            id_: self._decode_listed(value, DocumentKey(collection, id_, type_), version, read_at)
            for id_, value, version in rows
        }

    def _create_table(self) -> None:
        """Make the file. Others who make it too are waited for: SQLite itself does not wait when the mode changes."""
        until = monotonic() + self._busy_seconds
        while True:
            try:
                with self._open() as database:
                    database.execute("PRAGMA journal_mode = WAL")
                    database.execute(_TABLE)
            except Retryable:
                if monotonic() >= until:
                    raise
                sleep(_PAUSE_SECONDS)
            else:
                return

    @contextmanager
    def _change(self, key: DocumentKey[Any], expected: str | None) -> Iterator[sqlite3.Connection]:
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            row = database.execute(_READ, self._id(key)).fetchone()
            if (row and row[1]) != expected:
                raise Stale(f"document {key.collection} {key.id!r} was written by somebody else")
            yield database
            database.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=self._busy_seconds, isolation_level=None)) as database:
                yield database
        except sqlite3.Error as error:
            raise self._failure_of(error) from error

    def _failure_of(self, error: sqlite3.Error) -> Retryable | Terminal:
        what = f"state file {self._path}"
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        if code & 0xFF in _PASSING:  # the low byte is the primary code (https://sqlite.org/rescode.html)
            return Retryable(what, str(error))
        return Terminal(what, f"{error}. Check that EBB_STATE names a file in a folder that may be written.")

    def _decode_listed(self, data: bytes, key: DocumentKey[T], version: str, read_at: datetime) -> StoredDocument[T]:
        try:
            return StoredDocument(self._decode(data, key), version, read_at)
        except Unreadable as fault:
            return StoredDocument(None, version, read_at, fault=str(fault))

    def _decode(self, data: bytes, key: DocumentKey[T]) -> T:
        try:
            return msgspec.json.decode(data, type=key.type)
        except msgspec.DecodeError as error:
            what = f"document {key.collection} {key.id!r} in {self._path}"
            raise Unreadable(what, f"{error}. Delete the file: Ebb then uncordons its nodes.") from error

    def _id(self, key: DocumentKey[Any]) -> tuple[str, str, str]:
        return self._cluster, key.collection, key.id

    def _read_at(self) -> datetime:
        """Return now, never earlier than before: the system's clock may be set back."""
        self._latest = max(self._latest, self._now())
        return self._latest
