"""The order that asks for one drain or one release, and the result that reports how a drain ended.

Both are outside contracts (docs/orders.md). A person may send `{"node": "gke-…"}`; a result always has all keys.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from shared.core.cluster.names import NO_ORDER, NODE_NAME
from shared.core.policy.values import YEARS
from shared.core.reasons import DrainReason, Outcome, Reason, ReturnReason
from shared.errors import BadOrder

T = TypeVar("T")

SCHEMA: Final = 1
CLAIM_WITHIN: Final = timedelta(minutes=10)  # An order unclaimed for so long is void; the next pass orders again.

MOST_GENERATION: Final = 1_000_000
MOST_HELD: Final = 100  # Nodes of one order of a wave: about a sixth of what a message may have.
_MOST_BYTES: Final = 64 * 1024  # The order is kept in its drain's record, which the state takes only up to 1 MiB.
_MOST_ECHOED: Final = 80  # Characters of a wrong value that a sentence repeats: too few to flood a log.
_CLOCKS_DIFFER: Final = timedelta(minutes=1)
_ENUM_VALUE: Final = re.compile(r"Invalid enum value '(.*)'", re.DOTALL)
_TAINT_VALUE: Final = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
"""The order id becomes our taint's value (kubernetes, apimachinery/pkg/util/validation IsValidLabelValue)."""


class OrderKind(StrEnum):
    DRAIN = "drain"
    RELEASE = "release"
    HOLD = "hold"  # Write the soft taint on each of `nodes` that the wave's document names: its set, and costly nodes.
    LET_GO = "let_go"  # Remove that taint from each of `nodes` that no such document names.


class Origin(StrEnum):
    PLANNER = "planner"
    MANUAL = "manual"


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """One order. `generation` grows with each continuation, so that late duplicates are void."""

    schema: int = SCHEMA
    kind: OrderKind = OrderKind.DRAIN
    order_id: str
    cluster: str
    node: str
    node_uid: str = ""
    reason: DrainReason = DrainReason.MANUAL
    origin: Origin = Origin.MANUAL
    issued_at: datetime
    expires_at: datetime
    picture_at: datetime | None = None
    not_before: datetime | None = None  # Of a release: what it waits for may end by then.
    generation: Annotated[int, msgspec.Meta(ge=0, le=MOST_GENERATION)] = 0
    dry_run: bool = False
    ignore: tuple[str, ...] = ()
    requested_by: str = ""
    why: str = ""  # Of a release by the planner: the reason, which the drainer looks for again.
    pod: str = ""  # For a release with `not_before`: the pod that waits, as namespace/name.
    nodes: Annotated[dict[str, str], msgspec.Meta(max_length=MOST_HELD)] = {}  # Of a wave: names by UID.

    @property
    def attributes(self) -> dict[str, str]:
        """The message attributes that repeat the order for filters and eyes."""
        return {"kind": self.kind, "cluster": self.cluster, "node": self.node, "order_id": self.order_id}


