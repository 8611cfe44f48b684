"""Every refusal and every outcome has a name: one word and one sentence, the same in code, log, report and docs.

Must not decide anything: the rules that give these reasons live in their own modules.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Self


class Reason(StrEnum):
    """A word with one sentence that a person can act on."""

    sentence: str

    def __new__(cls, word: str, sentence: str) -> Self:
        member = str.__new__(cls, word)
        member._value_ = word
        member.sentence = sentence
        return member


@dataclass(frozen=True, slots=True)
class Blocker:
    """One thing that stands in a node's way: the reason, what it is about (`ns/pod`, a PDB, a budget), details."""

    reason: Reason
    object: str = ""
    detail: str = ""

    @property
    def sentence(self) -> str:
        about = (
            f" ({', '.join(part for part in (self.object, self.detail) if part)})" if self.object or self.detail else ""
        )
        return f"{self.reason.sentence}{about}"


class PodBlock(Reason):
    """Why a pod keeps its node (the rules about pods, and what placement does not model)."""

    NOT_SAFE_TO_EVICT = "not_safe_to_evict", "The pod's annotation safe-to-evict is false."
    DO_NOT_DISRUPT = "do_not_disrupt", "An annotation or label on the pod asks not to disrupt it."
    NOT_REPLICATED = "not_replicated", "No controller would create the pod again."
    LOCAL_STORAGE = "local_storage", "The pod keeps data in an emptyDir or hostPath volume of this node."
    KUBE_SYSTEM = (
        "kube_system",
        "A kube-system pod that the policy leaves where it is (kubeSystemPods: leave).",
    )
    PDB_EXHAUSTED = "pdb_exhausted", "A PodDisruptionBudget allows no disruption now."
    SEVERAL_PDBS = (
        "several_pdbs",
        "More than one PodDisruptionBudget matches the pod; the eviction API refuses such pods.",
    )
    WAITS_FOR_COMPLETION = "waits_for_completion", "The pod asks to be left until it completes."
    SINGLE_REPLICA = (
        "single_replica",
        "The pod is its workload's only replica, and the policy moves no such pod (singleReplicas: never).",
    )
    JOB = "job", "The pod belongs to a Job, and the policy moves no such pod (jobs: never)."
    JOB_RUNNING = "job_running", "The pod belongs to a Job and is left until it completes (jobs: wait)."
    ROLLING_OUT = "rolling_out", "The pod's workload is in the middle of a rollout."
    TOO_FEW_AVAILABLE = (
        "too_few_available",
        "The workload has no PodDisruptionBudget, and no more of its replicas may be away now (unprotected).",
    )
    TOO_YOUNG_POD = "too_young_pod", "The pod is younger than minimumPodAge."
    GRACE_TOO_LONG = (
        "grace_too_long",
        "The pod asks for more grace than maxGracePeriod gives, and the policy cuts none (longGrace: keep).",
    )
    STILL_TERMINATING = (
        "still_terminating",
        "The pod is already terminating, and was given longer than a drain lasts.",
    )
    TOLERATES_DRAIN_TAINT = (
        "tolerates_drain_taint",
        "The pod tolerates our taint and would come back to the node.",
    )
    NAMES_ITS_NODE = "names_its_node", "The pod asks for this node by name and fits on no other."
    FOREIGN_SCHEDULER = "foreign_scheduler", "The pod is placed by a scheduler whose rules are not modelled."
    RESOURCE_CLAIMS = "resource_claims", "The pod uses dynamic resource claims, which are not modelled."
    SCHEDULING_GATES = (
        "scheduling_gates",
        "The pod's template carries scheduling gates; its replacement would wait for them.",
    )
    TOPOLOGY_SPREAD = (
        "topology_spread",
        "The pod has a hard topology spread constraint, which is not modelled.",
    )
    POD_AFFINITY = "pod_affinity", "The pod has required inter-pod affinity, which is not modelled."
    HOST_PORTS = "host_ports", "The pod binds host ports, which are not modelled."
    VOLUMES = "volumes", "The pod mounts a volume whose place is not modelled."
    UNMODELLED = "unmodelled", "The pod has a scheduling rule that is not modelled."


