"""The settings of the whole cluster and of a drain, each declared once as in `fields`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from shared.core.policy import shapes
from shared.core.policy.commitments import COMMITMENTS
from shared.core.policy.field import Field, fields_of, setting
from shared.core.policy.fields import PoolPolicy
from shared.core.policy.scalars import duration
from shared.core.policy.values import (
    Budget,
    BudgetUntil,
    Commitments,
    Freeze,
    Limit,
    NamespaceRate,
    Preference,
    Rate,
    WaveLimits,
)

_WATCHDOGS: Final = {"BALANCED": "25m", "OPTIMIZE_UTILIZATION": "8m"}
WATCHDOGS: Final = {profile: duration(time) for profile, time in _WATCHDOGS.items()}
"""How long a drained node is left to the autoscaler, by autoscaling profile."""
_AFTER_THE_DELAY: Final = {"BALANCED": timedelta(minutes=15), "OPTIMIZE_UTILIZATION": timedelta(minutes=7)}
"""What the autoscaler needs besides its delay: to check the node again, to delete the machine
(docs/decisions/completion.md)."""
_AFTER_ITS_DELAY: Final = timedelta(minutes=10)  # If it only removes empty nodes, it skips none for five minutes.


def _refuse_below_first(most: timedelta, known: Mapping[str, Any]) -> None:
    if most < known.get("first", most):
        raise ValueError("it is shorter than first; write a duration of at least first")


DRAIN_FIELDS: Final[Mapping[str, Field]] = {
    "max_grace": Field(
        "drain.maxGracePeriod",
        shapes.POSITIVE_DURATION,
        "The longest grace period; see longGrace for pods with more. Default {default} (node-refiner).",
        "8m",
    ),
    "timeout": Field(
        "drain.timeout",
        shapes.POSITIVE_DURATION,
        "Time for a drain. The longest capped grace is added, and up to 6m for disks that move in turn. "
        "Default {default} (node-refiner).",
        "8m30s",
    ),
    "watchdog": Field(
        "drain.watchdog",
        shapes.POSITIVE_DURATION,
        "Time for the autoscaler to delete the drained node before Ebb uncordons it. "
        f"Default {_WATCHDOGS['BALANCED']}, {_WATCHDOGS['OPTIMIZE_UTILIZATION']} in the optimize-utilization profile: "
        "well above the autoscaler's own delay in each. If a pool or a ComputeClass sets a consolidation delay, it is "
        "at least that and the same margin. If the autoscaler only takes empty nodes, it is shorter.",
        None,
    ),
    "pending_grace": Field(
        "drain.pendingGrace",
        shapes.POSITIVE_DURATION,
        "How long a replacement may stay unschedulable before Ebb uncordons the node. Default {default}: with the read "
        "that finds it and the scheduler's next try, well within half a minute.",
        "20s",
    ),
    "backoff_first": Field(
        "drain.backoff.first",
        shapes.POSITIVE_DURATION,
        "After the first failure. Default {default}; doubled with each in a row.",
        "30m",
    ),
    "backoff_most": Field(
        "drain.backoff.most",
        shapes.POSITIVE_DURATION,
        "The longest time. Default {default}: a day later the cluster has changed.",
        "24h",
        check=_refuse_below_first,
    ),
    "max_parallel_evictions": Field(
        "drain.maxParallelEvictions",
        shapes.SEVERAL,
        "Evictions under way at once per drain. Default {default}: gentle on the API server.",
        20,
    ),
}
"""By attribute of `DrainSettings`, which is stored in claims and so declares no more than types and order."""


class DrainSettings(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """How a drain is carried out; kept in its claim, so that a running drain ends as it was begun."""

    # Written as a list in this order, which keeps claims small: new settings are added at the end.

    max_grace: timedelta = DRAIN_FIELDS["max_grace"].initial()
    timeout: timedelta = DRAIN_FIELDS["timeout"].initial()
    watchdog: timedelta = WATCHDOGS["BALANCED"]
    pending_grace: timedelta = DRAIN_FIELDS["pending_grace"].initial()
    backoff_first: timedelta = DRAIN_FIELDS["backoff_first"].initial()
    backoff_most: timedelta = DRAIN_FIELDS["backoff_most"].initial()
    max_parallel_evictions: int = DRAIN_FIELDS["max_parallel_evictions"].initial()


@dataclass(frozen=True)
class Policy:
    """The whole policy. `hash` names the document it stems from in logs, plans and claims."""

    hash: str = ""
    dry_run: bool = setting(
        "dryRun",
        shapes.FLAG,
        default=True,
        text="Decide and report, change nothing. Default {default}: the first run is safe.",
    )
    paused: bool = setting(
        "paused",
        shapes.FLAG,
        default=False,
        text="No drain starts, drains in flight end and uncordon their nodes, repairs go on. Default {default}.",
    )
    minimum_nodes: int = setting(
        "cluster.minimumNodes",
        shapes.COUNT,
        2,
        "Nodes that must remain after a removal. Default {default} (node-refiner).",
    )
    minimum_non_tainted_nodes: int = setting(
        "cluster.minimumNonTaintedNodes",
        shapes.COUNT,
        2,
        "Nodes without repelling taints that must remain after a removal. Default {default} (node-refiner).",
    )
    time_since_last_addition: timedelta = setting(
        "cluster.timeSinceLastAddition",
        shapes.DURATION,
        "60m",
        "No drain until this long after the newest node was created. Default {default} (node-refiner): demand grows.",
    )
    time_gap: timedelta = setting(
        "cluster.timeGap",
        shapes.DURATION,
        "10m",
        "Time between the starts of drains of two passes, failed ones included. Default {default} (node-refiner).",
    )
    prefer: tuple[Preference, ...] = setting(
        "cluster.prefer",
        shapes.ListOf(shapes.one_of(Preference), len(Preference)),
        [],
        "Which of the removable nodes go first: expensive, onDemand, spot, old. The first word counts most. Default "
        "none: the least used go first. New pods avoid costly nodes unless another word than expensive is first.",
    )
    budgets: tuple[Budget, ...] = setting(
        "cluster.disruption.budgets",
        shapes.BUDGETS,
        [{"nodes": "10%"}],
        "Ceiling over all pools together. Default one budget of {default[0][nodes]}, as for a pool.",
        empty="no limit",
    )
    awaiting_deletion: Limit = setting(
        "cluster.disruption.awaitingDeletion",
        shapes.NODE_LIMIT,
        "20%",
        "With `drain.budgetUntil: replaced`: how many nodes Ebb may hold at once until they are deleted, in the "
        "cluster and in each pool. Drained ones count, for their capacity is away. Default {default}.",
    )
    rate: Rate | None = setting(
        "cluster.rate",
        shapes.RATE,
        {"nodes": "20%", "per": "1h"},
        "How many drains may start in any such period. Default {default[nodes]} an hour: no stampede.",
        unset="no limit",
    )
    evictions_per_namespace: NamespaceRate | None = setting(
        "cluster.evictionsPerNamespace",
        shapes.NAMESPACE_RATE,
        None,
        "How many pods of one namespace may move in any such period, for example {{pods: 20, per: 1h}}. "
        "Default none: PodDisruptionBudgets protect each workload; this protects a team with many.",
        unset="no limit",
    )
    wave: WaveLimits | None = setting(
        "cluster.wave",
        shapes.WAVE,
        None,
        "The size and time of the set of nodes that is held as a whole, such as {{nodes: 30%, deadline: 90m}}. While "
        "it lasts, timeGap and maxNodesPerPass do not bind its nodes. Default none: they do, for a set of any size.",
        unset="of any size, at the pace of timeGap",
    )
    freezes: tuple[Freeze, ...] = setting(
        "cluster.freezes", shapes.ListOf(shapes.FREEZE), [], "Times in which no drain starts. Default none."
    )
    commitments: Commitments = setting(
        "cluster.commitments",
        COMMITMENTS,
        {},
        "Committed use that is paid for anyway: a node saves only what the bill falls by. Default none: list prices.",
    )
    drain: DrainSettings = field(default_factory=DrainSettings)
    budget_until: BudgetUntil = setting(
        "drain.budgetUntil",
        shapes.one_of(BudgetUntil),
        "deleted",
        "When a drained node stops counting in the budgets: deleted, or replaced (all that was moved runs again). "
        "Default {default}, as in Karpenter.",
    )
    watchdog_by_profile: bool = True  # Whether the drain's watchdog was left to the autoscaling profile.
    manual_may_ignore: frozenset[str] = setting(
        "manual.mayIgnore",
        shapes.SetOf(shapes.IGNORABLE),
        ["windows"],
        "Words that an order's `ignore` may hold: windows, budgets, gates. Default {default[0]} alone.",
        empty="nothing",
    )
    pools: Mapping[str, PoolPolicy] = field(default_factory=dict)
    other_pools: PoolPolicy = field(default_factory=PoolPolicy)
    """The settings of a pool that the policy does not name: disabled, unless a plan asks about all pools."""
    defaults_enable: bool = False
    """Whether `defaults` has `enabled: true`, which enables only pools that `nodePools` names."""

    def pool(self, name: str) -> PoolPolicy:
        return self.pools.get(name, self.other_pools)

    def drain_for(self, profile: str, delay: timedelta | None = None, *, only_empty: bool = False) -> DrainSettings:
        """Return the settings of a drain in a cluster of that autoscaling profile (docs/decisions/completion.md)."""
        # The watchdog outlasts the autoscaler's delay, or Ebb would return the node after every drain.
        usual = WATCHDOGS.get(profile, self.drain.watchdog) if self.watchdog_by_profile else self.drain.watchdog
        if not delay:
            return replace(self.drain, watchdog=usual)
        after = _AFTER_THE_DELAY.get(profile, _AFTER_THE_DELAY["BALANCED"])
        least = delay + (min(after, _AFTER_ITS_DELAY) if only_empty else after)
        return replace(self.drain, watchdog=least if self.watchdog_by_profile and only_empty else max(usual, least))

    def addition_grace(self, pool: str) -> timedelta:
        own = self.pool(pool).time_since_last_addition
        return self.time_since_last_addition if own is None else own


CLUSTER_FIELDS: Final = fields_of(Policy)  # By attribute: the fields that are neither a pool's nor a drain's.
