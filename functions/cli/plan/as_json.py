"""The plan as JSON (docs/orders.md, plan JSON) and as OpenMetrics gauges: outside contracts."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any, Final

from functions.cli.analysis.forecast.ladder import Ladder
from functions.cli.analysis.pools import PoolSummary
from functions.cli.input.pricing import PricedNodes
from functions.cli.output.documents import MONEY, MetricFamily, Sample, distinct, exposition
from functions.cli.output.format import dollars, dollars_a_month, rfc3339
from functions.cli.plan.ladder import rungs
from functions.cli.plan.sentences import HOLDING, LegendEntry
from functions.cli.plan.view import EVERY_NODE, AskedNodes, BlockerView, NodeView, PlanView, Totals, wanted
from shared.core.cluster.autoscaling import ScaleDownRule
from shared.core.placement.assignments import Move
from shared.core.planning.plan import AtRest, PlannedOrder, Potential, Verdict
from shared.core.planning.prices import Prices
from shared.core.rules.drain_time import DrainTime

SCHEMA: Final = 1


def document(view: PlanView, asked: AskedNodes = EVERY_NODE) -> dict[str, Any]:
    """Return the plan as JSON values; `potential` is null unless it was asked for.

    What was asked for chooses among `nodes` alone; everything else is of the whole plan.
    """
    return {
        "schema": SCHEMA,
        "cluster": view.cluster or None,
        "taken_at": rfc3339(view.taken_at),
        "policy_hash": view.policy_hash or None,
        "dry_run": view.dry_run,
        "partial": view.partial or None,
        "prices": None if view.prices is None else _prices(view.prices, view.priced),
        "ladder": [] if view.ladder is None else rungs(view.ladder.ladder),
        "totals": _totals(view.totals),
        "pools": [_pool(each, view) for each in view.pools],
        "holds": [held(each) for each in view.legend if each.kind in HOLDING],
        "nodes": [node(each) for each in wanted(view, asked)],
        "orders": [_order(each) for each in view.orders],
        "at_rest": None if view.at_rest is None else _at_rest(view.at_rest),
        "potential": None if view.potential is None else _potential(view.potential),
    }


def _prices(prices: Prices, nodes: PricedNodes | None) -> dict[str, Any]:
    return {
        "source": prices.basis.source or None,
        "as_of": prices.basis.as_of or None,
        "region": prices.basis.region or None,
        "currency": prices.basis.currency,
        "regions": [
            {"region": name or None, "share": None if share is None else float(share)}
            for name, share in (nodes.regions.items() if nodes else ())
        ],
        "spot": nodes is not None and nodes.spot,
        "discounts": [
            {"family": name or None, "share": float(share)} for name, share in sorted(prices.discounts.items())
        ],
    }


def _totals(totals: Totals) -> dict[str, Any]:
    return {
        "nodes": totals.nodes,
        "pods": totals.pods,
        "pending_pods": totals.pending,
        "orders": totals.orders,
        "marked": totals.marked,
        "removable": totals.removable,
        "cost_per_hour": money(dollars(totals.cost)),
        "saving_per_hour": money(dollars(totals.saving)),
        "saving_per_month": money(dollars_a_month(totals.saving)),
    }


def node(shown: NodeView) -> dict[str, Any]:
    """Return one node of a plan."""
    decision = shown.decision
    return {
        "name": shown.name,
        "pool": decision.pool or None,
        "verdict": decision.verdict.value,
        "reason": decision.reason or None,
        "blockers": [blocker(each) for each in shown.blockers],
        "cost_per_hour": money(dollars(decision.cost)),
        "cpu_ratio": _ratio(decision.cpu_ratio),
        "memory_ratio": _ratio(decision.memory_ratio),
        "movable_cpu_ratio": _ratio(decision.movable_cpu_ratio),
        "movable_memory_ratio": _ratio(decision.movable_memory_ratio),
        "accelerator_ratio": _ratio(decision.accelerator_ratio),
        "score": _ratio(decision.score),
        "marked_since": _time(decision.marked_since),
        "removable_at": _time(decision.removable_at),
        "drain": None if decision.drain is None else drain(decision.drain),
    }


def _pool(pool: PoolSummary, view: PlanView) -> dict[str, Any]:
    at_rest = view.ladder is not None
    return {
        "name": pool.pool or None,
        "nodes": pool.nodes,
        "cpu_ratio": _ratio(pool.cpu_ratio),
        "memory_ratio": _ratio(pool.memory_ratio),
        "cost_per_hour": money(dollars(pool.cost)),
        "verdicts": {verdict.value: pool.verdicts.get(verdict, 0) for verdict in Verdict},
        "saving_per_hour": money(dollars(pool.saving)),
        "gone_at_rest": pool.rest_go if at_rest else None,
        "saving_at_rest_per_hour": money(dollars(pool.rest_save)) if at_rest else None,
        "autoscaler": _autoscaler(view.autoscaler.get(pool.pool or "")),
    }


def _autoscaler(rule: ScaleDownRule | None) -> dict[str, Any] | None:
    if rule is None:
        return None
    return {
        "threshold": float(rule.gate),
        "threshold_by": rule.gate_by.value,
        "delay_seconds": round(rule.unneeded.total_seconds()),
        "delay_by": rule.unneeded_by.value,
        "compute_class": rule.compute_class or None,
        "only_empty": rule.is_reaper if rule.class_known else None,
    }


def held(entry: LegendEntry) -> dict[str, Any]:
    """Return a reason with what it holds."""
    return {
        "reason": entry.word,
        "of": entry.kind.value,
        "nodes": entry.nodes,
        "cost_per_hour": money(dollars(entry.cost)),
    }


def drain(takes: DrainTime) -> dict[str, Any]:
    """Return how long a drain takes."""
    return {
        "rounds": takes.rounds,
        "limit": takes.limit or None,
        "least_seconds": round(takes.least.total_seconds()),
        "most_seconds": round(takes.most.total_seconds()),
        "deadline_seconds": round(takes.deadline.total_seconds()),
    }


def blocker(shown: BlockerView) -> dict[str, Any]:
    """Return one thing that stands in the way."""
    return {
        "reason": shown.reason,
        "object": shown.object or None,
        "detail": shown.detail or None,
        "message_id": shown.message_id or None,
    }


def _order(order: PlannedOrder) -> dict[str, Any]:
    return {
        "node": order.node,
        "reason": order.reason.value,
        "saving_per_hour": money(dollars(order.saving)),
        "moves": _moves(order.moves),
    }


def _at_rest(found: AtRest) -> dict[str, Any]:
    return {
        "nodes": list(found.nodes),
        "saving_per_hour": money(dollars(found.saving)),
        "steps": found.steps,
        "braked": found.braked,
    }


def _potential(potential: Potential) -> dict[str, Any]:
    return {
        "nodes": list(potential.nodes),
        "saving_per_hour": money(dollars(potential.saving)),
        "moves": _moves(potential.moves),
    }


def _moves(moves: Iterable[Move]) -> list[dict[str, str]]:
    return [{"pod": move.pod, "to": move.node} for move in moves]


def money(amount: Fraction) -> float:
    """Return money as JSON carries it."""
    return float(round(amount, 4))


def _ratio(ratio: Fraction | None) -> float | None:
    return None if ratio is None else float(ratio)


def _time(time: datetime | None) -> str | None:
    return None if time is None else rfc3339(time)


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
        yield from _pool_metrics(cluster, pool, at_rest=view.ladder is not None)
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


def _pool_metrics(cluster: str, pool: PoolSummary, *, at_rest: bool) -> Iterator[Sample]:
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
