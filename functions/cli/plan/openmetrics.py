"""A plan as OpenMetrics: what a cluster costs, comes to and is held by, as gauges for a monitoring system.

Labels are what a cluster has few of: its pools, the ladder's rungs, the verdicts and the reasons. No node and no pod is
named, so that a cluster of any size has some hundred series. Must not decide anything.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Final

from functions.cli.analysis.forecast.ladder import Ladder
from functions.cli.analysis.pool_summaries import PoolSummary
from functions.cli.format import dollars
from functions.cli.openmetrics import MONEY, MetricFamily, Sample, distinct, exposition
from functions.cli.plan.legend import HOLDING
from functions.cli.plan.view import PlanView
from shared.core.planning.plan import Verdict

_OF_CLUSTER: Final = ("cluster",)
_OF_POOL: Final = ("cluster", "pool")
_OF_RUNG: Final = ("cluster", "rung")
_OF_REASON: Final = ("cluster", "reason", "of")

TAKEN_AT: Final = MetricFamily(
    "ebb_plan_taken_at_timestamp", "When the cluster was read, Unix time.", _OF_CLUSTER, "seconds"
)
PARTIAL: Final = MetricFamily("ebb_plan_partial", "1 if not all pods of the cluster are known, else 0.", _OF_CLUSTER)
DRY_RUN: Final = MetricFamily("ebb_plan_dry_run", "1 if the policy planned with is a dry run, else 0.", _OF_CLUSTER)
PODS: Final = MetricFamily("ebb_plan_pods", "Pods of the cluster.", _OF_CLUSTER)
ORDERS: Final = MetricFamily("ebb_plan_orders", "Nodes that a pass would order away now.", _OF_CLUSTER)
SAVING: Final = MetricFamily("ebb_plan_saving", "What these orders would save.", _OF_CLUSTER, MONEY)
LADDER_NODES: Final = MetricFamily(
    "ebb_ladder_nodes", "Nodes at each rung: now, autoscaler_alone, policy_at_rest, bound.", _OF_RUNG
)
LADDER_COST: Final = MetricFamily("ebb_ladder_cost", "What the nodes of each rung cost.", _OF_RUNG, MONEY)
LADDER_EVICTIONS: Final = MetricFamily("ebb_ladder_evictions", "Evictions until each rung is reached.", _OF_RUNG)
AT_REST: Final = MetricFamily(
    "ebb_ladder_at_rest_timestamp", "When the policy is at rest, Unix time.", _OF_CLUSTER, "seconds"
)
POOL_NODES: Final = MetricFamily("ebb_pool_nodes", "Nodes of a pool by verdict.", ("cluster", "pool", "verdict"))
POOL_COST: Final = MetricFamily("ebb_pool_cost", "What the nodes of a pool cost.", _OF_POOL, MONEY)
POOL_CPU: Final = MetricFamily("ebb_pool_cpu", "CPU requests by allocatable CPU.", _OF_POOL, "ratio")
POOL_MEMORY: Final = MetricFamily("ebb_pool_memory", "Memory requests by allocatable memory.", _OF_POOL, "ratio")
POOL_SAVING: Final = MetricFamily(
    "ebb_pool_saving_at_rest", "What the nodes of a pool cost that are gone at rest.", _OF_POOL, MONEY
)
HELD_NODES: Final = MetricFamily(
    "ebb_held_nodes", "Nodes kept by a reason; of is node (each counts once) or pod (a node may have several).",
    _OF_REASON,
)  # fmt: skip
HELD_COST: Final = MetricFamily("ebb_held_cost", "What the nodes cost that a reason keeps.", _OF_REASON, MONEY)

FAMILIES: Final = (
    TAKEN_AT, PARTIAL, DRY_RUN, PODS, ORDERS, SAVING, LADDER_NODES, LADDER_COST, LADDER_EVICTIONS, AT_REST, POOL_NODES,
    POOL_COST, POOL_CPU, POOL_MEMORY, POOL_SAVING, HELD_NODES, HELD_COST,
)  # fmt: skip
"""All of them, in the order in which they are written."""


def page(views: Sequence[PlanView]) -> str:
    """Return the plans of one or several clusters as one text."""
    names = distinct([name_of(view) for view in views])
    pairs = zip(names, views, strict=True)
    return exposition((each for name, view in pairs for each in samples(name, view)), FAMILIES, currency_of(views))


def name_of(view: PlanView) -> str:
    return view.cluster or "unknown"


def currency_of(views: Iterable[PlanView]) -> str:
    """Return the currency in which all of them are priced."""
    return next((view.prices.basis.currency for view in views if view.prices), "USD")


def samples(cluster: str, view: PlanView) -> Iterator[Sample]:
    """Yield the figures of one plan; what is not known has no series."""
    totals = view.totals
    yield Sample(TAKEN_AT, (cluster,), unix(view.taken_at))
    yield Sample(PARTIAL, (cluster,), float(bool(view.partial)))
    yield Sample(DRY_RUN, (cluster,), float(view.dry_run))
    yield Sample(PODS, (cluster,), totals.pods)
    yield Sample(ORDERS, (cluster,), totals.orders)
    if not view.partial:
        yield Sample(SAVING, (cluster,), dollars(totals.saving))
    if view.ladder:
        yield from _ladder(cluster, view.ladder.ladder)
    for pool in view.pools:
        yield from _pool(cluster, pool, at_rest=view.ladder is not None)
    for entry in view.legend:
        if entry.kind in HOLDING:
            labels = (cluster, entry.word, entry.kind.value)
            yield Sample(HELD_NODES, labels, entry.nodes)
            yield Sample(HELD_COST, labels, dollars(entry.cost))


def unix(time: datetime) -> float:
    """Return seconds since 1970, as Prometheus has times."""
    return time.timestamp()


def _ladder(cluster: str, ladder: Ladder) -> Iterator[Sample]:
    """Yield the rungs that every ladder has: what relaxing adds names PodDisruptionBudgets, which may be many."""
    for step in (ladder.now, ladder.alone, ladder.at_rest, ladder.bound):
        labels = (cluster, step.rung.value)
        yield Sample(LADDER_NODES, labels, step.nodes)
        yield Sample(LADDER_COST, labels, dollars(step.cost))
        if step not in (ladder.now, ladder.bound):
            yield Sample(LADDER_EVICTIONS, labels, step.evictions)
    if ladder.by:
        yield Sample(AT_REST, (cluster,), unix(ladder.by))


def _pool(cluster: str, pool: PoolSummary, *, at_rest: bool) -> Iterator[Sample]:
    labels = (cluster, pool.pool or "")
    for verdict in Verdict:
        yield Sample(POOL_NODES, (*labels, verdict.value), pool.verdicts.get(verdict, 0))
    yield Sample(POOL_COST, labels, dollars(pool.cost))
    yield from _known(POOL_CPU, labels, pool.cpu_ratio)
    yield from _known(POOL_MEMORY, labels, pool.memory_ratio)
    if at_rest:
        yield Sample(POOL_SAVING, labels, dollars(pool.rest_save))


def _known(family: MetricFamily, labels: tuple[str, ...], ratio: Fraction | None) -> Iterator[Sample]:
    if ratio is not None:
        yield Sample(family, labels, ratio)