def parts(rows: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    for begin in range(0, len(rows), most):
        yield rows[begin : begin + most]


def order_id(run_id: str, node_uid: str) -> str:
    """Return the id of a pass's order for a node: the same pass asked twice gives the same order."""
    return hashlib.sha256(f"{run_id}/{node_uid}".encode()).hexdigest()[:20]


def continuation(order: Order, generation: int) -> Order:
    """Return the order that goes on after that generation."""
    # The last that there may be goes on as itself: the lease keeps two steps apart as well.
    return replace(order, generation=min(generation + 1, MOST_GENERATION))


def encode(order: Order) -> bytes:
    return msgspec.json.encode(order)


def decode(data: bytes, cluster: str, message_id: str, published_at: datetime) -> Order:
    """Read message data, with what a person left out filled in from the message; BadOrder names what to change."""
    fields = _object(data)
    if fields.get("schema", SCHEMA) != SCHEMA:
        raise BadOrder(f"schema: {quoted_value(fields['schema'])} is not known; this version reads schema {SCHEMA}.")
    _node_named(fields)
    defaults = {
        "node": "",  # required by `_node_named`, unless the order is of a wave
        "order_id": message_id,
        "cluster": cluster,
        "issued_at": published_at.isoformat(),
        "expires_at": (published_at + CLAIM_WITHIN).isoformat(),
    }
    try:
        order = msgspec.convert({**defaults, **fields}, Order, strict=False)
    except msgspec.ValidationError as error:
        raise BadOrder(f"order: {_fault(error)}. docs/orders.md has the fields of an order.") from error
    _times_checked(order, published_at)
    _id_checked(order)
    return order


def _fault(error: msgspec.ValidationError) -> str:
    """Return what was wrong and where; a wrong word of an enumeration is repeated in part only."""
    what, at, path = str(error).rpartition(" - at ")
    word = _ENUM_VALUE.fullmatch(what)
    return f"{quoted_value(word[1])} is no word for it{at}{path}" if word else str(error)


def _times_checked(order: Order, published_at: datetime) -> None:
    times = {name: getattr(order, name) for name in ("issued_at", "expires_at", "picture_at", "not_before")}
    for name, value in times.items():
        if value is not None and value.tzinfo is None:
            raise BadOrder(f"{name}: the time has no zone; write for example 2026-01-31T09:00:00Z.")
        if value is not None and value.year not in YEARS:
            raise BadOrder(f"{name}: the year {value.year} is not one of {YEARS.start} to {YEARS.stop - 1}.")
    if order.picture_at is not None and order.picture_at > published_at + _CLOCKS_DIFFER:
        raise BadOrder(f"picture_at: {order.picture_at.isoformat()} lies after the message; leave it out.")
    if order.not_before is not None and order.kind is not OrderKind.RELEASE:
        raise BadOrder("not_before: only a release waits; leave it out, and publish the order at that time.")
    if order.not_before is not None and order.not_before > order.expires_at:
        raise BadOrder(f"not_before: {order.not_before.isoformat()} lies after expires_at; write an earlier time.")


def is_order_id(text: str) -> bool:
    """Whether a text found in the cluster may be an order's id: the object's owner may write anything there."""
    return bool(text) and _TAINT_VALUE.fullmatch(text) is not None


def _id_checked(order: Order) -> None:
    if not is_order_id(order.order_id):
        raise BadOrder(
            f"order_id: {quoted_value(order.order_id)} cannot be a taint's value; "
            "write at most 63 letters, digits, '-', '_' or '.', or leave it out."
        )
    if order.order_id == NO_ORDER and order.kind is OrderKind.DRAIN:
        raise BadOrder(f"order_id: {NO_ORDER!r} stands for a taint without a value; write another, or leave it out.")


def _object(data: bytes) -> Mapping[str, Any]:
    if len(data) > _MOST_BYTES:
        raise BadOrder(f"message data: {len(data)} bytes; an order has a few hundred, at most {_MOST_BYTES}.")
    try:
        fields = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadOrder(f'message data: not JSON ({error}); send for example {{"node": "gke-…"}}.') from error
    if not isinstance(fields, dict):
        raise BadOrder('message data: not a JSON object; send for example {"node": "gke-…"}.')
    return fields


def _node_named(fields: Mapping[str, Any]) -> None:
    if fields.get("kind") in (OrderKind.HOLD, OrderKind.LET_GO):
        _nodes_named(fields)
        return
    if fields.get("nodes"):
        raise BadOrder('nodes: only an order of a wave has them; send one message for each drain: {"node": "gke-…"}.')
    node = fields.get("node")
    if not isinstance(node, str) or not node:
        raise BadOrder('node: missing or not a name; send for example {"node": "gke-…"}.')
    if not NODE_NAME.fullmatch(node):
        raise BadOrder(f'node: {quoted_value(node)} cannot be a node\'s name; send for example {{"node": "gke-…"}}.')


def _nodes_named(fields: Mapping[str, Any]) -> None:
    """An order of a wave names its nodes by UID, and no single one."""
    nodes = fields.get("nodes")
    if fields.get("node") or not isinstance(nodes, dict) or not nodes:
        raise BadOrder('nodes: an order of a wave names its nodes by UID; leave node out, write {"UID": "gke-…"}.')
    for name in nodes.values():
        if not isinstance(name, str) or not NODE_NAME.fullmatch(name):
            raise BadOrder(f'nodes: {quoted_value(name)} cannot be a node\'s name; write {{"UID": "gke-…"}}.')


def quoted_value(value: object) -> str:
    """Return a wrong value for a sentence: escaped, and at most a part of a line."""
    text = repr(value if isinstance(value, str | int | float | bool | None) else type(value).__name__)
    return text if len(text) <= _MOST_ECHOED else f"{text[:_MOST_ECHOED]}…"


class DrainResult(msgspec.Struct, frozen=True, kw_only=True):
    """One message on the results topic. docs/orders.md explains each key."""

    order_id: str
    cluster: str
    node: str
    outcome: Outcome
    why: str = ""
    detail: str = ""
    dry_run: bool = False


_OUTCOMES: Final = {
    ReturnReason.OVERRULED: Outcome.OVERRULED,
    ReturnReason.RELEASED: Outcome.RELEASED,
    ReturnReason.STALE: Outcome.STALE,
}


def outcome_of(why: ReturnReason) -> Outcome:
    """Return how a drain that returned its node has ended, whether or not its record still stands."""
    return _OUTCOMES.get(why, Outcome.GIVEN_BACK)


def result_of(order: Order, outcome: Outcome, why: Reason | None = None, detail: str = "") -> DrainResult:
    return DrainResult(
        order_id=order.order_id,
        cluster=order.cluster,
        node=order.node,
        outcome=outcome,
        why=why.value if why else "",
        detail=detail,
        dry_run=order.dry_run,
    )
