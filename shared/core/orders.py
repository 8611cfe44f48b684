"""The order: one message that asks for one drain or one release, versioned, both ways.

Decoding names every fault in one sentence. Must not judge whether an order is wise: that is `draining`'s.
The format is an outside contract (design §10): a person may send `{"node": "gke-…"}` and nothing more.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import msgspec

from shared.errors import BadOrder

SCHEMA: Final = 1
CLAIM_WITHIN: Final = timedelta(minutes=10)
"""An order that nobody claimed for so long is void; the next pass orders again."""


class Kind(StrEnum):
    DRAIN = "drain"
    RELEASE = "release"


class DrainReason(StrEnum):
    EMPTY = "empty"
    UNDERUTILIZED = "underutilized"
    EXPIRED = "expired"
    MANUAL = "manual"


class Origin(StrEnum):
    PLANNER = "planner"
    MANUAL = "manual"


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """One order. `generation` grows with each continuation and fences late duplicates."""

    schema: int = SCHEMA
    kind: Kind = Kind.DRAIN
    order_id: str
    cluster: str
    node: str
    node_uid: str = ""
    reason: DrainReason = DrainReason.MANUAL
    origin: Origin = Origin.MANUAL
    issued_at: datetime
    expires_at: datetime
    picture_at: datetime | None = None
    generation: int = 0
    dry_run: bool = False
    ignore: tuple[str, ...] = ()
    requested_by: str = ""
    why: str = ""
    """For a release by the planner: the halt it found, which the drainer looks for again before it acts."""

    @property
    def attributes(self) -> dict[str, str]:
        """The message attributes that repeat the order for filters and eyes."""
        return {"kind": self.kind, "cluster": self.cluster, "node": self.node, "order_id": self.order_id}


def order_id(run_id: str, node_uid: str) -> str:
    """Return the id of a pass's order for a node: the same pass asked twice gives the same order."""
    return hashlib.sha256(f"{run_id}/{node_uid}".encode()).hexdigest()[:20]


def encode(order: Order) -> bytes:
    """Return the message data."""
    return msgspec.json.encode(order)


def decode(data: bytes, cluster: str, message_id: str, published_at: datetime) -> Order:
    """Read message data; what a person left out is filled in from the message itself.

    Raises:
        BadOrder: the data is no order of schema 1, or lacks a node; the sentence says what to change.
    """
    fields = _object(data)
    if fields.get("schema", SCHEMA) != SCHEMA:
        raise BadOrder(f"schema: {fields['schema']!r} is not known; this version reads schema {SCHEMA}.")
    _node_named(fields)
    defaults = {
        "order_id": message_id,
        "cluster": cluster,
        "issued_at": published_at.isoformat(),
        "expires_at": (published_at + CLAIM_WITHIN).isoformat(),
    }
    try:
        order = msgspec.convert({**defaults, **fields}, Order, strict=False)
    except msgspec.ValidationError as error:
        raise BadOrder(f"order: {error}. See the README for the fields of an order.") from error
    return _with_zones(order)


def _with_zones(order: Order) -> Order:
    times = {"issued_at": order.issued_at, "expires_at": order.expires_at, "picture_at": order.picture_at}
    bare = [name for name, value in times.items() if value is not None and value.tzinfo is None]
    if bare:
        raise BadOrder(f"{bare[0]}: the time has no zone; write for example 2026-01-31T09:00:00Z.")
    return order


def _object(data: bytes) -> Mapping[str, Any]:
    try:
        fields = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadOrder(f'message data: not JSON ({error}); send for example {{"node": "gke-…"}}.') from error
    if not isinstance(fields, dict):
        raise BadOrder('message data: not a JSON object; send for example {"node": "gke-…"}.')
    return fields


def _node_named(fields: Mapping[str, Any]) -> None:
    node = fields.get("node")
    if not isinstance(node, str) or not node:
        raise BadOrder('node: missing or not a name; send for example {"node": "gke-…"}.')
