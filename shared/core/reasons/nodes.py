"""Why a node stays, how an order or a drain ends, and why less was saved than promised.

A row each, in the order in which the page of reasons lists them.
"""

from typing import Final

from shared.core.reasons.reason import NOTHING_TO_DO, After, PodBlock, Reason, ReasonGroup, reason_of_word
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


_AGAIN: Final = "Look at the node and its pods, then run ebb drain again once the back-off in ebb status is over."
_ONGOING: Final = "Nothing to do; ebb status shows the drain that holds the node."


class Refusal(Reason):
    """Why the drainer declines an order: the order is forgotten and the next pass orders again."""

    # fmt: off
    MALFORMED = Row("malformed", "The message is not an order; the topic for rejected orders has it.",
        "Use the same version of ebb as the functions.")
    OTHER_CLUSTER = Row("other_cluster", "The order is for another cluster.",
        "Set EBB_CLUSTER and EBB_TOPIC to those of one cluster.")
    EXPIRED = Row("expired", "No drainer claimed the order before it expired.",
        "Run ebb drain again; if it expires again, check the push subscription and the drainer.")
    OLD_GENERATION = Row("old_generation", "A later step of this drain has already started.", _ONGOING)
    ALREADY_SETTLED = Row("already_settled", "This order has already ended.",
        "Run ebb drain again: it makes a new order.")
    NODE_UNKNOWN = Row("node_unknown", "The cluster has no node of that name.",
        "Check the name with kubectl get nodes: the node may be gone, or in another cluster.")
    NODE_REPLACED = Row("node_replaced", "Another node has that name now (its UID differs).",
        "Run ebb drain again if you mean the node that has the name now.")
    OTHER_NODE = Row("other_node", "The drain of this order id is for another node.",
        "Omit order_id: the message then has an id of its own.")
    CLAIMED_BY_OTHER = Row("claimed_by_other", "Another order holds the node.", _ONGOING)
    POLICY_INVALID = Row("policy_invalid", "The policy is missing or invalid; nothing new starts.",
        "Run ebb policy check FILE and fix what it shows.")
    PREFLIGHT = Row("preflight", "The Eviction API refused an eviction in a dry run.",
        "Fix what the Eviction API named, or wait until the PodDisruptionBudget allows a disruption.")
    # fmt: on


class Outcome(Reason):
    # fmt: off
    REMOVED = Row("removed", "The node is gone.")
    GIVEN_BACK = Row("given_back", "The node was uncordoned and untainted; the reason shows why.")
    RELEASED = Row("released", "A release uncordoned the node.")
    OVERRULED = Row("overruled", "A person took the node back; Ebb leaves it alone for 24 h.")
    REFUSED = Row("refused", "The order was declined before anything was done.")
    WOULD_DRAIN = Row("would_drain", "Dry run: all checks passed and nothing was done.")
    STALE = Row("stale", "The node was uncordoned untouched: its pods no longer have a place.")
    # fmt: on


class ReturnReason(Reason):
    """Why a drain in progress returns its node."""

    # fmt: off
    DEADLINE = Row("deadline", "The drain deadline passed; the detail names what still held the node.",
        "Run more replicas, let the PodDisruptionBudget allow more, or raise drain.timeout.", after=After.FAILURE)
    PAUSED = Row("paused", "Ebb was paused, disabled for the pool, or set to dry run.",
        "Run ebb resume, or set paused, dryRun or enabled in the policy, then run ebb drain again.",
        after=After.NOTHING)
    EVICTION_FORBIDDEN = Row("eviction_forbidden", "The API server or a webhook refused an eviction for good.",
        "Fix what the API server or the webhook named, then run ebb drain again.", after=After.FAILURE)
    SEVERAL_PDBS = Row("several_pdbs", "Several PodDisruptionBudgets match a pod.", PodBlock.SEVERAL_PDBS.remedy,
        after=After.FAILURE)
    POD_BLOCKS = Row("pod_blocks", "A pod that may not be moved started on the node.",
        "Run ebb explain NODE to see the pod's reason.", after=After.FAILURE)
    POD_WAITS = Row("pod_waits",
        "Before the cordon a pod started that needs time (of a Job, or a young one); nothing failed.",
        "Run ebb drain again once the pod is done; ebb explain NODE shows what it waits for.", after=After.NOTHING)
    REPLACEMENT_PENDING = Row("replacement_pending", "A replacement of an evicted pod found no node.",
        "Make room for the pod: kubectl describe pod shows what is missing.", after=After.FAILURE)
    SURGE_PENDING = Row("surge_pending",
        "The second pod of a restarted Deployment found no node; Ebb undid the restart.",
        "Make room for one more such pod: the events of its namespace show what is missing.")
    SURGE_FAILED = Row("surge_failed",
        "A Deployment that Ebb restarted made no progress, or a person undid the restart.",
        "Check with kubectl rollout status why the Deployment makes no progress, and fix its template.")
    SURGE_REFUSED = Row("surge_refused", "The API server or a webhook refused to restart a Deployment.",
        "Apply infra/options/surge.yaml or fix the webhook, as the detail shows; or change singleReplicas.")
    DEMAND = Row("demand", "A pending pod fits on the node, so its room was returned.",
        "Nothing to do: the room is needed.")
    BUFFER = Row("buffer", "A capacity buffer lost room that the node has, so its room was returned.",
        "Nothing to do: the buffer needs the room.")
    BREAKER = Row("breaker",
        "A pod moved from the pool found no place, so drains of the pool that still move pods stop.",
        "Check with kubectl describe pod why the moved pod found no place; the breaker closes by itself.",
        after=After.NOTHING)
    WATCHDOG = Row("watchdog", "The cluster autoscaler did not delete the drained node in time.",
        "Check in the autoscaler's events why it kept the empty node (kubectl describe node).", after=After.FAILURE)
    ORPHAN = Row("orphan", "Ebb's taint, annotation or restart remained without an active claim.", _AGAIN,
        after=After.NOTHING)
    RELEASED = Row("released", "A release requested the node.", "Nothing to do; after 24 h the node may go again.",
        after=After.A_DAY)
    OVERRULED = Row("overruled", "A person uncordoned the node, or removed Ebb's taint.",
        "Nothing to do; after 24 h the node may go again.", after=After.A_DAY)
    CORDONED_BY_OTHER = Row("cordoned_by_other", "Another user cordoned the node before Ebb did.",
        Unremovable.CORDONED_BY_OTHER.remedy)
    GOING_AWAY = Row("going_away", "The cluster autoscaler or GKE began to remove the node before Ebb changed it.",
        "Nothing to do: the node goes by itself.", after=After.NOTHING)
    STALE = Row("stale", "Other pods took the room before the first eviction; nothing was moved.",
        "Run ebb drain again once there is room; ebb explain NODE shows how much is missing.", after=After.NOTHING)
    # fmt: on


class Shortfall(Reason):
    """Why less was saved than a policy promised, where no decision about a node has the word."""

    # fmt: off
    FEWER_REMOVABLE = Row("fewer_removable",
        "Fewer nodes could go than on the policy's first day: more were needed, or their drains still ran.",
        "Nothing to do if the nodes are needed; ebb why-not shows what would free more.")
    REMOVED_BY_OTHERS = Row("removed_by_others",
        "The autoscaler or others have removed nodes since the policy came into force.",
        "Nothing to do: these nodes are gone, though not by Ebb.")
    DRY_RUN = Row("dry_run", "A dry run drains nothing.",
        "Set dryRun: false in the policy once its plans are as you want them.")
    # fmt: on
