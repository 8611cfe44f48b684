"""Why a pod keeps its node: a row each, in the order in which the page of reasons lists them."""

from functools import partial
from typing import Final, NamedTuple

from shared.core.reasons.reason import NOTHING_TO_DO, Reason, ReasonGroup, ReasonRow

_pod = partial(ReasonRow, group=ReasonGroup.PODS, keeps_mark=True)
_NOT_MODELLED: Final = "Drain the node by hand: Ebb moves no pod whose place it cannot prove."


class PodBlock(Reason):
    """Why a pod keeps its node (the rules about pods, and what placement does not model)."""

    # fmt: off
    NOT_SAFE_TO_EVICT = _pod("not_safe_to_evict", "The pod's annotation safe-to-evict is false.",
        "Remove the annotation from the pod's template if the pod may be evicted.",
        message_id="no.scale.down.node.pod.not.safe.to.evict.annotation")
    DO_NOT_DISRUPT = _pod("do_not_disrupt", "An annotation or label on the pod asks not to disrupt it.",
        "Remove the annotation or label from the pod's template if the pod may be evicted.")
    NAMESPACE_CLOSED = _pod("namespace_closed",
        "The pod's namespace keeps its pods from Ebb (label ebb.internal/evictions: never).",
        "Remove the label from the namespace if its pods may be evicted.")
    NOT_REPLICATED = _pod("not_replicated", "No controller would create the pod again.",
        "Run the pod under a controller, such as a Deployment; safe-to-evict brings none back.",
        message_id="no.scale.down.node.pod.not.backed.by.controller")
    LOCAL_STORAGE = _pod("local_storage", "The pod keeps data in an emptyDir or hostPath volume of this node.",
        "If the data may be lost, annotate the pod's template safe-to-evict, name the volume in "
        "safe-to-evict-local-volumes, or set localStorage: evict for the pool.",
        message_id="no.scale.down.node.pod.has.local.storage")
    KUBE_SYSTEM = _pod("kube_system", "A kube-system pod that the policy leaves where it is (kubeSystemPods: leave).",
        "Set kubeSystemPods: evict for the pool if these pods may be moved.",
        message_id="no.scale.down.node.pod.kube.system.unmovable")
    PDB_EXHAUSTED = _pod("pdb_exhausted",
        "A PodDisruptionBudget allows no disruption now; the node is kept until it does.",
        "Wait until the workload's other pods are Ready; kubectl describe says what holds them up.",
        message_id="no.scale.down.node.pod.not.enough.pdb", passes=True, delays=True)
    PDB_NEVER_ALLOWS = _pod("pdb_never_allows",
        "A PodDisruptionBudget asks for all of its pods to stay; it allows no disruption even when all are healthy.",
        "The workload's owner has to mend it, for it stops upgrades of its nodes too: run one more replica, and write "
        "the number of pods that must stay as minAvailable (a plain number); then as many as now stay up.",
        message_id="no.scale.down.node.pod.not.enough.pdb", delays=True)
    SEVERAL_PDBS = _pod("several_pdbs",
        "More than one PodDisruptionBudget matches the pod; the eviction API refuses such pods.",
        "Change the selectors so that one PodDisruptionBudget at most matches the pod.",
        message_id="scale.down.error.failed.to.evict.pods")
    WAITS_FOR_COMPLETION = _pod("waits_for_completion", "The pod asks to be left until it completes.", NOTHING_TO_DO,
        passes=True)
    SINGLE_REPLICA = _pod("single_replica",
        "The pod is its workload's only replica, and the policy moves no such pod (singleReplicas: never).",
        "Give the workload two replicas, or set singleReplicas: avoid or move for the pool.")
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
    JOB = _pod("job", "The pod belongs to a Job, and the policy moves no such pod (jobs: never).",
        "Wait until the Job completes, or set jobs: wait or move for the pool.")
    JOB_RUNNING = _pod("job_running", "The pod belongs to a Job and is left until it completes (jobs: wait).",
        "Wait until the Job completes, or set jobs: move for the pool if its work may be repeated.", passes=True)
    ROLLING_OUT = _pod("rolling_out", "The pod's workload is in the middle of a rollout.",
        "Wait until kubectl rollout status says that the rollout is done; undo one that is stuck.", passes=True,
        delays=True)
    TOO_FEW_AVAILABLE = _pod("too_few_available",
        "The workload has no PodDisruptionBudget, and no more of its replicas may be away now (unprotected).",
        "Restore the workload's other replicas, or raise unprotected for the pool.", passes=True, delays=True)
    TOO_YOUNG_POD = _pod("too_young_pod", "The pod is younger than minimumPodAge.",
        "Wait, or lower minimumPodAge of the pool.", passes=True)
    GRACE_TOO_LONG = _pod("grace_too_long",
        "The pod asks for more grace than maxGracePeriod gives, and the policy cuts none (longGrace: keep).",
        "Raise drain.maxGracePeriod, or set longGrace: cut for the pool if the pod may end sooner than it asks; or "
        "lower its terminationGracePeriodSeconds.")
    STILL_TERMINATING = _pod("still_terminating",
        "The pod is already terminating, and was given longer than a drain lasts.", NOTHING_TO_DO, passes=True)
    TOLERATES_DRAIN_TAINT = _pod("tolerates_drain_taint",
        "The pod tolerates our taint and would come back to the node.",
        "Narrow the pod's tolerations; it tolerates every taint.")
    NAMES_ITS_NODE = _pod("names_its_node", "The pod asks for this node by name and fits on no other.",
        "Let the pod choose its node by labels instead of by name.")
    FOREIGN_SCHEDULER = _pod("foreign_scheduler", "The pod is placed by a scheduler whose rules are not modelled.",
        _NOT_MODELLED)
    RESOURCE_CLAIMS = _pod("resource_claims", "The pod uses dynamic resource claims, which are not modelled.",
        _NOT_MODELLED)
    SCHEDULING_GATES = _pod("scheduling_gates",
        "The pod's template carries scheduling gates; its replacement would wait for them.",
        "Remove the scheduling gates from the pod's template.")
    LOCAL_VOLUME = _pod("local_volume", "The pod's persistent volume lies on this node and goes with it.",
        "Keep pods with local disks in a pool of their own, so that they hold few nodes.")
    UNBOUND_CLAIM = _pod("unbound_claim",
        "A claim of the pod is missing, is being deleted or has no volume; its replacement would find no node.",
        "Bind or restore the claim: as it is, the pod could not start anew on any node.")
    SHARED_DISK = _pod("shared_disk",
        "Several pods use a disk that one node at a time can hold, and nothing makes the scheduler keep them together.",
        "Give each pod a claim of its own, or a volume that several nodes can mount (ReadWriteMany).")
    VOLUMES = _pod("volumes", "The pod mounts a volume of which it is not known where it can be mounted.",
        "If the lists behind the pod's claim were not read, grant Ebb the right to read them (infra/rbac.yaml) or add "
        "them to the dump; a class with volumeBindingMode WaitForFirstConsumer makes volumes where the pod goes.")
    EVICTION_RESPONDERS = _pod("eviction_responders",
        "The pod names who answers requests to evict it (evictionResponders); the eviction API passes them by.",
        "Take evictionResponders out of the pod's template, or drain the node by hand.")
    NOT_ADMITTED = _pod("not_admitted",
        "The pod's namespace would not let in another one like it (LimitRange, ResourceQuota).",
        "Mend the namespace's LimitRange or ResourceQuota, or what the pod's template asks for: another one would be "
        "refused whoever ends this one.")
    UNMODELLED = _pod("unmodelled", "The pod has a scheduling rule that is not modelled.", _NOT_MODELLED)
    # fmt: on


class Finding(NamedTuple):
    """One thing in a pod that blocks it, with what it is about."""

    reason: PodBlock
    detail: str = ""
