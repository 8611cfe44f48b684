"""Settings that are valid and probably unintended: sentences for `policy check`."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from fractions import Fraction
from typing import Final

from shared.core.policy.cluster_fields import DRAIN_FIELDS, Policy
from shared.core.policy.fields import POOL_FIELDS, PoolPolicy
from shared.core.policy.values import Budget, BudgetUntil, Limit

_BUDGET: Final = POOL_FIELDS["budgets"].default[0]["nodes"]
_USUAL_PASS: Final = timedelta(minutes=5)  # A mark that is shorter means no more than the next pass.
_AUTOSCALERS_OWN: Final = Fraction(1, 2)
"""Below it, in CPU and memory, GKE's autoscaler removes a node by itself (docs/decisions/autoscaler.md)."""

_NONE: Final = frozenset({Limit(count=0), Limit(percent=0)})
_LONGEST_WAIT: Final = timedelta(seconds=30)  # What is promised of a pod that Ebb moves (docs/decisions/promise.md).


def warnings(policy: Policy) -> tuple[str, ...]:
    """Return what a person should know of a valid policy, one sentence each, with its path."""
    rows = list(_cluster(policy))
    for name, pool in policy.pools.items():
        if pool.enabled:
            rows += [f"nodePools.{name}.{sentence}" for rule in _POOL_RULES for sentence in rule(pool)]
    return tuple(rows)


def _cluster(policy: Policy) -> Iterator[str]:
    for sentence in _without_limit(policy.budgets, "the cluster"):
        yield f"cluster.{sentence}"
    if not any(pool.enabled for pool in policy.pools.values()):
        yield "nodePools: no pool is enabled, so nothing will ever be drained."
    elif policy.dry_run:
        yield "dryRun: it is true, so nothing is drained; write dryRun: false once the plans convince you."
    if policy.budget_until is BudgetUntil.REPLACED and policy.awaiting_deletion == Limit(count=0):
        yield "cluster.disruption.awaitingDeletion: it is 0, so no drain ever starts."
    grace = policy.drain.pending_grace
    if grace > _LONGEST_WAIT:
        yield (
            f"drain.pendingGrace: with {grace.total_seconds():g}s a moved pod may wait longer than the 30s that it is "
            f"promised; write {DRAIN_FIELDS['pending_grace'].default}."
        )


def _without_limit(budgets: tuple[Budget, ...], what: str) -> Iterator[str]:
    if not budgets:
        yield f"disruption.budgets: the list is empty, so no budget limits {what}; leave it out for {_BUDGET}."
    elif not any(map(_always_for_all, budgets)):
        yield (
            f"disruption.budgets: no budget is always active for all reasons, so at some times none limits {what}; "
            "a schedule with a limit does not mean `only then`: use windows for that."
        )


def _always_for_all(budget: Budget) -> bool:
    return budget.schedule is None and not budget.reasons


def _required_count(pool: PoolPolicy) -> Iterator[str]:
    """Acceptance row 11: so few nodes just under the limit cannot take in the pods of one; 1 asks for no others."""
    if pool.cpu_limit == 1:
        yield (
            "scaleDownCPURequestRatioLimit: at 1 no number of underutilized nodes is sure to absorb one; "
            "only the proof of placement decides."
        )
    elif pool.required_count > 1 and pool.required_count * (1 - pool.cpu_limit) < 1:
        yield (
            f"scaleDownRequiredUnderutilizedNodeCount: {pool.required_count} nodes just under the limit cannot absorb "
            f"one of them; write at least {-(-1 // (1 - pool.cpu_limit))}."
        )


def _low_limits(pool: PoolPolicy) -> Iterator[str]:
    limits = {"CPU": pool.cpu_limit, "Memory": pool.memory_limit}
    for what, limit in limits.items():
        if limit <= _AUTOSCALERS_OWN:
            yield (
                f"scaleDown{what}RequestRatioLimit: {float(limit):g} leaves little to do, for below 0.5 the cluster "
                "autoscaler removes nodes by itself (0.85 in the optimize-utilization profile); write for example 0.75."
            )


def _never(pool: PoolPolicy) -> Iterator[str]:
    if pool.windows == ():
        yield "disruption.windows: the list is empty, so no window ever opens; leave it out for always."
    if pool.rate is not None and pool.rate.nodes in _NONE:
        yield "rate.nodes: it is 0, so no drain of the pool ever starts."
    if any(_always_for_all(budget) and budget.nodes in _NONE for budget in pool.budgets):
        yield "disruption.budgets: one of 0 is always active, so no node of the pool is ever drained."


def _timers(pool: PoolPolicy) -> Iterator[str]:
    if pool.consolidate_after is not None and pool.consolidate_after < _USUAL_PASS:
        yield (
            f"disruption.consolidateAfter: {int(pool.consolidate_after.total_seconds())}s is shorter than the time "
            "between two passes, usually 5m; a node goes at the earliest in the pass after the one that marked it."
        )
    if pool.consolidate_after is None and pool.expire_after is None:
        yield "disruption: consolidateAfter and expireAfter are both Never, so no node of the pool is ever drained."


_POOL_RULES: Final[tuple[Callable[[PoolPolicy], Iterator[str]], ...]] = (
    lambda pool: _without_limit(pool.budgets, "the pool"),
    _required_count,
    _low_limits,
    _never,
    _timers,
)
