"""What a person can do about each reason: one sentence a reason, beside the sentence that says what it means."""

from collections.abc import Mapping
from typing import Final

from functions.cli.analysis.exclusions import Exclusion
from shared.core.reasons import PodBlock, Reason, Unremovable

_NOTHING: Final = "Nothing to do: this passes by itself."
_NOT_MODELLED: Final = (
    "Nothing to do in the policy: Ebb moves no pod whose place it cannot prove. Drain the node by hand."
)

REMEDIES: Final[Mapping[Reason, str]] = {
    PodBlock.NOT_SAFE_TO_EVICT: "Remove the annotation from the pod's template if the pod may be evicted.",
    PodBlock.DO_NOT_DISRUPT: "Remove the annotation or label from the pod's template if the pod may be evicted.",
    PodBlock.NAMESPACE_CLOSED: "Remove the label from the namespace if its pods may be evicted.",
    PodBlock.NOT_REPLICATED: "Run the pod under a controller, such as a Deployment; safe-to-evict brings none back.",
    PodBlock.LOCAL_STORAGE: (
        "If the data may be lost, annotate the pod's template safe-to-evict, name the volume in "
        "safe-to-evict-local-volumes, or set localStorage: evict for the pool."
    ),
    PodBlock.KUBE_SYSTEM: "Set kubeSystemPods: evict for the pool if these pods may be moved.",
    PodBlock.PDB_EXHAUSTED: "Wait until the workload's other pods are Ready; kubectl describe says what holds them up.",
    PodBlock.PDB_NEVER_ALLOWS: (
        "The workload's owner has to mend it, for it stops upgrades of its nodes too: run one more replica, and write "
        "the number of pods that must stay as minAvailable (a plain number); then as many as now stay up."
    ),
    PodBlock.SEVERAL_PDBS: "Change the selectors so that one PodDisruptionBudget at most matches the pod.",
    PodBlock.WAITS_FOR_COMPLETION: _NOTHING,
    PodBlock.SINGLE_REPLICA: "Give the workload two replicas, or set singleReplicas: avoid or move for the pool.",
    PodBlock.SURGE_FORBIDDEN: "Remove the annotation from the Deployment, or give it two replicas.",
    PodBlock.SURGE_UNREADABLE: 'Write "true" or "false" as the annotation\'s value, or remove it.',
    PodBlock.SURGE_KIND: "Give the workload two replicas, or set singleReplicas: avoid or move for the pool.",
    PodBlock.SURGE_STRATEGY: (
        "Give the Deployment the strategy RollingUpdate with maxSurge 1 and maxUnavailable 0, and resume its rollouts."
    ),
    PodBlock.SURGE_NOT_READY: "Wait until the workload's pod is Ready; kubectl describe says what holds it up.",
    PodBlock.SURGE_BESIDE_ITSELF: "Keep the pods apart by node only (topologyKey kubernetes.io/hostname).",
    PodBlock.SURGE_DISK: "Use a volume that several nodes can mount (ReadWriteMany), or let the policy make a gap.",
    PodBlock.SURGE_QUOTA: "Raise the ResourceQuota by what one such pod asks for, or let the policy make a gap.",
    PodBlock.SURGE_GRACE: "Raise drain.maxGracePeriod, or lower the pod's terminationGracePeriodSeconds.",
    PodBlock.SURGE_SCATTERED: (
        "Let the PodDisruptionBudget allow one pod away: with several replicas that makes no gap, and needs no restart."
    ),
    PodBlock.JOB: "Wait until the Job completes, or set jobs: wait or move for the pool.",
    PodBlock.JOB_RUNNING: "Wait until the Job completes, or set jobs: move for the pool if its work may be repeated.",
    PodBlock.ROLLING_OUT: "Wait until kubectl rollout status says that the rollout is done; undo one that is stuck.",
    PodBlock.TOO_FEW_AVAILABLE: "Restore the workload's other replicas, or raise unprotected for the pool.",
    PodBlock.TOO_YOUNG_POD: "Wait, or lower minimumPodAge of the pool.",
    PodBlock.GRACE_TOO_LONG: (
        "Raise drain.maxGracePeriod, or set longGrace: cut for the pool if the pod may end sooner than it asks; or "
        "lower its terminationGracePeriodSeconds."
    ),
    PodBlock.STILL_TERMINATING: _NOTHING,
    PodBlock.TOLERATES_DRAIN_TAINT: "Narrow the pod's tolerations; it tolerates every taint.",
    PodBlock.NAMES_ITS_NODE: "Let the pod choose its node by labels instead of by name.",
    PodBlock.FOREIGN_SCHEDULER: _NOT_MODELLED,
    PodBlock.RESOURCE_CLAIMS: _NOT_MODELLED,
    PodBlock.SCHEDULING_GATES: "Remove the scheduling gates from the pod's template.",
    PodBlock.LOCAL_VOLUME: "Keep pods with local disks in a pool of their own, so that they hold few nodes.",
    PodBlock.UNBOUND_CLAIM: "Bind or restore the claim: as it is, the pod could not start anew on any node.",
    PodBlock.SHARED_DISK: "Give each pod a claim of its own, or a volume that several nodes can mount (ReadWriteMany).",
    PodBlock.VOLUMES: (
        "If the lists behind the pod's claim were not read, grant Ebb the right to read them (infra/rbac.yaml) or add "
        "them to the dump; a class with volumeBindingMode WaitForFirstConsumer makes volumes where the pod goes."
    ),
    PodBlock.EVICTION_RESPONDERS: "Take evictionResponders out of the pod's template, or drain the node by hand.",
    PodBlock.NOT_ADMITTED: (
        "Mend the namespace's LimitRange or ResourceQuota, or what the pod's template asks for: another one would be "
        "refused whoever ends this one."
    ),
    PodBlock.UNMODELLED: _NOT_MODELLED,
    Exclusion.SHUT: "Mend or uncordon them if they are to stay; kubectl get nodes shows their state.",
    Exclusion.TAINT: ("Nothing to do where the taint keeps the pool for others; else let the pod tolerate it."),
    Exclusion.SELECTOR: "Ask for a label that more nodes carry, or write it as preferred affinity.",
    Exclusion.KUBELET: "Upgrade the older node pools: pods come back only to kubelets that can do as much.",
    Exclusion.ROOM: "Set requests nearer to what the pod uses; headroom of the pool keeps some of it free.",
    Exclusion.ANTI_AFFINITY: ("Ask for it by topology spread, which lets pods share where nodes are few."),
    Exclusion.AFFINITY: "Ask for a wider domain (topologyKey), such as the zone instead of the node.",
    Exclusion.HOST_PORT: "Reach the pod by a Service instead of by a port of its node.",
    Exclusion.SPREAD: ("One more replica may even it out; so does spreading over larger domains."),
    Exclusion.VOLUME_PLACE: ("Use a regional disk, or a volume over the network, where the pod may change zones."),
    Exclusion.CLAIM_IN_USE: "Give each pod a claim of its own (volumeClaimTemplates of a StatefulSet).",
    Exclusion.ATTACH_LIMIT: "Use larger machines for pods with many disks, or fewer disks.",
    Unremovable.NO_POOL: "Give the node its pool label back; a node outside any pool is never drained.",
    Unremovable.POOL_DISABLED: "Set enabled: true for the pool in the policy.",
    Unremovable.POLICY_INVALID: "Run ebb policy check FILE and fix what it names.",
    Unremovable.NOT_AUTOSCALED: "Enable autoscaling on the pool.",
    Unremovable.ATOMIC_POOL: (
        "Nothing to do in the policy: such a group goes whole or not at all. Scale its workload to nothing, and the "
        "autoscaler removes all of it."
    ),
    Unremovable.POOL_AT_MINIMUM: "Lower the pool's autoscaling minimum.",
    Unremovable.RESOURCE_MINIMUM: "Lower the minimum of CPU or memory in the limits of node auto-provisioning.",
    Unremovable.POOL_UPGRADING: _NOTHING,
    Unremovable.STANDBY_NODE: "Lower the replicas of its capacity buffer if so much room is not needed.",
    Unremovable.MANAGED_NODE: "Nothing to do: what its pods request is billed, wherever they run.",
    Unremovable.BEING_MAINTAINED: "Wait until it is over; kubectl describe node shows the condition and its reason.",
    Unremovable.NOT_READY: "Look at the node with kubectl describe node; it may be repaired or recreated.",
    Unremovable.NO_ALLOCATABLE: "Look at the node with kubectl describe node; its kubelet has not reported.",
    Unremovable.CORDONED_BY_OTHER: "Run kubectl uncordon NODE.",
    Unremovable.TAINTED: "Remove the taint from the node, or name it in ignoreTaints of the pool.",
    Unremovable.GOING_AWAY: _NOTHING,
    Unremovable.SCALE_DOWN_DISABLED: "Remove the annotation or label from the node.",
    Unremovable.TOO_YOUNG: "Wait, or lower minimumNodeAge of the pool.",
    Unremovable.BACKING_OFF: "Wait; the detail says why and until when.",
    Unremovable.BLOCKED_BY_POD: "See what each pod says below.",
    Unremovable.NOT_EMPTY: "Set consolidationPolicy: WhenUnderutilized if pods may be moved.",
    Unremovable.CPU_ABOVE_LIMIT: "Lower the pods' requests, or raise scaleDownCPURequestRatioLimit of the pool.",
    Unremovable.MEMORY_ABOVE_LIMIT: "Lower the pods' requests, or raise scaleDownMemoryRequestRatioLimit of the pool.",
    Unremovable.ACCELERATOR_ABOVE_LIMIT: (
        "Wait until fewer GPUs or TPU chips are asked for, or raise scaleDownCPURequestRatioLimit of the pool."
    ),
    Unremovable.CONSOLIDATION_OFF: "Set consolidateAfter of the pool to a duration, for example 5m.",
    Unremovable.MARKED_RECENTLY: "Wait, or lower consolidateAfter of the pool.",
    Unremovable.TOO_FEW_UNDERUTILIZED: "Wait, or lower scaleDownRequiredUnderutilizedNodeCount of the pool.",
    Unremovable.NO_EXCESS: "Wait until the pool is emptier, or lower its excessNodesThreshold.",
    Unremovable.PAUSED: "Run ebb resume, or set paused: false in the policy.",
    Unremovable.RECENT_ADDITION: "Wait, or lower timeSinceLastAddition.",
    Unremovable.TIME_GAP: "Wait, or lower timeGap.",
    Unremovable.MINIMUM_NODES: "Lower cluster.minimumNodes if fewer nodes are enough.",
    Unremovable.MINIMUM_NON_TAINTED: "Lower cluster.minimumNonTaintedNodes if fewer nodes are enough.",
    Unremovable.BREAKER_OPEN: "Look at the last drains with ebb status; the breaker closes by itself.",
    Unremovable.FROZEN: "Wait until the freeze ends, or remove it from cluster.freezes.",
    Unremovable.OUTSIDE_WINDOWS: "Wait for the pool's next window, or widen its windows.",
    Unremovable.BUDGET: "Wait for the drains in flight, or raise the pool's budgets.",
    Unremovable.CLUSTER_BUDGET: "Wait for the drains in flight, or raise cluster.disruption.budgets.",
    Unremovable.RATE: "Wait, or raise the rate.",
    Unremovable.NAMESPACE_RATE: "Wait, or raise cluster.evictionsPerNamespace.",
    Unremovable.WORKLOAD_MOVING: (
        "Wait for the drains in flight; a PodDisruptionBudget for the workload, or a higher unprotected of the pool, "
        "lets more go at once."
    ),
    Unremovable.DRAIN_TOO_LONG: (
        "Wait for the drains in flight, raise drain.timeout in the policy, or let the pods be Ready sooner after their "
        "start."
    ),
    Unremovable.NODES_PER_PASS: "Wait for the next pass, or raise maxNodesPerPass of the pool.",
    Unremovable.KEPT_AS_DESTINATION: "Wait: it is asked again once those that go in its place are gone, or cannot go.",
    Unremovable.SAVING_TOO_SMALL: "Lower minimumSavingPerEviction of the pool if the node should go all the same.",
    Unremovable.NO_PLACE_FOR_PODS: "Lower requests or loosen constraints of its pods; otherwise the node is needed.",
    Unremovable.NEEDED_BY_BUFFER: (
        "Lower replicas or limits of the CapacityBuffer (of a ComputeClass: spec.buffers) if less room is enough."
    ),
    Unremovable.UNFORESEEN: "Report it to the maintainers with the fault that is named.",
    Unremovable.POOLS_UNKNOWN: "Let the planner's service account read the GKE API (roles/container.viewer).",
}
