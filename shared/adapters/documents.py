"""How a value becomes a Firestore document and back: names, map keys and times.

A document has three fields: `value` (the value whole, a map that is exempt from indexing), `expire_at` (the
native timestamp that the TTL policy reads, or null) and `write` (unique to each write). The value stands in
one field because only `update()` takes a `last_update_time` precondition, and it would read dots in
top-level field names as paths; below the top level a map key may hold any character. `write` exists because
Firestore keeps the update time when a write changes nothing (seen on the emulator, documented at
`google.firestore.v1.WriteResult.update_time`): two equal writes would then both win one compare-and-set.

Must not call Firestore.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote

import msgspec

from shared.documents import DocumentKey
from shared.errors import Unreadable

T = TypeVar("T")

_RESERVED: Final = re.compile(r"\.{0,2}|__.*__", re.DOTALL)
"""What Firestore takes neither as an id nor as a map key (https://firebase.google.com/docs/firestore/quotas)."""


def cluster_key(cluster: str) -> str:
    """Return the id of a cluster's document, e.g. `my-project_europe-west1_prod`; no two clusters share one."""
    parts = cluster.split("/")
    named = parts[1::2] if parts[::2] == ["projects", "locations", "clusters"] else [cluster]
    return "_".join(quote(part, safe="").replace("_", "%5F") for part in named)


def path(cluster: str, key: DocumentKey[Any]) -> str:
    """Return the document's path in the database."""
    root = f"clusters/{cluster_key(cluster)}"
    return root if key.collection == "cluster" else f"{root}/{key.collection}/{escape_id(key.id)}"


def escape_id(text: str) -> str:
    """Return a document id for any text, reversibly; plain names and times stay as they are."""
    quoted = quote(text, safe=":")
    return f"%{quoted}" if _RESERVED.fullmatch(quoted) else quoted


def unescape_id(text: str) -> str:
    """Undo `escape_id`."""
    bare = text.removeprefix("%")
    return bare if _RESERVED.fullmatch(bare) else unquote(text)


def to_document(value: object, write: str) -> dict[str, Any]:
    """Return the fields of a value's document; `write` names this write."""
    plain = msgspec.to_builtins(value, builtin_types=(datetime,))
    return {"value": _walk(plain, _escape), "expire_at": getattr(value, "expire_at", None), "write": write}


def from_document(fields: Mapping[str, Any], type_: type[T], name: str) -> T:
    """Return the value in a document.

    Raises:
        Unreadable: the document was not written by this version of Ebb; the failure names it.
    """
    try:
        return msgspec.convert(_walk(fields.get("value"), _unescape), type_, builtin_types=(datetime,))
    except msgspec.ValidationError as error:
        raise Unreadable(f"document {name}", f"{error}. Delete it: nodes it knew of are then given back.") from error


def _walk(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {rename(key): _walk(each, rename) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_walk(each, rename) for each in value]
    return plain_time(value) if isinstance(value, datetime) else value


def plain_time(time: datetime) -> datetime:
    """Return a time in UTC as a plain datetime; the client's own class counts nanoseconds beside it."""
    utc = time.astimezone(UTC)
    return datetime.combine(utc.date(), utc.time(), UTC)


def _escape(key: str) -> str:
    return f"%{key}" if key.startswith("%") or key == "" or _RESERVED.fullmatch(key) else key


def _unescape(key: str) -> str:
    return key.removeprefix("%")
