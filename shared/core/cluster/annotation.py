"""What our annotation on a node says: which order cordoned it, and since when.

It is written with the cordon and the taint in one patch, and outlives them when somebody removes those by hand. While
the taint stands, the taint says whose the node is; without it the annotation does. Must not judge.
"""

from datetime import datetime
from typing import Annotated

import msgspec

from shared.core.cluster.names import OUR_ANNOTATION
from shared.core.cluster.node import Node


class DrainAnnotation(msgspec.Struct, frozen=True):
    """The annotation's content."""

    since: Annotated[datetime, msgspec.Meta(tz=True)]
    order_id: Annotated[str, msgspec.Meta(max_length=63, pattern=r"^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$")] = ""
    """What may be a taint's value: an order id is one."""


def read_annotation(node: Node) -> DrainAnnotation | None:
    """Return what the annotation says; None without one, or where somebody has written nonsense into it."""
    try:
        return msgspec.json.decode(node.annotations.get(OUR_ANNOTATION, ""), type=DrainAnnotation)
    except msgspec.DecodeError:
        return None


def holding_order(node: Node) -> str | None:
    """Return the order that the node is held for: by our taint, or where that is gone by our annotation."""
    if node.drain_taint is not None:
        return node.drain_taint
    note = read_annotation(node)
    return (note.order_id or None) if note else None
