"""The policy as a person writes it: every field with its meaning, unit, default and the reason for it.

The one source of truth for fields, defaults and the JSON Schema. A field that was not written stays unset, so that
`defaults` can be merged under a pool and nothing is invented (acceptance row 74). Must not compute effective values.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import Field, Strict, ValidationInfo, field_validator

from shared.core.policy_document.sections import (
    MOST_BUDGETS,
    BudgetSection,
    FreezeSection,
    NamespaceRateSection,
    RateSection,
    ScheduleSection,
    Section,
    default,
)
from shared.core.policy_document.types import (
    Count,
    Duration,
    DurationOrNever,
    IgnorableWord,
    JobsWord,
    KubeSystemWord,
    LocalStorageWord,
    LongGraceWord,
    NodeLimit,
    Percent,
    PolicyWord,
    PositiveDuration,
    Ratio,
    Several,
    SingleReplicasWord,
    TaintKey,
    Threshold,
)

Flag = Annotated[bool, Strict()]


class CeilingSection(Section):
    """Disruption of the whole cluster."""

    budgets: tuple[BudgetSection, ...] = default(
        ({"nodes": "10%"},),
        "Ceiling over all pools together. Default one budget of 10%, as for a pool.",
        max_length=MOST_BUDGETS,
    )


class ClusterSection(Section):
    """Gates of the whole cluster."""

    minimum_nodes: Count = default(2, "Nodes that must remain after a removal. Default 2 (node-refiner).")
    minimum_non_tainted_nodes: Count = default(
        2, "Nodes without repelling taints that must remain after a removal. Default 2 (node-refiner)."
    )
    time_since_last_addition: Duration = default(
        "60m", "No drain until this long after the newest node was created. Default 60m (node-refiner): demand grows."
    )
    time_gap: Duration = default(
        "10m", "Time between the starts of drains of two passes, failed ones included. Default 10m (node-refiner)."
    )
    disruption: CeilingSection = default({}, "Budgets over all pools.")
    rate: RateSection = default(
        {"nodes": "20%", "per": "1h"}, "How many drains may start in any such period. Default 20% an hour: no stampede."
    )
    evictions_per_namespace: NamespaceRateSection | None = Field(
        None,
        description="How many pods of one namespace drains may move in any such period, such as {pods: 20, per: 1h}. "
        "Default none: PodDisruptionBudgets guard each workload; this guards a team with many.",
    )
    freezes: tuple[FreezeSection, ...] = default((), "Times in which no drain starts. Default none.")


class BackoffSection(Section):
    """How long a node is left alone after a drain of it failed."""

    first: PositiveDuration = default("30m", "After the first failure. Default 30m; doubled with each in a row.")
    most: PositiveDuration = default("24h", "The longest time. Default 24h: a day later the world is another.")

    @field_validator("most")
    @classmethod
    def _not_below_first(cls, value: timedelta, info: ValidationInfo) -> timedelta:
        if value < info.data.get("first", value):
            raise ValueError("it is shorter than first; write a duration of at least first")
        return value


class DrainSection(Section):
    """How a drain is carried out; a running drain keeps what held when it began."""

    max_grace_period: PositiveDuration = default(
        "8m", "The longest grace period; see longGrace for pods that ask for more. Default 8m (node-refiner)."
    )
    timeout: PositiveDuration = default(
        "8m30s", "Time for a drain, to which the longest capped grace is added. Default 8m30s (node-refiner)."
    )
    watchdog: PositiveDuration | None = Field(
        None,
        description="Time for the autoscaler to delete the drained node before it is given back. Default 25m, "
        "8m in the optimize-utilization profile: well above the autoscaler's own delay in each. A pool whose "
        "consolidation delay is longer gets that and 15m; one that stands in a ComputeClass alone is not seen, write "
        "it here with 15m more.",
    )
    pending_grace: PositiveDuration = default(
        "20s",
        "How long a replacement may stay unschedulable before the node is given back. Default 20s: with the look that "
        "finds it and the scheduler's next try, well within half a minute.",
    )
    backoff: BackoffSection = default({}, "How long a node is left alone after a failed drain.")
    max_parallel_evictions: Several = default(20, "Evictions under way at once per drain. Default 20: kind to the API.")


class ManualSection(Section):
    """What a person's drain order may leave out."""

    may_ignore: tuple[IgnorableWord, ...] = default(
        ("windows",), "Words that an order's `ignore` may hold: windows, budgets, gates. Default windows alone."
    )


