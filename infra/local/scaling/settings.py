"""How the simulated autoscaler behaves: the flags of cluster-autoscaler that matter here, in seconds.

Source: the values of GKE's two autoscaling profiles as far as they are public (the chart of
GoogleCloudPlatform/cluster-autoscaler), else cluster-autoscaler's defaults.
"""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class AutoscalerSettings:
    """`fail_deletions` names nodes whose deletion fails at the cloud; `deletion` is how long the cloud takes.

    `parallelism` bounds all removals under way, `drain_parallelism` those of nodes with pods that have to move (the
    default of max-drain-parallelism). `recheck` is how long a node that could not go is not looked at again.
    """

    scan_interval: float = 10.0
    threshold: float = 0.5
    ignore_daemonsets: bool = True
    unneeded_time: float = 600.0
    deletion: float = 60.0
    delay_after_failure: float = 180.0
    delay_after_delete: float = 10.0
    parallelism: int = 10
    drain_parallelism: int = 1
    recheck: float = 300.0
    delay_after_taint: float = 1.0
    eviction_time: float = 120.0
    eviction_retry: float = 10.0
    longest_grace: int = 3600
    grace_headroom: float = 30.0
    new_pod_delay: float = 0.0
    fail_deletions: frozenset[str] = field(default_factory=frozenset)


BALANCED = AutoscalerSettings(parallelism=100)
OPTIMIZE_UTILIZATION = replace(
    BALANCED,
    scan_interval=5.0,
    threshold=0.85,
    unneeded_time=60.0,
    recheck=20.0,
    delay_after_failure=5.0,
    delay_after_delete=5.0,
)
