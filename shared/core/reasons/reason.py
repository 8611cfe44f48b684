"""What a reason is, a word and one row with all its facts; and why a pod keeps its node."""

from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from functools import lru_cache, partial
from typing import Final, Self

NOTHING_TO_DO: Final = "Nothing to do: this passes by itself."


class ReasonGroup(StrEnum):
    """What has to change before a node may go: seven words for a chart; the exact reason stands in `node_decision`."""

    FULL = "full"  # It is used too much.
    PODS = "pods"  # A pod on it may not be moved.
    ROOM = "room"  # The others have no room for its pods.
    LIMITS = "limits"  # Budgets, rates and minimums.
    TIME = "time"  # It is a matter of time: ages, marks, gaps, windows.
    OFF = "off"  # Somebody switched it off, or GKE would not delete it.
    TROUBLE = "trouble"  # Something is wrong or under way with the node or its pool.


class After(Enum):
    BACK_OFF = auto()  # The node is left alone for a while, longer after each failure.
    FAILURE = auto()  # The same, and it counts for the breaker of the pool: draining does not work there just now.
    NOTHING = auto()  # The node may go again at once.
    A_DAY = auto()  # A person decided: the node is left alone for a day.


@dataclass(frozen=True, slots=True)
class ReasonRow:
    word: str
    sentence: str  # What it means.
    remedy: str = ""  # What a person can do about it; empty where nothing keeps a node or went wrong.
    group: ReasonGroup = ReasonGroup.TROUBLE  # Of what keeps a node.
    message_id: str = ""
    """The cluster autoscaler's own name for it, by which Google's documentation and the autoscaler's log name it
    (docs/decisions/autoscaler.md); empty where it has none."""
    passes: bool = False  # Whether it passes by itself, as drains end and time passes: come again later.
    delays: bool = False  # Whether it only delays an eviction once the drain has begun, at most until its deadline.
    keeps_mark: bool = False  # The node is underutilized all the same (estafette: pods block the pick).
    underused: bool = True  # Whether the node can still count as underutilized.
    after: After = After.BACK_OFF  # Of a give-back.


class Reason(StrEnum):
    """A word with one sentence that a person can act on."""

    row: ReasonRow

    def __new__(cls, row: ReasonRow) -> Self:
        member = str.__new__(cls, row.word)
        member._value_ = row.word
        member.row = row
        return member

    @property
    def sentence(self) -> str:
        return self.row.sentence

    @property
    def remedy(self) -> str:
        return self.row.remedy

    @property
    def message_id(self) -> str:
        return self.row.message_id


@lru_cache(maxsize=1024)
def reason_of_word(word: str, *kinds: type[Reason]) -> Reason | None:
    """Return the reason of that word among some kinds; None for a word that none of them has, of a newer version."""
    return next((reason for kind in kinds for reason in kind if reason.value == word), None)


@dataclass(frozen=True, slots=True)
class Blocker:
    """One thing that stands in a node's way: the reason, what it is about (`ns/pod`, a PDB, a budget), details."""

    reason: Reason
    object: str = ""
    detail: str = ""

    @property
    def sentence(self) -> str:
        about = ", ".join(filter(None, (self.object, self.detail)))
        return f"{self.reason.sentence} ({about})" if about else self.reason.sentence


class DrainReason(Reason):
    EMPTY = ReasonRow("empty", "No pod would have to move.")
    UNDERUTILIZED = ReasonRow(
        "underutilized", "Its requests are below the limits, and its pods all have a place elsewhere."
    )
    EXPIRED = ReasonRow("expired", "The node is older than expireAfter, and its pods all have a place elsewhere.")
    MANUAL = ReasonRow("manual", "A person asked for it.")


_pod = partial(ReasonRow, group=ReasonGroup.PODS, keeps_mark=True)
_NOT_MODELLED: Final = "Drain the node by hand: Ebb moves no pod whose place it cannot prove."


