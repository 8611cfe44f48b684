"""What our annotation on a node says: which order cordoned it, and since when.

It is written with the cordon and the taint in one patch, and outlives them when a person removes those by hand. It is
read, never believed alone: the taint says whose the node is. Must not judge.
"""

from datetime import datetime
from typing import Annotated

import msgspec

from shared.core.names import OUR_ANNOTATION
from shared.core.snapshot import Node


class Noted(msgspec.Struct, frozen=True):
    """The annotation's content."""

    since: Annotated[datetime, msgspec.Meta(tz=True)]
    order_id: str = ""


def noted(node: Node) -> Noted | None:
    """Return what the annotation says; None without one, or where somebody has written nonsense into it."""
    try:
        return msgspec.json.decode(node.annotations.get(OUR_ANNOTATION, ""), type=Noted)
    except msgspec.DecodeError:
        return None
