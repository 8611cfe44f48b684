"""The settings of a node pool, each declared once."""
# Name in the document, shape, default, sentence, which step reads it.

from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from typing import Final

from shared.core.policy import shapes
from shared.core.policy.field import fields_of, setting
from shared.core.policy.scalars import NEVER, ratio
from shared.core.policy.values import (
    Budget,
    ConsolidationPolicy,
    Jobs,
    KubeSystemPods,
    Limit,
    LocalStorage,
    LongGrace,
    PodRules,
    Rate,
    Schedule,
    SingleReplicas,
)

_RATIO_LIMIT: Final = 0.75


def enough_nodes(limit: Fraction) -> int:
    """Return the smallest n with n·(1 - limit) ≥ 1, in exact arithmetic; 1 where there is none (limit 1)."""
    # So many just under the limit have the room of one more (estafette; docs/decisions/predecessors.md, B14).
    left = 1 - limit
    return 1 if left <= 0 else -(-left.denominator // left.numerator)


@dataclass(frozen=True, slots=True)
class PoolPolicy:
    """The settings of one pool, all defaults applied."""

    enabled: bool = setting(
        "enabled",
        shapes.FLAG,
        default=False,
        text="Whether nodes of the pool may be drained. Default {default}: Ebb drains only what you name.",
    )
    cpu_limit: Fraction = setting(
        "scaleDownCPURequestRatioLimit",
        shapes.RATIO,
        _RATIO_LIMIT,
        "A node is underutilized while its CPU requests are strictly below this share of allocatable. "
        "Default {default}.",
    )
    memory_limit: Fraction = setting(
        "scaleDownMemoryRequestRatioLimit",
        shapes.RATIO,
        _RATIO_LIMIT,
        "A node is underutilized while its memory requests are strictly below this share of allocatable, too. "
        "Default {default}.",
    )
    required_count: int = setting(
        "scaleDownRequiredUnderutilizedNodeCount",
        shapes.COUNT,
        None,
        "Underutilized nodes needed, plus one for each drain in flight. Default the smallest n with "
        "n·(1 - CPU limit) ≥ 1: so many nodes just under the limit absorb one. At limit 1 it is 1. This default binds "
        "until demand has fallen by a node's CPU since its peak of the last day.",
        in_force=enough_nodes(ratio(_RATIO_LIMIT)),
    )
    minimum_node_age: timedelta = setting(
        "minimumNodeAge", shapes.DURATION, "20m", "Nodes must be older than this. Default {default} (estafette)."
    )
    excess_threshold: Fraction = setting(
        "excessNodesThreshold",
        shapes.THRESHOLD,
        2,
        "Nodes' worth of free requests that the pool must have, decimals allowed. Default {default} (node-refiner). "
        "This default binds until demand has fallen by a node's CPU since its peak of the last day.",
    )
    max_nodes_per_pass: int = setting(
        "maxNodesPerPass", shapes.SEVERAL, 1, "Nodes taken of the pool in one pass. Default {default} (estafette)."
    )
    minimum_saving: Fraction = setting(
        "minimumSavingPerEviction",
        shapes.DOLLARS,
        0,
        "Dollars a month that a node must save for each pod that would be evicted. Default {default}: any saving is "
        "worth it. It does not apply to empty and expired nodes.",
    )
    headroom_percent: int = setting(
        "headroom",
        shapes.PERCENT,
        "5%",
        "Share of each remaining node kept free in the proof of placement. Default {default}: without it a pod is "
        "left Pending over ten times as often (docs/decisions/robust-fit.md).",
        unit="%",
    )
    kube_system_pods: KubeSystemPods = setting(
        "kubeSystemPods",
        shapes.one_of(KubeSystemPods),
        "evict",
        "{default} (default), or leave: such a pod, DaemonSets aside, then keeps its node.",
    )
    local_storage: LocalStorage = setting(
        "localStorage",
        shapes.one_of(LocalStorage),
        "block",
        "{default} (default): pods with emptyDir or hostPath keep their node; or evict.",
    )
    long_grace: LongGrace = setting(
        "longGrace",
        shapes.one_of(LongGrace),
        "keep",
        "keep: a pod with a longer grace period than drain.maxGracePeriod keeps its node; or cut: it gets that much. "
        "Default {default}: the autoscaler waits up to an hour, and such a pod has work to end.",
    )
    unprotected: Limit = setting(
        "unprotected",
        shapes.NODE_LIMIT,
        "25%",
        "How many pods of a workload without a PodDisruptionBudget may be away at once. Default {default}, at least "
        "one, never all.",
    )
    single_replicas: SingleReplicas = setting(
        "singleReplicas",
        shapes.one_of(SingleReplicas),
        "move",
        "Pods of a workload with one replica: move, avoid, surge or never. With avoid their node goes last. "
        "With surge their Deployment starts another elsewhere first, or they stay. Default {default}, as the "
        "autoscaler does.",
    )
    jobs: Jobs = setting(
        "jobs",
        shapes.one_of(Jobs),
        "wait",
        "Pods of Jobs: move, wait (the node stays while one runs), or never. Default {default}: an evicted pod loses "
        "its work, and counts as a failure against the Job's backoffLimit.",
    )
    minimum_pod_age: timedelta = setting(
        "minimumPodAge",
        shapes.DURATION,
        "0s",
        "A node with a younger pod that would have to move is kept this pass. Default {default}: any age may move.",
    )
    steer_scale_in: bool = setting(
        "steerScaleIn",
        shapes.FLAG,
        default=False,
        text="Whether pods on the pool's next nodes get a negative pod-deletion-cost: a ReplicaSet that is scaled in "
        "then removes them first. Default {default}: it needs one more right (infra/options/steer.yaml).",
    )
    ignore_taints: frozenset[str] = setting(
        "ignoreTaints", shapes.SetOf(shapes.TAINT_KEY), [], "Keys of taints that do not set a node apart. Default none."
    )
    time_since_last_addition: timedelta | None = setting(
        "timeSinceLastAddition",
        shapes.DURATION,
        None,
        "The cluster's setting for this pool alone: then only its own additions count.",
        unset="the cluster's",
    )
    rate: Rate | None = setting(
        "rate", shapes.RATE, None, "How many drains of the pool may start in any such period.", unset="no limit"
    )
    consolidation_policy: ConsolidationPolicy = setting(
        "disruption.consolidationPolicy",
        shapes.one_of(ConsolidationPolicy, WhenEmptyOrUnderutilized=ConsolidationPolicy.WHEN_UNDERUTILIZED),
        "WhenUnderutilized",
        "{default} (default, as in Karpenter) or WhenEmpty: only nodes without pods to move.",
    )
    consolidate_after: timedelta | None = setting(
        "disruption.consolidateAfter",
        shapes.DURATION_OR_NEVER,
        "5m",
        "Age that a mark needs, or Never. Default {default} (estafette), with this block or without: Karpenter's is "
        "less.",
        unset=NEVER,
    )
    expire_after: timedelta | None = setting(
        "disruption.expireAfter",
        shapes.DURATION_OR_NEVER,
        NEVER,
        "Age from which a node may go though it is full, or Never. Default {default} (estafette): on GKE nothing "
        "replaces a full node before it goes, as Karpenter would.",
        unset=NEVER,
    )
    budgets: tuple[Budget, ...] = setting(
        "disruption.budgets",
        shapes.BUDGETS,
        [{"nodes": "10%"}],
        "How many nodes may be in disruption at once. Default one of {default[0][nodes]}; an empty list is no limit.",
        empty="no limit",
    )
    windows: tuple[Schedule, ...] | None = setting(
        "disruption.windows",
        shapes.WINDOWS,
        None,
        "Drains start only while one of these is open. Default always.",
        unset="always",
        empty="never",
    )

    written: frozenset[str] = field(default=frozenset(), compare=False)  # What the document sets binds at any time.

    @property
    def pod_rules(self) -> PodRules:
        return PodRules(**{name: getattr(self, name) for name in PodRules.__struct_fields__})


POOL_FIELDS: Final = fields_of(PoolPolicy)  # By attribute: the fields of a pool.
ASK_FOR_SPARE: Final = frozenset({"required_count", "excess_threshold"})
"""Attributes that ask for spare nodes before one goes; by default they bind until demand has fallen."""
