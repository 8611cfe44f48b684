"""Compare-and-set of the cluster's document and objects: read, compute, write, and again when others were first."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final, TypeVar

from shared.core.records.state import ClusterState
from shared.errors import Gone, Retryable, Stale
from shared.ports import CLUSTER_KEY, Clock, DocumentKey, State, StoredDocument

T = TypeVar("T")
TRIES: Final = 12
FIRST_PAUSE: Final = 0.05
WRITES: Final = 5  # Of one object of the cluster that others overtake before the message comes again.


def read_cluster(state: State) -> tuple[ClusterState, str | None, datetime]:
    """Return the document (an empty one when there is none yet), its version and the state's time."""
    found = state.get(CLUSTER_KEY)
    return found.value or ClusterState(), found.version, found.read_at


def read_lenient(state: State, key: DocumentKey[T]) -> StoredDocument[T]:
    """Return a document; one that does not decode has a fault and no value, and can be written over."""
    absent = StoredDocument[T](None, None, datetime.min.replace(tzinfo=UTC))
    return state.all(key.collection, key.type).get(key.id, absent)


def readable(documents: Mapping[str, StoredDocument[T]]) -> dict[str, T]:
    """Return those of a collection that decode, by id."""
    return {id_: row.value for id_, row in documents.items() if row.value is not None}


def change_cluster(
    state: State, clock: Clock, change: Callable[[ClusterState, datetime], ClusterState | None]
) -> ClusterState:
    """Apply a change atomically and return the document as it then stands; None from `change` writes nothing.

    `change` may run several times and has no effect of its own. Raises as it, and Retryable: others were always first.
    """
    for attempt in range(TRIES):
        before, version, read_at = read_cluster(state)
        after = change(before, read_at)
        if after is None or after == before:
            return before
        try:
            state.put(CLUSTER_KEY, after, version)
        except Stale:
            clock.sleep(FIRST_PAUSE * (attempt + 1))
        else:
            return after
    raise Retryable("state", f"the cluster's document was changed by others {TRIES} times in a row")


def while_stale(what: str, act: Callable[[], T]) -> T | None:
    """Act again while others are first; None if the object is gone. Raises Retryable if they were every time."""
    for _ in range(WRITES):
        try:
            return act()
        except Gone:
            return None
        except Stale:
            continue
    raise Retryable(what, f"it was changed by others {WRITES} times in a row")