class Finding(NamedTuple):
    """One thing in a pod that blocks it, with what it is about."""

    reason: PodBlock
    detail: str = ""


class Unremovable(Reason):
    """Why a node stays (the rules about nodes, gates, marks, placement, budgets)."""

    NO_POOL = "no_pool", "The node has no cloud.google.com/gke-nodepool label, so no policy applies to it."
    POOL_DISABLED = "pool_disabled", "The policy does not enable Ebb for this pool."
    POLICY_INVALID = "policy_invalid", "The policy is missing or invalid, so nothing is ordered."
    NOT_AUTOSCALED = (
        "not_autoscaled",
        "The pool is not autoscaled: the cluster autoscaler would never delete the node.",
    )
    ATOMIC_POOL = (
        "atomic_pool",
        "The cluster autoscaler removes the node only together with all others of its group.",
    )
    POOL_AT_MINIMUM = "pool_at_minimum", "The pool or its zone is at its autoscaling minimum."
    POOL_UPGRADING = "pool_upgrading", "An upgrade of the pool is under way."
    NOT_READY = "not_ready", "The node is not Ready."
    NO_ALLOCATABLE = "no_allocatable", "The node reports no allocatable CPU or memory."
    CORDONED_BY_OTHER = (
        "cordoned_by_other",
        "Somebody else cordoned the node; uncordon it to let Ebb consider it.",
    )
    TAINTED = (
        "tainted",
        "The node carries a taint that is neither its pool's own nor on the policy's ignore list.",
    )
    GOING_AWAY = "going_away", "The cluster autoscaler or GKE is already removing or moving the node."
    SCALE_DOWN_DISABLED = "scale_down_disabled", "An annotation or label on the node forbids scale-down or disruption."
    TOO_YOUNG = "too_young", "The node is younger than minimumNodeAge."
    BACKING_OFF = "backing_off", "A drain of this node failed or was overruled; it is left alone for a while."
    BLOCKED_BY_POD = "blocked_by_pod", "A pod on the node may not be moved."
    NOT_EMPTY = "not_empty", "consolidationPolicy is WhenEmpty and pods would have to move."
    CPU_ABOVE_LIMIT = "cpu_above_limit", "CPU requests are at or above scaleDownCPURequestRatioLimit."
    MEMORY_ABOVE_LIMIT = (
        "memory_above_limit",
        "Memory requests are at or above scaleDownMemoryRequestRatioLimit.",
    )
    ACCELERATOR_ABOVE_LIMIT = (
        "accelerator_above_limit",
        "GPU or TPU requests are at or above scaleDownCPURequestRatioLimit.",
    )
    CONSOLIDATION_OFF = "consolidation_off", "consolidateAfter is Never."
    MARKED_RECENTLY = "marked_recently", "The node has not been under-utilised long enough."
    TOO_FEW_UNDERUTILIZED = (
        "too_few_underutilized",
        "Fewer nodes are under-utilised than scaleDownRequiredUnderutilizedNodeCount plus drains in flight.",
    )
    NO_EXCESS = "no_excess", "The pool has fewer excess nodes than excessNodesThreshold."
    PAUSED = "paused", "Ebb is paused."
    RECENT_ADDITION = "recent_addition", "A node was added within timeSinceLastAddition."
    TIME_GAP = "time_gap", "The last drain started within timeGap."
    MINIMUM_NODES = "minimum_nodes", "The cluster would fall below minimumNodes."
    MINIMUM_NON_TAINTED = "minimum_non_tainted_nodes", "The cluster would fall below minimumNonTaintedNodes."
    BREAKER_OPEN = "breaker_open", "A circuit breaker is open after pods went Pending or drains failed."
    FROZEN = "frozen", "A freeze of the policy is in force."
    OUTSIDE_WINDOWS = "outside_windows", "No allow-window of the pool is open."
    BUDGET = "budget", "A disruption budget of the pool allows no further node now."
    CLUSTER_BUDGET = "cluster_budget", "The cluster-wide disruption budget allows no further node now."
    RATE = "rate", "The rate limit allows no further drain to start now."
    NAMESPACE_RATE = (
        "namespace_rate",
        "More pods of a namespace would be moved than evictionsPerNamespace allows in its period.",
    )
    WORKLOAD_MOVING = (
        "workload_moving",
        "Too many pods of a workload without a PodDisruptionBudget could be away at once with another drain's.",
    )
    NODES_PER_PASS = "nodes_per_pass", "The pass has already taken maxNodesPerPass nodes of this pool."
    NO_PLACE_FOR_PODS = "no_place_for_pods", "Its pods do not all fit on the remaining nodes."
    POOLS_UNKNOWN = "pools_unknown", "The GKE API did not answer, so pool minimums are unknown."


