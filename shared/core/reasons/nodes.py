"""Why a node stays: a row each, in the order in which the page of reasons lists them."""

from shared.core.reasons.pods import PodBlock
from shared.core.reasons.reason import NOTHING_TO_DO, Reason, ReasonGroup, reason_of_word
from shared.core.reasons.reason import ReasonRow as Row

FULL, PODS, ROOM, LIMITS, TIME, OFF, TROUBLE = ReasonGroup


class Unremovable(Reason):
    # fmt: off
    NO_POOL = Row("no_pool", "The node has no label cloud.google.com/gke-nodepool, so no policy applies.",
        "Restore the pool label of the node; Ebb drains no node without one.", OFF, underused=False)
    POOL_DISABLED = Row("pool_disabled", "The policy does not enable Ebb for this pool.",
        "Set enabled: true for the pool in the policy.", OFF, underused=False)
    POLICY_INVALID = Row("policy_invalid", "The policy is missing or invalid, so nothing is ordered.",
        "Run ebb policy check FILE and fix what it shows.", OFF, underused=False)
    NOT_AUTOSCALED = Row("not_autoscaled",
        "The pool is not autoscaled: the cluster autoscaler would never delete the node.",
        "Enable autoscaling on the pool.", OFF)
    ATOMIC_POOL = Row("atomic_pool", "The cluster autoscaler deletes all nodes of this group together or none.",
        "Scale the group's workload to zero, and the autoscaler deletes the whole group.", OFF)
    POOL_AT_MINIMUM = Row("pool_at_minimum", "The pool or its zone is at its autoscaling minimum.",
        "Lower the pool's autoscaling minimum.", LIMITS, message_id="no.scale.down.node.node.group.min.size.reached")
    RESOURCE_MINIMUM = Row("resource_minimum",
        "The cluster would fall below the CPU or memory minimum of node auto-provisioning.",
        "Lower the CPU or memory minimum of node auto-provisioning.", LIMITS,
        message_id="no.scale.down.node.minimal.resource.limits.exceeded")
    POOL_UPGRADING = Row("pool_upgrading", "GKE is upgrading the pool.", NOTHING_TO_DO, TROUBLE)
    STANDBY_NODE = Row("standby_node", "The node is empty standby capacity for a capacity buffer.",
        "Lower the replicas of its capacity buffer if less room is enough.", OFF, underused=False)
    MANAGED_NODE = Row("managed_node",
        "Its pods are billed instead of the node, by Google or for a virtual kubelet; removing it saves nothing.",
        "Nothing to do: the requests of its pods are paid for, wherever they run.", OFF, underused=False)
    BEING_MAINTAINED = Row("being_maintained",
        "A condition of the node shows that another user drains, maintains or shuts it down.",
        "Wait until that ends; kubectl describe node shows the condition and its reason.", TROUBLE)
    NOT_READY = Row("not_ready", "The node is not Ready.",
        "Check the node with kubectl describe node; it may be repaired or recreated.", TROUBLE)
    NO_ALLOCATABLE = Row("no_allocatable", "The node reports no allocatable CPU or memory.",
        "Check the node with kubectl describe node; its kubelet has not reported.", TROUBLE)
    CORDONED_BY_OTHER = Row("cordoned_by_other", "Another user cordoned the node.", "Run kubectl uncordon NODE.",
        TROUBLE)
    TAINTED = Row("tainted", "The node has a taint that is neither its pool's own nor in the policy's ignoreTaints.",
        "Remove the taint from the node, or add its key to ignoreTaints of the pool.", TROUBLE)
    GOING_AWAY = Row("going_away", "The cluster autoscaler or GKE is already removing the node.", NOTHING_TO_DO,
        TROUBLE)
    SCALE_DOWN_DISABLED = Row("scale_down_disabled",
        "An annotation or label on the node forbids scale-down or disruption.",
        "Remove the annotation or label from the node.", OFF,
        message_id="no.scale.down.node.scale.down.disabled.annotation")
    TOO_YOUNG = Row("too_young", "The node is younger than minimumNodeAge.",
        "Wait, or lower minimumNodeAge of the pool.", TIME, underused=False)
    BACKING_OFF = Row("backing_off",
        "A drain of this node failed, or a person stopped it; Ebb waits before it tries again.",
        "Wait; the detail shows why and until when.", TROUBLE, keeps_mark=True)
    BLOCKED_BY_POD = Row("blocked_by_pod", "A pod on the node may not be moved.",
        "Run ebb explain NODE to see each pod's own reason.", PODS, keeps_mark=True)
    NOT_EMPTY = Row("not_empty", "consolidationPolicy is WhenEmpty, and pods would have to move.",
        "Set consolidationPolicy: WhenUnderutilized if pods may be moved.", FULL)
    CPU_ABOVE_LIMIT = Row("cpu_above_limit", "CPU requests are at or above scaleDownCPURequestRatioLimit.",
        "Lower the pods' requests, or raise scaleDownCPURequestRatioLimit of the pool.", FULL, underused=False)
    MEMORY_ABOVE_LIMIT = Row("memory_above_limit", "Memory requests are at or above scaleDownMemoryRequestRatioLimit.",
        "Lower the pods' requests, or raise scaleDownMemoryRequestRatioLimit of the pool.", FULL, underused=False)
    ACCELERATOR_ABOVE_LIMIT = Row("accelerator_above_limit",
        "GPU or TPU requests are at or above scaleDownCPURequestRatioLimit.",
        "Wait until pods request fewer GPUs or TPU chips, or raise scaleDownCPURequestRatioLimit of the pool.", FULL,
        underused=False)
    CONSOLIDATION_OFF = Row("consolidation_off", "consolidateAfter is Never.",
        "Set consolidateAfter of the pool to a duration, for example 5m.", OFF)
    MARKED_RECENTLY = Row("marked_recently", "The node has not been underutilized long enough.",
        "Wait, or lower consolidateAfter of the pool.", TIME)
    TOO_FEW_UNDERUTILIZED = Row("too_few_underutilized",
        "Fewer nodes are underutilized than scaleDownRequiredUnderutilizedNodeCount and the drains in progress "
        "require.", "Wait, or lower scaleDownRequiredUnderutilizedNodeCount of the pool.", ROOM)
    NO_EXCESS = Row("no_excess", "The pool has fewer spare nodes than excessNodesThreshold.",
        "Wait until the pool is emptier, or lower its excessNodesThreshold.", ROOM)
    PAUSED = Row("paused", "Ebb is paused.", "Run ebb resume, or set paused: false in the policy.", OFF)
    RECENT_ADDITION = Row("recent_addition", "A node was added within timeSinceLastAddition.",
        "Wait, or lower timeSinceLastAddition.", TIME, passes=True)
    TIME_GAP = Row("time_gap", "The last drain started within timeGap.", "Wait, or lower timeGap.", TIME, passes=True)
    MINIMUM_NODES = Row("minimum_nodes", "The cluster would fall below minimumNodes.",
        "Lower cluster.minimumNodes if fewer nodes are enough.", LIMITS)
    MINIMUM_NON_TAINTED = Row("minimum_non_tainted_nodes", "The cluster would fall below minimumNonTaintedNodes.",
        "Lower cluster.minimumNonTaintedNodes if fewer nodes are enough.", LIMITS)
    BREAKER_OPEN = Row("breaker_open", "A circuit breaker is open: pods became Pending, or drains failed.",
        "Check the last drains with ebb status; the breaker closes by itself.", TROUBLE)
    FROZEN = Row("frozen", "A freeze in the policy is in force.",
        "Wait until the freeze ends, or remove it from cluster.freezes.", TIME)
    OUTSIDE_WINDOWS = Row("outside_windows", "No window of the pool is open.",
        "Wait for the pool's next window, or widen its windows.", TIME)
    BUDGET = Row("budget", "A disruption budget of the pool allows no other node now.",
        "Wait until other drains end, or raise the pool's budgets; nodes: 0 allows none at all.", LIMITS, passes=True)
    CLUSTER_BUDGET = Row("cluster_budget", "A disruption budget of the cluster allows no other node now.",
        "Wait until other drains end, or raise cluster.disruption.budgets; nodes: 0 allows none at all.",
        LIMITS, passes=True)
    AWAITING_DELETION = Row("awaiting_deletion",
        "Ebb holds as many nodes of the pool or the cluster as awaitingDeletion allows.",
        "Wait until the autoscaler deletes drained nodes, or raise cluster.disruption.awaitingDeletion.", LIMITS,
        passes=True)
    RATE = Row("rate", "The rate limit allows no other drain to start now.", "Wait, or raise the rate.", LIMITS,
        passes=True)
    NAMESPACE_RATE = Row("namespace_rate",
        "The drain would move more pods of a namespace than evictionsPerNamespace allows in its period.",
        "Wait, or raise cluster.evictionsPerNamespace.", LIMITS)
    WORKLOAD_MOVING = Row("workload_moving",
        "With other drains, too many pods of a workload without a PodDisruptionBudget could be away at once.",
        "Wait until other drains end, create a PodDisruptionBudget, or raise unprotected of the pool.", LIMITS,
        passes=True)
    DRAIN_TOO_LONG = Row("drain_too_long",
        "Its pods can only go one after another, and even at best the drain would miss its deadline.",
        "Wait until other drains end, raise drain.timeout, or let the pods become Ready sooner.", LIMITS)
    NODES_PER_PASS = Row("nodes_per_pass", "The pass has already taken maxNodesPerPass nodes of this pool.",
        "Wait for the next pass, or raise maxNodesPerPass of the pool.", LIMITS, passes=True)
    NO_PLACE_FOR_PODS = Row("no_place_for_pods", "Its pods do not all fit on the remaining nodes.",
        "Lower the requests or relax the constraints of its pods; otherwise the node is needed.", ROOM,
        message_id="no.scale.down.node.no.place.to.move.pods")
    NEEDED_BY_BUFFER = Row("needed_by_buffer",
        "Without the node a capacity buffer would lose room, and the autoscaler would add a node.",
        "Lower replicas or limits of the CapacityBuffer (of a ComputeClass: spec.buffers) if less room is enough.",
        ROOM)
    KEPT_AS_DESTINATION = Row("kept_as_destination",
        "Its room is needed by pods of other nodes, which together save more (docs/decisions/choosing.md).",
        "Wait: Ebb tries it again once those nodes are gone or cannot go.", ROOM)
    LEFT_TO_AUTOSCALER = Row("left_to_autoscaler", "The cluster autoscaler has announced to remove the node itself.",
        "Nothing to do: the autoscaler removes it, and moved pods avoid it until then.", TIME, passes=True)
    AUTOSCALER_DOES_BETTER = Row("autoscaler_does_better",
        "What Ebb could drain now saves no more, or little more, than what the cluster autoscaler removes by itself.",
        "Nothing to do: Ebb tries it again in each pass.", ROOM)
    AUTOSCALER_PACKS = Row("autoscaler_packs",
        "The cluster autoscaler empties nodes as full as this one itself, so Ebb would save nothing over days.",
        "Nothing to do; if Ebb should drain it, let the autoscaler delete only empty nodes (docs/empty-nodes.md).",
        ROOM, keeps_mark=True)
    SAVING_TOO_SMALL = Row("saving_too_small", "It saves less per evicted pod than minimumSavingPerEviction requires.",
        "Lower minimumSavingPerEviction of the pool if the node should go anyway.", LIMITS, keeps_mark=True)
    COVERED_BY_COMMITMENT = Row("covered_by_commitment",
        "Commitments cover all that the node costs: without it the bill stays the same.",
        "Wait until a commitment ends, or correct cluster.commitments if other machines use more.", LIMITS,
        keeps_mark=True)
    POOLS_UNKNOWN = Row("pools_unknown", "The GKE API did not answer, so pool minimums are unknown.",
        "Let the planner's service account read the GKE API (roles/container.viewer).", TROUBLE)
    UNFORESEEN = Row("unforeseen", "A fault of Ebb: the node could not be judged, so it stays.",
        "Report it to the maintainers, with the fault in the detail.", TROUBLE)
    # fmt: on


def group_of(word: str) -> ReasonGroup:
    """Return the group of what keeps a node; a word that no reason has is trouble."""
    reason = reason_of_word(word, Unremovable, PodBlock)
    return reason.row.group if reason else ReasonGroup.TROUBLE
