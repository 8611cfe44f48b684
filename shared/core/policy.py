"""The policy's effective settings, as the rules read them: plain values, every default applied.

`policy_document` reads what a person wrote and makes these. Must not parse, and must not know the clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Final

import msgspec
from msgspec.structs import replace


class ConsolidationPolicy(StrEnum):
    WHEN_UNDERUTILIZED = "WhenUnderutilized"
    WHEN_EMPTY = "WhenEmpty"


class KubeSystemPods(StrEnum):
    EVICT = "evict"
    LEAVE = "leave"


class LocalStorage(StrEnum):
    BLOCK = "block"
    """emptyDir and hostPath keep a node, as in estafette; safe-to-evict says otherwise per pod."""
    EVICT = "evict"


class SingleReplicas(StrEnum):
    MOVE = "move"
    AVOID = "avoid"
    """The node goes after all others."""
    NEVER = "never"


class Jobs(StrEnum):
    MOVE = "move"
    WAIT = "wait"
    """The node is kept while a pod of a Job runs on it: an evicted one begins again, and counts as a failure."""
    NEVER = "never"


class LongGrace(StrEnum):
    """What becomes of a pod that asks for more grace than `drain.maxGracePeriod`."""

    KEEP = "keep"
    """Its node is kept: whoever asks for an hour has work to end."""
    CUT = "cut"
    """It is evicted with maxGracePeriod, as node-refiner does."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cron schedule of five fields with its zone; active for `duration` of elapsed time after each hit."""

    cron: str
    duration: timedelta
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Limit:
    """A number of nodes, or a share of a pool in percent (rounded up)."""

    count: int | None = None
    percent: int | None = None

    def of(self, nodes: int) -> int:
        """Return the limit for a pool of that many nodes; percent rounds up (acceptance row 61)."""
        if self.percent is None:
            return self.count or 0
        return (self.percent * nodes + 99) // 100

    def __str__(self) -> str:
        return f"{self.count}" if self.percent is None else f"{self.percent}%"


KARPENTERS_REASONS: Final = ("drifted", "unhealthy")
"""Reasons that Karpenter has and Ebb never: a budget for them alone never matches."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How many nodes may be in disruption at once while active; no schedule = always; no reasons = all."""

    nodes: Limit
    schedule: Schedule | None = None
    reasons: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Rate:
    """How many drains may start within any period of that length."""

    nodes: Limit
    per: timedelta


@dataclass(frozen=True, slots=True)
class NamespaceRate:
    """How many pods of one namespace drains may move within any period of that length."""

    pods: int
    per: timedelta


@dataclass(frozen=True, slots=True)
class Freeze:
    """No drain starts from `start` until before `end`."""

    start: datetime
    end: datetime


