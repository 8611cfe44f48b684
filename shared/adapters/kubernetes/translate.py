"""Nodes, PodDisruptionBudgets and namespaces: the API's objects into the core's. Pods are `fold`'s."""

import re
from datetime import datetime, timedelta
from typing import Final

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.selectors import label_selector, taints
from shared.core.cluster.disruption_budget import PodDisruptionBudget
from shared.core.cluster.kubelet import Kubelet, minor_version
from shared.core.cluster.names import LIFECYCLE_CONDITIONS, SUSPENDED_CONDITION
from shared.core.cluster.node import Node
from shared.core.cluster.resources import Resources
from shared.core.policy import Limit
from shared.errors import BadInput

_REGISTRATION: Final = timedelta(seconds=60)
_READY: Final = "Ready"
_TOLD_CONDITIONS: Final = frozenset({*LIFECYCLE_CONDITIONS, SUSPENDED_CONDITION})
_PERCENT: Final = re.compile(r"([0-9]{1,3})%", re.ASCII)
_NEVER_HEARD: Final = "NodeStatusNeverUpdated"
"""The node controller's reason for a node whose kubelet has never reported."""


def node(given: wire.Node) -> Node:
    """Return the node.

    Raises:
        BadInput: it has no creationTimestamp, or an allocatable amount cannot be read.
    """
    meta, created = given.metadata, given.metadata.creation_timestamp
    if created is None:
        raise BadInput(f"node {meta.name!r} has no metadata.creationTimestamp; it must come from a cluster as it is.")
    condition = next((each for each in given.status.conditions or () if each.type == _READY), None)
    return Node(
        name=meta.name,
        uid=meta.uid,
        created=created,
        resource_version=meta.resource_version,
        labels=meta.labels or {},
        annotations=meta.annotations or {},
        taints=taints(given.spec.taints),
        unschedulable=given.spec.unschedulable,
        ready=condition is not None and condition.status == "True",
        once_ready=_once_ready(condition, created),
        allocatable=Resources.parse(given.status.allocatable or {}),
        conditions=frozenset(each.type for each in given.status.conditions or () if _is_told(each)),
        kubelet=_kubelet(given.status),
        version=_version(given.status).removeprefix("v"),
    )


def _is_told(condition: wire.Condition) -> bool:
    return condition.type in _TOLD_CONDITIONS and condition.status == "True"


def _kubelet(status: wire.NodeStatus) -> Kubelet:
    return Kubelet(minor_version(_version(status)), frozenset(status.declared_features or ()))


def _version(status: wire.NodeStatus) -> str:
    return status.node_info.kubelet_version if status.node_info else ""


def _once_ready(condition: wire.Condition | None, created: datetime) -> bool:
    """Return whether the node is Ready or has been.

    The API keeps no history, but a condition's lastTransitionTime: a node that registered NotReady and has stayed so
    bears the time of its registration, seconds after its creation; a later transition of a node that is NotReady
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
    """Return the budget.

    Raises:
        BadInput: minAvailable or maxUnavailable is neither a number nor a percentage.
    """
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
    )


def limit(given: int | str | None, where: str) -> Limit | None:
    """Return a number or a percentage; `where` names the object in a fault.

    Raises:
        BadInput: it is neither.
    """
    if given is None or isinstance(given, int):
        return None if given is None else Limit(count=given)
    percent = _PERCENT.fullmatch(given)
    if percent is None:
        raise BadInput(f"{where}: {given!r} is neither a number nor a percentage.")
    return Limit(percent=int(percent[1]))