class DrainReason(StrEnum):
    """Why a node is drained."""

    EMPTY = "empty"
    UNDERUTILIZED = "underutilized"
    EXPIRED = "expired"
    MANUAL = "manual"


class Refusal(Reason):
    """Why the drainer declines an order: the order is forgotten and the next pass orders again."""

    MALFORMED = "malformed", "The message is not an order; it is kept on the rejected topic."
    OTHER_CLUSTER = "other_cluster", "The order is for another cluster."
    EXPIRED = "expired", "The order was not claimed before it expired."
    OLD_GENERATION = "old_generation", "A later step of this drain has taken over."
    ALREADY_SETTLED = "already_settled", "This order has already ended."
    NODE_UNKNOWN = "node_unknown", "No node of that name is in the cluster."
    NODE_REPLACED = "node_replaced", "Another node has that name now (its UID differs)."
    CLAIMED_BY_OTHER = "claimed_by_other", "Another order holds the node."
    POLICY_INVALID = "policy_invalid", "The policy is missing or invalid; nothing new is started."
    PREFLIGHT = "preflight", "An eviction was refused when it was tried with dryRun."


class Outcome(Reason):
    """How a drain ended."""

    REMOVED = "removed", "The node is gone."
    GIVEN_BACK = "given_back", "The node was uncordoned and untainted; the reason says why."
    RELEASED = "released", "A release gave the node back."
    OVERRULED = "overruled", "A person took the node back; it is left alone for 24 h."
    REFUSED = "refused", "The order was declined before anything was done."
    WOULD_DRAIN = "would_drain", "Dry run: everything was checked and nothing was done."
    STALE = "stale", "The node was given back untouched: what it carries no longer has a place."


class Halt(Reason):
    """Why a drain in progress is given back."""

    DEADLINE = "deadline", "The drain deadline passed; what still held the node is named."
    PAUSED = "paused", "Ebb was paused, disabled for the pool, or set to dry run."
    EVICTION_FORBIDDEN = "eviction_forbidden", "The API server or a webhook refused an eviction for good."
    SEVERAL_PDBS = "several_pdbs", "More than one PodDisruptionBudget matches a pod."
    POD_BLOCKS = "pod_blocks", "A pod that may not be moved appeared on the node."
    POD_WAITS = (
        "pod_waits",
        "A pod that only has to be waited for (a Job's, a young one) came before the cordon; nothing failed.",
    )
    REPLACEMENT_PENDING = "replacement_pending", "A replacement of an evicted pod found no node."
    DEMAND = "demand", "A pod without a place would fit on the node: room is given back when demand returns."
    BREAKER = "breaker", "A pod moved from the pool found no place; what is not emptied yet is given back."
    WATCHDOG = "watchdog", "The cluster autoscaler did not delete the drained node in time."
    ORPHAN = "orphan", "The node carried our taint or annotation without a living claim."
    RELEASED = "released", "A release asked for the node."
    OVERRULED = "overruled", "A person uncordoned the node, or removed our taint."
    CORDONED_BY_OTHER = "cordoned_by_other", "Somebody else cordoned the node before we did."
    GOING_AWAY = "going_away", "The cluster autoscaler or GKE began to remove the node before we touched it."
    STALE = "stale", "The room that the plan counted on was taken before the first eviction; nothing was moved."