class DisruptionSection(Section):
    """Karpenter's block of the same name, v1beta1 and v1, with allow-windows added."""

    consolidation_policy: PolicyWord = default(
        "WhenUnderutilized",
        "WhenUnderutilized (default, as in Karpenter) or WhenEmpty: only nodes without pods to move.",
    )
    consolidate_after: DurationOrNever = default(
        "5m",
        "Age that a mark needs, or Never. Default 5m (estafette), with this block or without: Karpenter's is less.",
    )
    expire_after: DurationOrNever = default(
        "Never",
        "Age from which a node may go though it is full, or Never. Default Never (estafette): on GKE nothing replaces "
        "a full node before it goes, as Karpenter would.",
    )
    budgets: tuple[BudgetSection, ...] = default(
        ({"nodes": "10%"},),
        "How many nodes may be in disruption at once. Default one of 10%; an empty list is no limit.",
        max_length=MOST_BUDGETS,
    )
    windows: tuple[ScheduleSection, ...] | None = Field(
        None, description="Drains start only while one of these is open. Default always.", max_length=MOST_BUDGETS
    )


class PoolSection(Section):
    """One node pool. What it leaves out comes from `defaults`, then from here."""

    enabled: Flag = default(
        value=False, description="Whether nodes of the pool may be drained. Default false: nobody is surprised."
    )
    scale_down_cpu_request_ratio_limit: Ratio = default(
        0.75,
        "A node is under-utilised while its CPU requests are strictly below this share of allocatable. Default 0.75.",
        alias="scaleDownCPURequestRatioLimit",
    )
    scale_down_memory_request_ratio_limit: Ratio = default(
        0.75, "The same for memory. Default 0.75: a node full of memory is not under-utilised."
    )
    scale_down_required_underutilized_node_count: Count | None = Field(
        None,
        description="Under-utilised nodes needed, plus one for each drain in flight. Default the smallest n with "
        "n·(1 - CPU limit) ≥ 1: so many nodes just under the limit absorb one. At limit 1 there is no such n: then 1.",
    )
    minimum_node_age: Duration = default("20m", "Nodes must be older than this. Default 20m (estafette).")
    excess_nodes_threshold: Threshold = default(
        2, "Nodes' worth of free requests that the pool must have, decimals allowed. Default 2 (node-refiner)."
    )
    max_nodes_per_pass: Several = default(1, "Nodes taken of the pool in one pass. Default 1 (estafette).")
    headroom: Percent = default("0%", "Share of each remaining node kept free in the proof of placement. Default 0%.")
    kube_system_pods: KubeSystemWord = default(
        "evict", "evict (default), or leave: such a pod, DaemonSets aside, then keeps its node."
    )
    local_storage: LocalStorageWord = default(
        "block", "block (default, estafette): pods with emptyDir or hostPath keep their node; or evict."
    )
    long_grace: LongGraceWord = default(
        "keep",
        "keep: a pod that asks for more grace than drain.maxGracePeriod keeps its node; or cut: it gets that much. "
        "Default keep: the autoscaler gives up to an hour, and a pod that asks for one has work to end.",
    )
    unprotected: NodeLimit = default(
        "25%",
        "How many pods of a workload without a PodDisruptionBudget may be away at once. Default 25%, at least "
        "one, never all.",
    )
    single_replicas: SingleReplicasWord = default(
        "move",
        "Pods of a workload that wants one replica: move, avoid (their node goes after all others), or never. "
        "Default move, as the autoscaler does.",
    )
    jobs: JobsWord = default(
        "wait",
        "Pods of Jobs: move, wait (the node stays while one runs), or never. Default wait: an evicted one loses its "
        "work, and counts as a failure against the Job's backoffLimit.",
    )
    minimum_pod_age: Duration = default(
        "0s", "A node with a younger pod that would have to move is kept this pass. Default 0s: any age may move."
    )
    ignore_taints: tuple[TaintKey, ...] = default((), "Keys of taints that do not set a node apart. Default none.")
    time_since_last_addition: Duration | None = Field(
        None, description="The cluster's setting for this pool alone: then only its own additions count."
    )
    rate: RateSection | None = Field(None, description="How many drains of the pool may start in any such period.")
    disruption: DisruptionSection | None = Field(None, description="Karpenter's disruption block.")


class PolicySection(Section):
    """Ebb's policy. An estafette configuration is valid as it stands; a Karpenter disruption block drops in."""

    dry_run: Flag = default(
        value=True, description="Decide and report, change nothing. Default true: the first run is safe."
    )
    paused: Flag = default(
        value=False, description="No new drain; drains in flight are given back; healing goes on. Default false."
    )
    cluster: ClusterSection = default({}, "What holds for all pools together.")
    drain: DrainSection = default({}, "How a drain is carried out.")
    manual: ManualSection = default({}, "What a person's drain may leave out.")
    defaults: PoolSection = default({}, "Any pool field, for all pools named in nodePools that do not write it.")
    node_pools: Mapping[str, PoolSection] = default({}, "The pools by name; a pool that is not named is disabled.")
