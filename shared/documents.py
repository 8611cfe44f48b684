"""Which documents Ebb keeps, by which key, and how one looks when it has been read.

What they hold stands in `shared.core.records`, how they are read and written in `shared.ports.State`.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from shared.core.records.drain_record import DrainRecord
from shared.core.records.state import ClusterState, PoolMarks, Run

T = TypeVar("T")


@dataclass(frozen=True)
class DocumentKey(Generic[T]):
    """Which document: a collection (`cluster`, `pools`, `drains`, `runs`), an id, and the type it holds."""

    collection: str
    id: str
    type: type[T]


CLUSTER_KEY = DocumentKey("cluster", "", ClusterState)


def pool_key(pool: str) -> DocumentKey[PoolMarks]:
    return DocumentKey("pools", pool, PoolMarks)


def drain_key(order_id: str) -> DocumentKey[DrainRecord]:
    return DocumentKey("drains", order_id, DrainRecord)


def run_key(schedule_time: str) -> DocumentKey[Run]:
    return DocumentKey("runs", schedule_time, Run)


@dataclass(frozen=True)
class StoredDocument(Generic[T]):
    """A document as it was read: None when absent. `version` is opaque; `read_at` is the store's own time."""

    value: T | None
    version: str | None
    read_at: datetime
    fault: str = ""
    """Of a document read with its whole collection: why it does not decode, with its name; it has no value then."""
