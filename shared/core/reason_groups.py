"""Why nodes stay, in seven words for a chart: each reason belongs to one group.

A chart with a line for each of some sixty reasons says nothing, and a log-based metric has a fixed list of
series. The exact reason stands in `node_decision`.
"""

from enum import StrEnum
from typing import Final

from shared.core.reasons import PodBlock, Unremovable


class ReasonGroup(StrEnum):
    """What has to change before a node may go."""

    FULL = "full"
    """It is used too much."""
    PODS = "pods"
    """A pod on it may not be moved."""
    ROOM = "room"
    """The others have no room for its pods."""
    LIMITS = "limits"
    """Budgets, rates and minimums."""
    TIME = "time"
    """It is a matter of time: ages, marks, gaps, windows."""
    OFF = "off"
    """Somebody switched it off, or GKE would not delete it."""
    TROUBLE = "trouble"
    """Something is wrong or under way with the node or its pool."""


_UNREMOVABLE: Final[dict[ReasonGroup, tuple[Unremovable, ...]]] = {
    ReasonGroup.FULL: (
        Unremovable.CPU_ABOVE_LIMIT,
        Unremovable.MEMORY_ABOVE_LIMIT,
        Unremovable.ACCELERATOR_ABOVE_LIMIT,
        Unremovable.NOT_EMPTY,
    ),
    ReasonGroup.PODS: (Unremovable.BLOCKED_BY_POD,),
    ReasonGroup.ROOM: (
        Unremovable.NO_PLACE_FOR_PODS,
        Unremovable.NEEDED_BY_BUFFER,
        Unremovable.KEPT_AS_DESTINATION,
        Unremovable.NO_EXCESS,
        Unremovable.TOO_FEW_UNDERUTILIZED,
    ),
    ReasonGroup.LIMITS: (
        Unremovable.BUDGET,
        Unremovable.CLUSTER_BUDGET,
        Unremovable.RATE,
        Unremovable.NAMESPACE_RATE,
        Unremovable.WORKLOAD_MOVING,
        Unremovable.DRAIN_TOO_LONG,
        Unremovable.NODES_PER_PASS,
        Unremovable.SAVING_TOO_SMALL,
        Unremovable.MINIMUM_NODES,
        Unremovable.MINIMUM_NON_TAINTED,
        Unremovable.POOL_AT_MINIMUM,
        Unremovable.RESOURCE_MINIMUM,
    ),
    ReasonGroup.TIME: (
        Unremovable.TOO_YOUNG,
        Unremovable.MARKED_RECENTLY,
        Unremovable.RECENT_ADDITION,
        Unremovable.TIME_GAP,
        Unremovable.OUTSIDE_WINDOWS,
        Unremovable.FROZEN,
    ),
    ReasonGroup.OFF: (
        Unremovable.NO_POOL,
        Unremovable.POOL_DISABLED,
        Unremovable.POLICY_INVALID,
        Unremovable.NOT_AUTOSCALED,
        Unremovable.ATOMIC_POOL,
        Unremovable.STANDBY_NODE,
        Unremovable.MANAGED_NODE,
        Unremovable.SCALE_DOWN_DISABLED,
        Unremovable.CONSOLIDATION_OFF,
        Unremovable.PAUSED,
    ),
    ReasonGroup.TROUBLE: (
        Unremovable.NOT_READY,
        Unremovable.NO_ALLOCATABLE,
        Unremovable.CORDONED_BY_OTHER,
        Unremovable.TAINTED,
        Unremovable.GOING_AWAY,
        Unremovable.BEING_MAINTAINED,
        Unremovable.POOL_UPGRADING,
        Unremovable.BACKING_OFF,
        Unremovable.BREAKER_OPEN,
        Unremovable.POOLS_UNKNOWN,
        Unremovable.UNFORESEEN,
    ),
}
GROUP_OF: Final[dict[str, ReasonGroup]] = {
    **{block.value: ReasonGroup.PODS for block in PodBlock},
    **{reason.value: group for group, reasons in _UNREMOVABLE.items() for reason in reasons},
}
"""By the reason's word; a test holds it to name every reason."""
