"""The patches by which Ebb takes a node and gives it back.

Each is one conditional merge patch: a merge patch replaces lists, so it carries all taints as they were read, field
by field, and the resourceVersion of that reading, without which it would undo what others wrote since.
"""

import json
from datetime import datetime
from typing import Any, Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.core.cluster import names
from shared.core.cluster.node import Node, holding_order
from shared.core.cluster.selectors import NO_SCHEDULE

RawTaint = dict[str, Any]
_TAINT: Final = names.OUR_TAINT
_MANAGER: Final = "ebb"
"""What the API server calls us: our User-Agent."""


class RawSpec(wire.Partial, frozen=True):
    taints: list[RawTaint] | None = None


class FieldManager(wire.Partial, frozen=True):
    """Who wrote which fields (metadata.managedFields)."""

    manager: str = ""
    fields: dict[str, Any] | None = msgspec.field(default=None, name="fieldsV1")

    @property
    def cordoned(self) -> bool:
        return "f:unschedulable" in ((self.fields or {}).get("f:spec") or {})


class RawMetadata(wire.Partial, frozen=True):
    managed_fields: list[FieldManager] | None = None


class RawNode(wire.Partial, frozen=True):
    """A node's taints with every field, e.g. timeAdded, which the core's `Taint` leaves out, and who cordoned it."""

    metadata: RawMetadata = RawMetadata()
    spec: RawSpec = RawSpec()

    @property
    def taints(self) -> list[RawTaint]:
        return self.spec.taints or []

    @property
    def cordoned_by_another(self) -> bool:
        """Whether the API server says that somebody else set `unschedulable` last."""
        owners = {each.manager for each in self.metadata.managed_fields or () if each.cordoned}
        return bool(owners) and _MANAGER not in owners


def take_patch(node: Node, taints: list[RawTaint], order_id: str, since: datetime) -> dict[str, Any]:
    """Return the patch that cordons the node and writes whose it is, in one."""
    record = json.dumps({"order_id": order_id, "since": since.isoformat()}, separators=(",", ":"))
    ours = {"key": _TAINT, "value": order_id, "effect": NO_SCHEDULE}
    others = [taint for taint in taints if taint.get("key") != _TAINT]
    return _patch(node, record, {"unschedulable": True, "taints": [*others, ours]})


def give_back_patch(node: Node, raw: RawNode, order_id: str) -> dict[str, Any] | None:
    """Return the patch that makes the node schedulable and nobody's again; None where it is not that order's.

    Where somebody has removed our taint alone, our annotation proves whose the cordon is, unless somebody has cordoned
    the node since.
    """
    if holding_order(node) != order_id:
        return None
    if node.drain_taint is None and raw.cordoned_by_another:
        return _patch(node, None, {})
    kept = [taint for taint in raw.taints if not _is_of(taint, order_id)]
    return _patch(node, None, {"unschedulable": False, "taints": kept})


def _is_of(taint: RawTaint, order_id: str) -> bool:
    return taint.get("key") == _TAINT and (taint.get("value") or names.NO_ORDER) == order_id


def _patch(node: Node, annotation: str | None, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": {
            "uid": node.uid,
            "resourceVersion": node.resource_version,
            "annotations": {names.OUR_ANNOTATION: annotation},
        },
        "spec": spec,
    }
