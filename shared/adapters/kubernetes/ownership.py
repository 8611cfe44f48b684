"""The patches by which Ebb takes a node and gives it back.

Each is one conditional merge patch: a merge patch replaces lists, so it carries all taints as they were read, field
by field, and the resourceVersion of that reading, without which it would undo what others wrote since.
"""

import json
from datetime import datetime
from typing import Any, Final

from shared.adapters.kubernetes import wire
from shared.core import names
from shared.core.selectors import NO_SCHEDULE
from shared.core.snapshot import Node

RawTaint = dict[str, Any]
_TAINT: Final = names.OUR_TAINT


class RawSpec(wire.Partial, frozen=True):
    taints: list[RawTaint] | None = None


class RawNode(wire.Partial, frozen=True):
    """A node's taints with every field, e.g. timeAdded, which the core's `Taint` leaves out."""

    spec: RawSpec = RawSpec()

    @property
    def taints(self) -> list[RawTaint]:
        return self.spec.taints or []


def taking(node: Node, taints: list[RawTaint], order_id: str, since: datetime) -> dict[str, Any]:
    """Return the patch that cordons the node and writes whose it is, in one."""
    record = json.dumps({"order_id": order_id, "since": since.isoformat()}, separators=(",", ":"))
    ours = {"key": _TAINT, "value": order_id, "effect": NO_SCHEDULE}
    others = [taint for taint in taints if taint.get("key") != _TAINT]
    return _patch(node, record, {"unschedulable": True, "taints": [*others, ours]})


def giving_back(node: Node, taints: list[RawTaint], order_id: str) -> dict[str, Any] | None:
    """Return the patch that makes the node schedulable and nobody's again; None where it is not that order's."""
    kept = [taint for taint in taints if (taint.get("key"), taint.get("value", "")) != (_TAINT, order_id)]
    if len(kept) == len(taints):
        return None
    return _patch(node, None, {"unschedulable": False, "taints": kept})


def _patch(node: Node, annotation: str | None, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": {
            "uid": node.uid,
            "resourceVersion": node.resource_version,
            "annotations": {names.OUR_ANNOTATION: annotation},
        },
        "spec": spec,
    }
