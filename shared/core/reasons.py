"""Why a pod or a node stays has a name: one word and one sentence, the same in code, log, report and docs.

How drains end stands in `outcomes`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Self


class Reason(StrEnum):
    """A word with one sentence that a person can act on.

    Where the cluster autoscaler refuses a node for the same thing, the reason carries the autoscaler's own message id,
    by which Google's documentation and the autoscaler's log name it (docs/decisions/autoscaler.md).
    """

    sentence: str
    message_id: str
    """Empty where the autoscaler has no message of its own."""

    def __new__(cls, word: str, sentence: str, message_id: str = "") -> Self:
        member = str.__new__(cls, word)
        member._value_ = word
        member.sentence = sentence
        member.message_id = message_id
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

    NOT_SAFE_TO_EVICT = (
        "not_safe_to_evict",
        "The pod's annotation safe-to-evict is false.",
        "no.scale.down.node.pod.not.safe.to.evict.annotation",
    )
    DO_NOT_DISRUPT = "do_not_disrupt", "An annotation or label on the pod asks not to disrupt it."
    NAMESPACE_CLOSED = (
        "namespace_closed",
        "The pod's namespace keeps its pods from Ebb (label ebb.internal/evictions: never).",
    )
    NOT_REPLICATED = (
        "not_replicated",
        "No controller would create the pod again.",
        "no.scale.down.node.pod.not.backed.by.controller",
    )
    LOCAL_STORAGE = (
        "local_storage",
        "The pod keeps data in an emptyDir or hostPath volume of this node.",
        "no.scale.down.node.pod.has.local.storage",
    )
    KUBE_SYSTEM = (
        "kube_system",
        "A kube-system pod that the policy leaves where it is (kubeSystemPods: leave).",
        "no.scale.down.node.pod.kube.system.unmovable",
    )
    PDB_EXHAUSTED = (
        "pdb_exhausted",
        "A PodDisruptionBudget allows no disruption now; the node is kept until it does.",
        "no.scale.down.node.pod.not.enough.pdb",
    )
    PDB_NEVER_ALLOWS = (
        "pdb_never_allows",
        "A PodDisruptionBudget asks for all of its pods to stay; it allows no disruption even when all are healthy.",
        "no.scale.down.node.pod.not.enough.pdb",
    )
    SEVERAL_PDBS = (
        "several_pdbs",
        "More than one PodDisruptionBudget matches the pod; the eviction API refuses such pods.",
        "scale.down.error.failed.to.evict.pods",
    )
    WAITS_FOR_COMPLETION = "waits_for_completion", "The pod asks to be left until it completes."
    SINGLE_REPLICA = (
        "single_replica",
        "The pod is its workload's only replica, and the policy moves no such pod (singleReplicas: never).",
    )
    SURGE_FORBIDDEN = (
        "surge_forbidden",
        "Its Deployment forbids another pod beside its only one (ebb.internal/surge: false), and no gap is made.",
    )
    SURGE_UNREADABLE = (
        "surge_unreadable",
        "Its Deployment's annotation ebb.internal/surge is neither true nor false, and no gap is made.",
    )
    SURGE_KIND = (
        "surge_kind",
        "Its workload is no Deployment, or is in kube-system: Ebb starts no pod beside it (singleReplicas: surge).",
    )
    SURGE_STRATEGY = (
        "surge_strategy",
        "Its Deployment would end the pod before another is available, or is paused: it cannot be moved without a gap.",
    )
    SURGE_NOT_READY = (
        "surge_not_ready",
        "Its Deployment has fewer replicas available than wanted; it is restarted only from rest.",
    )
    SURGE_BESIDE_ITSELF = (
        "surge_beside_itself",
        "The pod and another like it may not share a domain larger than a node, so that none could start beside it.",
    )
    SURGE_DISK = (
        "surge_disk",
        "The pod uses a disk that one node at a time can hold, so that none like it could start beside it elsewhere.",
    )
    SURGE_QUOTA = (
        "surge_quota",
        "A ResourceQuota of its namespace has no room for one pod more, so that none could start beside it.",
    )
    SURGE_GRACE = (
        "surge_grace",
        "The pod asks for more grace than maxGracePeriod, and its Deployment, which would end it, cuts none.",
    )
    SURGE_SCATTERED = (
        "surge_scattered",
        "A PodDisruptionBudget lets none of its replicas go, and a restart would take those on other nodes, too.",
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
    LOCAL_VOLUME = "local_volume", "The pod's persistent volume lies on this node and goes with it."
    UNBOUND_CLAIM = (
        "unbound_claim",
        "A claim of the pod is missing, is being deleted or has no volume; its replacement would find no node.",
    )
    SHARED_DISK = (
        "shared_disk",
        "Several pods use a disk that one node at a time can hold, and nothing makes the scheduler keep them together.",
    )
    VOLUMES = "volumes", "The pod mounts a volume of which it is not known where it can be mounted."
    EVICTION_RESPONDERS = (
        "eviction_responders",
        "The pod names who answers requests to evict it (evictionResponders); the eviction API passes them by.",
    )
    NOT_ADMITTED = (
        "not_admitted",
        "The pod's namespace would not let in another one like it (LimitRange, ResourceQuota).",
    )
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
    POOL_AT_MINIMUM = (
        "pool_at_minimum",
        "The pool or its zone is at its autoscaling minimum.",
        "no.scale.down.node.node.group.min.size.reached",
    )
    RESOURCE_MINIMUM = (
        "resource_minimum",
        "The cluster would fall below the CPU or memory that node auto-provisioning keeps at least.",
        "no.scale.down.node.minimal.resource.limits.exceeded",
    )
    POOL_UPGRADING = "pool_upgrading", "An upgrade of the pool is under way."
    STANDBY_NODE = (
        "standby_node",
        "The node stands by, empty, for a capacity buffer, and is neither emptied nor filled.",
    )
    MANAGED_NODE = (
        "managed_node",
        "Google manages the node and bills its pods, not the node; removing it saves nothing.",
    )
    BEING_MAINTAINED = (
        "being_maintained",
        "A condition of the node says that somebody else drains it, maintains it or shuts it down.",
    )
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
    SCALE_DOWN_DISABLED = (
        "scale_down_disabled",
        "An annotation or label on the node forbids scale-down or disruption.",
        "no.scale.down.node.scale.down.disabled.annotation",
    )
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
    DRAIN_TOO_LONG = (
        "drain_too_long",
        "Its pods may only go in turns, and even if each ended at once the drain would miss its deadline.",
    )
    NODES_PER_PASS = "nodes_per_pass", "The pass has already taken maxNodesPerPass nodes of this pool."
    NO_PLACE_FOR_PODS = (
        "no_place_for_pods",
        "Its pods do not all fit on the remaining nodes.",
        "no.scale.down.node.no.place.to.move.pods",
    )
    NEEDED_BY_BUFFER = (
        "needed_by_buffer",
        "Without the node a capacity buffer would lose room that it has now, and the autoscaler would add a node.",
    )
    KEPT_AS_DESTINATION = (
        "kept_as_destination",
        "Its room is needed: other nodes, worth more together, go in its place (docs/decisions/choosing.md).",
    )
    SAVING_TOO_SMALL = (
        "saving_too_small",
        "It saves less for each pod that would be evicted than minimumSavingPerEviction asks.",
    )
    POOLS_UNKNOWN = "pools_unknown", "The GKE API did not answer, so pool minimums are unknown."
    UNFORESEEN = "unforeseen", "A fault of Ebb: the node could not be judged, and stays."


class DrainReason(StrEnum):
    """Why a node is drained."""

    EMPTY = "empty"
    UNDERUTILIZED = "underutilized"
    EXPIRED = "expired"
    MANUAL = "manual"
