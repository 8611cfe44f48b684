"""Nodes and PodDisruptionBudgets into the core's, and the patches by which Ebb takes a node and gives it back.

Each patch is one conditional merge patch: a merge patch replaces lists, so it carries all taints as they were read,
field by field, and the resourceVersion of that reading, without which it would undo what others wrote since.
"""

import json
import re
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.selectors import label_selector
from shared.core.cluster import names
from shared.core.cluster.names import LIFECYCLE_CONDITIONS, SUSPENDED_CONDITION
from shared.core.cluster.node import Kubelet, Node, holding_order, minor_version
from shared.core.cluster.resources import Resources
from shared.core.cluster.selectors import NO_SCHEDULE, PREFER_NO_SCHEDULE
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.policy import Limit
from shared.errors import BadInput

_REGISTRATION: Final = timedelta(seconds=60)
_KEPT: Final = frozenset({*LIFECYCLE_CONDITIONS, SUSPENDED_CONDITION})
_SYNC_FAILED: Final = "SyncFailed"
"""The disruption controller's reason for a budget whose pods it cannot count (policy/v1, DisruptionAllowed)."""
_PERCENT: Final = re.compile(r"([0-9]{1,3})%", re.ASCII)
_NEVER_HEARD: Final = "NodeStatusNeverUpdated"
"""The node controller's reason for a node whose kubelet has never reported."""


def node(given: wire.Node) -> Node:
    """Return the node. Raises BadInput without a creationTimestamp, and for an amount that is no quantity."""
    meta, created = given.metadata, given.metadata.creation_timestamp
    if created is None:
        raise BadInput(f"node {meta.name!r} has no metadata.creationTimestamp; it must come from a cluster as it is.")
    conditions = given.status.conditions or ()
    condition = next((found for found in conditions if found.type == "Ready"), None)
    version = given.status.node_info.kubelet_version if given.status.node_info else ""
    return Node(
        name=meta.name,
        uid=meta.uid,
        created=created,
        resource_version=meta.resource_version,
        labels=meta.labels or {},
        annotations=meta.annotations or {},
        taints=given.spec.taints or (),
        unschedulable=given.spec.unschedulable,
        ready=condition is not None and condition.status == "True",
        once_ready=_once_ready(condition, created),
        allocatable=Resources.parse(given.status.allocatable or {}),
        conditions=frozenset(found.type for found in conditions if found.type in _KEPT and found.status == "True"),
        kubelet=Kubelet(minor_version(version), frozenset(given.status.declared_features or ())),
        version=version.removeprefix("v"),
    )


def _once_ready(condition: wire.Condition | None, created: datetime) -> bool:
    """Return whether the node is Ready or has been.

    The API keeps no history, but a condition's lastTransitionTime: a node that registered NotReady and has stayed so
    has the time of its registration, seconds after its creation; a later transition of a node that is NotReady
    now can only have led away from Ready (or from Unknown, which follows a kubelet that had reported). A node that
    lost Ready within its first minute is taken for one that never had it; it then counts in no budget's
    denominator, which makes budgets smaller, never larger.
    """
    if condition is None or condition.reason == _NEVER_HEARD:
        return False
    if condition.status == "True":
        return True
    changed = condition.last_transition_time
    return changed is not None and changed - created > _REGISTRATION


def disruption_budget(given: wire.PodDisruptionBudget) -> PodDisruptionBudget:
    """Return the budget. Raises BadInput when one of its limits is neither a number nor a percentage."""
    meta, spec, status = given.metadata, given.spec, given.status
    return PodDisruptionBudget(
        namespace=meta.namespace,
        name=meta.name,
        selector=label_selector(spec.selector),
        disruptions_allowed=status.disruptions_allowed,
        always_evict_unhealthy=spec.unhealthy_pod_eviction_policy == "AlwaysAllow",
        min_available=limit(spec.min_available, f"PodDisruptionBudget {meta.namespace}/{meta.name}"),
        max_unavailable=limit(spec.max_unavailable, f"PodDisruptionBudget {meta.namespace}/{meta.name}"),
        expected_pods=status.expected_pods,
        current_healthy=status.current_healthy,
        desired_healthy=status.desired_healthy,
        observed=status.observed_generation >= meta.generation,
        fault=next(
            (found.message or _SYNC_FAILED for found in status.conditions or () if found.reason == _SYNC_FAILED), ""
        ),
    )


def limit(given: int | str | None, where: str) -> Limit | None:
    """Return a number or a percentage. Raises BadInput, with `where` it stands, for anything else and below 0."""
    if given is None:
        return None
    if isinstance(given, int) and given >= 0:
        return Limit(count=given)
    percent = _PERCENT.fullmatch(str(given))
    if percent is None:
        raise BadInput(f"{where}: {given!r} is neither a number nor a percentage.")
    return Limit(percent=int(percent[1]))


RawTaint = dict[str, Any]
_TAINT: Final = names.OUR_TAINT
_MANAGER: Final = "ebb"  # What the API server calls us: our User-Agent.


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
        """Whether somebody else set `unschedulable` last, by the API server's managedFields."""
        owners = {writer.manager for writer in self.metadata.managed_fields or () if writer.cordoned}
        return bool(owners) and _MANAGER not in owners


def take_patch(node: Node, taints: list[RawTaint], order_id: str, since: datetime) -> dict[str, Any]:
    """Return the patch that cordons the node and writes whose it is, in one."""
    record = json.dumps({"order_id": order_id, "since": since.isoformat()}, separators=(",", ":"))
    ours = {"key": _TAINT, "value": order_id, "effect": NO_SCHEDULE}
    others = [taint for taint in taints if taint.get("key") != _TAINT]
    return _patch(node, {"unschedulable": True, "taints": [*others, ours]}, annotations={names.OUR_ANNOTATION: record})


def return_patch(node: Node, raw: RawNode, order_id: str) -> dict[str, Any] | None:
    """Return the patch that makes the node schedulable and nobody's again; None where it is not that order's."""
    if holding_order(node) != order_id:
        return None
    nobodys = {names.OUR_ANNOTATION: None}
    # our annotation alone proves whose the cordon is, unless somebody has cordoned the node since
    if node.drain_taint is None and raw.cordoned_by_another:
        return _patch(node, {}, annotations=nobodys)
    kept = [
        taint
        for taint in raw.taints
        if taint.get("key") != _TAINT or (taint.get("value") or names.NO_ORDER) != order_id
    ]
    return _patch(node, {"unschedulable": False, "taints": kept}, annotations=nobodys)


def soft_taint_patch(node: Node, taints: list[RawTaint], *, held: bool) -> dict[str, Any]:
    others = [taint for taint in taints if taint.get("key") != names.HELD_TAINT]
    ours = [{"key": names.HELD_TAINT, "effect": PREFER_NO_SCHEDULE}] if held else []
    return _patch(node, {"taints": [*others, *ours]})


def _patch(node: Node, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"uid": node.uid, "resourceVersion": node.resource_version, **metadata}, "spec": spec}