class PodBlock(Reason):
    """Why a pod keeps its node, in the order in which the page of reasons lists it."""

    # fmt: off
    NOT_SAFE_TO_EVICT = _pod("not_safe_to_evict", "The pod's annotation safe-to-evict is false.",
        "Remove the annotation from the pod template if the pod may be evicted.",
        message_id="no.scale.down.node.pod.not.safe.to.evict.annotation")
    DO_NOT_DISRUPT = _pod("do_not_disrupt", "An annotation or label on the pod forbids its disruption.",
        "Remove the annotation or label from the pod template if the pod may be evicted.")
    NAMESPACE_CLOSED = _pod("namespace_closed",
        "The namespace forbids Ebb to evict its pods (label ebb.internal/evictions: never).",
        "Remove the label from the namespace if its pods may be evicted.")
    NOT_REPLICATED = _pod("not_replicated", "No controller would recreate the pod.",
        "Run the pod under a controller, such as a Deployment; safe-to-evict does not recreate it.",
        message_id="no.scale.down.node.pod.not.backed.by.controller")
    LOCAL_STORAGE = _pod("local_storage", "The pod stores data in an emptyDir or hostPath volume of this node.",
        "If the data may be lost, set localStorage: evict for the pool, or annotate the pod template with "
        "safe-to-evict or safe-to-evict-local-volumes.", message_id="no.scale.down.node.pod.has.local.storage")
    KUBE_SYSTEM = _pod("kube_system", "The policy evicts no kube-system pods (kubeSystemPods: leave).",
        "Set kubeSystemPods: evict for the pool if these pods may be moved.",
        message_id="no.scale.down.node.pod.kube.system.unmovable")
    PDB_EXHAUSTED = _pod("pdb_exhausted",
        "A PodDisruptionBudget allows no disruption now; the node stays until it does.",
        "Wait until the workload's other pods are Ready; kubectl describe shows what is missing.",
        message_id="no.scale.down.node.pod.not.enough.pdb", passes=True, delays=True)
    PDB_NEVER_ALLOWS = _pod("pdb_never_allows",
        "A PodDisruptionBudget allows no disruption, even when all its pods are healthy.",
        "Ask its owner to run one more replica and set minAvailable to the current number. It blocks node upgrades, "
        "too.", message_id="no.scale.down.node.pod.not.enough.pdb", delays=True)
    PDB_UNCOUNTED = _pod("pdb_uncounted",
        "The disruption controller cannot count a PodDisruptionBudget's pods, so it allows no disruption.",
        "Set its minAvailable to a number of pods: a percent or maxUnavailable needs controllers with a scale.",
        message_id="no.scale.down.node.pod.not.enough.pdb", delays=True)
    SEVERAL_PDBS = _pod("several_pdbs",
        "Several PodDisruptionBudgets match the pod; the Eviction API refuses such pods.",
        "Change the selectors so that at most one PodDisruptionBudget matches the pod.",
        message_id="scale.down.error.failed.to.evict.pods")
    WAITS_FOR_COMPLETION = _pod("waits_for_completion", "An annotation asks to leave the pod until it completes.",
        "Wait until the pod completes; one that its controller restarts never does: remove its annotation.",
        passes=True)
    SINGLE_REPLICA = _pod("single_replica",
        "The pod is its workload's only replica, and the policy moves none (singleReplicas: never).",
        "Run two replicas, or set singleReplicas: avoid or move for the pool.")
    SURGE_FORBIDDEN = _pod("surge_forbidden",
        "The annotation ebb.internal/surge of its Deployment forbids a second pod, and the policy forbids a gap.",
        'Set the annotation to "true" or remove it, or run two replicas.')
    SURGE_IMPOSSIBLE = _pod("surge_impossible",
        "Its workload cannot start a second pod first, and the policy forbids a gap (singleReplicas: surge).",
        "Fix what the detail names, run two replicas, or set singleReplicas: avoid or move for the pool.")
    SURGE_NOT_READY = _pod("surge_not_ready",
        "Its Deployment has fewer available replicas than it wants, so it is not restarted.",
        "Wait until the workload's pod is Ready; kubectl describe shows what is missing.", passes=True, delays=True)
    SURGE_SCATTERED = _pod("surge_scattered",
        "Its PodDisruptionBudget allows no eviction, and a restart would also move replicas on other nodes.",
        "Let the PodDisruptionBudget allow one disruption: then the pod can be evicted without a restart.")
    JOB = _pod("job", "The pod belongs to a Job, and the policy moves none (jobs: never).",
        "Wait until the Job completes, or set jobs: wait or move for the pool.")
    JOB_RUNNING = _pod("job_running", "The pod belongs to a Job that still runs (jobs: wait).",
        "Wait until the Job completes, or set jobs: move for the pool if its work may be repeated.", passes=True)
    ROLLING_OUT = _pod("rolling_out", "The pod's workload is in a rollout.",
        "Wait until kubectl rollout status succeeds; resume a rollout that is paused, and undo one that is stuck.",
        passes=True, delays=True)
    TOO_FEW_AVAILABLE = _pod("too_few_available",
        "The workload has no PodDisruptionBudget, and too many replicas are away already (unprotected).",
        "Restore the workload's other replicas, or raise unprotected for the pool.", passes=True, delays=True)
    TOO_YOUNG_POD = _pod("too_young_pod", "The pod is younger than minimumPodAge.",
        "Wait, or lower minimumPodAge of the pool.", passes=True)
    GRACE_TOO_LONG = _pod("grace_too_long",
        "The pod's termination grace is longer than maxGracePeriod, and the policy cuts none (longGrace: keep).",
        "Raise drain.maxGracePeriod, set longGrace: cut for the pool, or lower terminationGracePeriodSeconds.")
    STILL_TERMINATING = _pod("still_terminating",
        "The pod is already terminating, with more time left than a drain has.", NOTHING_TO_DO, passes=True)
    TOLERATES_DRAIN_TAINT = _pod("tolerates_drain_taint", "The pod tolerates Ebb's taint and would return to the node.",
        "Narrow the pod's tolerations; it tolerates every taint.")
    NAMES_ITS_NODE = _pod("names_its_node", "The pod or its template names its node, and it fits on no other.",
        "Let the pod template select nodes by labels instead of by name.")
    FOREIGN_SCHEDULER = _pod("foreign_scheduler", "A scheduler whose rules Ebb does not model places the pod.",
        _NOT_MODELLED)
    RESOURCE_CLAIMS = _pod("resource_claims", "The pod uses dynamic resource claims, which Ebb does not model.",
        _NOT_MODELLED)
    SCHEDULING_GATES = _pod("scheduling_gates",
        "The pod template has scheduling gates; a replacement would wait for them.",
        "Remove the scheduling gates from the pod template.")
    LOCAL_VOLUME = _pod("local_volume", "The pod's persistent volume is on this node and would be lost with it.",
        "Keep pods with local disks in a pool of their own, so that they block few nodes.")
    UNBOUND_CLAIM = _pod("unbound_claim",
        "A claim of the pod is missing, terminating or has no volume, so no node could run a replacement.",
        "Bind or restore the claim: without it the pod cannot start again on any node.")
    SHARED_DISK = _pod("shared_disk",
        "Several pods share a disk that one node at a time can mount, and no rule keeps them together.",
        "Give each pod its own claim, or a volume that several nodes can mount (ReadWriteMany).")
    VOLUMES = _pod("volumes", "Ebb does not know where a volume of the pod can be mounted.",
        "Let Ebb list claims and volumes (infra/rbac.yaml), or add them to the dump. Else use volumeBindingMode "
        "WaitForFirstConsumer.")
    EVICTION_RESPONDERS = _pod("eviction_responders",
        "The pod names other controllers for its eviction (evictionResponders); the Eviction API ignores them.",
        "Remove evictionResponders from the pod template, or drain the node by hand.")
    NOT_ADMITTED = _pod("not_admitted", "A LimitRange or ResourceQuota would reject the replacement pod.",
        "Fix the LimitRange or ResourceQuota, or the requests in the pod template. Any restart of the pod would fail.")
    UNMODELLED = _pod("unmodelled", "The pod has a scheduling rule that Ebb does not model.", _NOT_MODELLED)
    # fmt: on


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in a pod that blocks it, with what it is about."""

    reason: PodBlock
    detail: str = ""