class DrainSettings(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """How a drain is carried out; kept in its claim, so that a running drain ends as it was begun.

    Written as a list in this order, which keeps claims small: new settings are added at the end.
    """

    max_grace: timedelta = timedelta(minutes=8)
    timeout: timedelta = timedelta(minutes=8, seconds=30)
    watchdog: timedelta = timedelta(minutes=25)
    pending_grace: timedelta = timedelta(seconds=20)
    backoff_first: timedelta = timedelta(minutes=30)
    backoff_most: timedelta = timedelta(hours=24)
    max_parallel_evictions: int = 20


class PodRules(msgspec.Struct, frozen=True, kw_only=True):
    """What a pool's settings say of pods; kept in a drain's record, so that a running drain ends as it was begun."""

    kube_system_pods: KubeSystemPods = KubeSystemPods.EVICT
    local_storage: LocalStorage = LocalStorage.EVICT
    long_grace: LongGrace = LongGrace.CUT
    unprotected: Limit = Limit(percent=25)
    single_replicas: SingleReplicas = SingleReplicas.MOVE
    jobs: Jobs = Jobs.MOVE
    minimum_pod_age: timedelta = timedelta(0)


WATCHDOGS: Final = {"BALANCED": timedelta(minutes=25), "OPTIMIZE_UTILIZATION": timedelta(minutes=8)}
"""How long a drained node is left to the autoscaler, by autoscaling profile."""
AFTER_THE_DELAY: Final = timedelta(minutes=15)
"""What the autoscaler may need besides its delay: to look at the node again, to delete the machine (guide: §2.3)."""
DEFAULT_BUDGETS: Final = (Budget(Limit(percent=10)),)


@dataclass(frozen=True, slots=True)
class PoolPolicy:
    """The settings of one pool, all defaults applied."""

    enabled: bool = False
    cpu_limit: Fraction = Fraction(3, 4)
    memory_limit: Fraction = Fraction(3, 4)
    required_count: int = 4
    """The smallest n with n·(1 - limit) ≥ 1 unless set."""
    minimum_node_age: timedelta = timedelta(minutes=20)
    excess_threshold: Fraction = Fraction(2)
    max_nodes_per_pass: int = 1
    headroom_percent: int = 0
    kube_system_pods: KubeSystemPods = KubeSystemPods.EVICT
    local_storage: LocalStorage = LocalStorage.BLOCK
    long_grace: LongGrace = LongGrace.KEEP
    unprotected: Limit = Limit(percent=25)
    """How many pods of a workload without a PodDisruptionBudget may be away at once."""
    single_replicas: SingleReplicas = SingleReplicas.MOVE
    jobs: Jobs = Jobs.WAIT
    minimum_pod_age: timedelta = timedelta(0)
    ignore_taints: frozenset[str] = frozenset()
    time_since_last_addition: timedelta | None = None
    """None: the cluster's setting counts."""
    consolidation_policy: ConsolidationPolicy = ConsolidationPolicy.WHEN_UNDERUTILIZED
    consolidate_after: timedelta | None = timedelta(minutes=5)
    """The age a mark needs; None = Never."""
    expire_after: timedelta | None = None
    """None = Never."""
    budgets: tuple[Budget, ...] = DEFAULT_BUDGETS
    windows: tuple[Schedule, ...] | None = None
    """Allow-list; None = always."""
    rate: Rate | None = None

    @property
    def pod_rules(self) -> PodRules:
        return PodRules(**{name: getattr(self, name) for name in PodRules.__struct_fields__})


@dataclass(frozen=True)
class Policy:
    """The whole policy. `hash` names the document it stems from in logs, plans and claims."""

    hash: str = ""
    dry_run: bool = True
    paused: bool = False
    minimum_nodes: int = 2
    minimum_non_tainted_nodes: int = 2
    time_since_last_addition: timedelta = timedelta(minutes=60)
    time_gap: timedelta = timedelta(minutes=10)
    budgets: tuple[Budget, ...] = DEFAULT_BUDGETS
    """The ceiling over all pools."""
    rate: Rate | None = Rate(Limit(percent=20), timedelta(hours=1))
    evictions_per_namespace: NamespaceRate | None = None
    freezes: tuple[Freeze, ...] = ()
    drain: DrainSettings = field(default_factory=DrainSettings)
    watchdog_by_profile: bool = True
    """Whether the drain's watchdog was left to the autoscaling profile."""
    manual_may_ignore: frozenset[str] = frozenset({"windows"})
    pools: Mapping[str, PoolPolicy] = field(default_factory=dict)
    other_pools: PoolPolicy = field(default_factory=PoolPolicy)
    """What holds for a pool that the policy does not name: disabled, unless a plan asks about all pools."""

    def pool(self, name: str) -> PoolPolicy:
        return self.pools.get(name, self.other_pools)

    def drain_for(self, profile: str, delay: timedelta | None = None) -> DrainSettings:
        """Return the settings of a drain in a cluster of that autoscaling profile (design §6, watchdog).

        `delay` is how long the autoscaler waits in the node's pool where that was set: the watchdog waits longer,
        whatever the policy says, or every drain there would be given back.
        """
        usual = WATCHDOGS.get(profile, self.drain.watchdog) if self.watchdog_by_profile else self.drain.watchdog
        least = delay + AFTER_THE_DELAY if delay else usual
        return replace(self.drain, watchdog=max(usual, least))

    def addition_grace(self, pool: str) -> timedelta:
        """Return how long after an addition the pool is left alone."""
        own = self.pool(pool).time_since_last_addition
        return self.time_since_last_addition if own is None else own
