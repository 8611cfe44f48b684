"""The log lines of a pass: one for each node, pool and order."""

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from functools import cached_property
from typing import Any

from functions.planner.commitments import UsedCommitments
from functions.planner.read_and_repair import PassInputs
from functions.planner.steer import Steered
from shared import VERSION
from shared.core.cluster.resources import Resources
from shared.core.planning.metrics import (
    ClusterMetrics,
    MissedSaving,
    NodeMetrics,
    cluster_metrics,
    missed_savings,
    node_metrics,
)
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.planning.prices import Prices, per_month
from shared.core.reasons import Blocker
from shared.core.records.state import MICRO
from shared.ports import Log, Traffic


@dataclass(frozen=True)
class PassReport:
    """What a pass did, and what its plan rests on."""

    plan: Plan
    inputs: PassInputs
    prices: Prices
    interval: timedelta
    run_id: str
    published: tuple[str, ...]
    healed: int
    not_healed: int  # Findings whose repair failed; the next pass finds them again.
    seconds: float
    traffic: Traffic
    steered: Steered
    paid: UsedCommitments
    wave_left: int  # Nodes of the wave that a second pass may order.

    @cached_property
    def missed(self) -> tuple[MissedSaving, ...]:
        """Return what each word keeps: for the log and for the week."""
        return missed_savings(self.plan, self.inputs.snapshot)


def summary(report: PassReport) -> dict[str, Any]:
    """Return what the function answers; the run's line has the same fields."""
    plan = report.plan
    return {
        "run_id": report.run_id,
        "version": VERSION,
        "verdicts": plan.counts(),
        "orders": list(report.published),
        "would_order": [order.node for order in plan.orders] if plan.dry_run else [],
        "healed": report.healed,
        "not_healed": report.not_healed,
        "dry_run": plan.dry_run,
        "policy_hash": plan.policy_hash,
        "at_rest": None if plan.at_rest is None else len(plan.at_rest.nodes),
        "costs_written": report.steered.written,
        "costs_taken_back": report.steered.taken_back,
        **report.paid.fields,
        "wave_left": report.wave_left,
        "search_braked": plan.at_rest is not None and plan.at_rest.braked,
        "saving_per_month": dollars(per_month(plan.saving)),
        "duration_ms": round(report.seconds * 1000),
        "api_calls": report.traffic.calls,
        "api_bytes": report.traffic.bytes,
    }


def sentence(report: PassReport) -> str:
    plan, counts = report.plan, report.plan.counts()
    orders = f"{len(plan.orders)} would be ordered (dry run)" if plan.dry_run else f"{len(report.published)} ordered"
    return (
        f"{len(plan.decisions)} nodes: {orders}, {counts[Verdict.IN_FLIGHT.value]} in flight, "
        f"{counts[Verdict.WAITING.value]} waiting, {counts[Verdict.KEEP.value]} kept; {report.healed} healed"
        f"{f', {report.not_healed} not' if report.not_healed else ''}."
    )


def pool_state(metrics: NodeMetrics) -> dict[str, Any]:
    return {
        "nodes": metrics.nodes,
        "ready_nodes": metrics.ready_nodes,
        "non_tainted_nodes": metrics.non_tainted_nodes,
        "unschedulable_nodes": metrics.unschedulable_nodes,
        "underutilized": metrics.underutilized,
        "marked": metrics.marked,
        "in_flight": metrics.in_flight,
        "pods": metrics.pods,
        **_sizes(metrics.allocatable, metrics.requested),
        "cpu_ratio": number(metrics.cpu_ratio),
        "memory_ratio": number(metrics.memory_ratio),
        "excess_nodes": number(metrics.excess),
        "cost_per_hour": dollars(metrics.cost),
        "saving_per_hour": dollars(metrics.saving),
    }


def cluster_state(metrics: NodeMetrics, cluster: ClusterMetrics) -> dict[str, Any]:
    return {
        **pool_state(metrics),
        "unschedulable_pods": cluster.unschedulable_pods,
        "oldest_mark_seconds": round(cluster.oldest_mark.total_seconds()),
        "kept": {group.value: count for group, count in cluster.kept.items()},
        "claims": cluster.claims,
        "overdue_claims": cluster.overdue_claims,
        "open_breakers": cluster.open_breakers,
        "backing_off": cluster.backing_off,
        "bill_per_hour": None if cluster.bill is None else dollars(cluster.bill),
        "idle_per_hour": None if cluster.idle is None else dollars(cluster.idle),
        "reclaimed_nodes": cluster.reclaimed_nodes,
        "reclaimed_cost_per_hour": dollars(cluster.reclaimed_cost),
        "reclaimed_node_hours": round(cluster.reclaimed_nodes * cluster.hours, 6),
        "reclaimed_dollars": round(cluster.reclaimed_cost * cluster.hours / MICRO, 6),
    }


def node_decision(decision: NodeDecision) -> dict[str, Any]:
    return {
        "node": decision.name,
        "pool": decision.pool,
        "verdict": decision.verdict.value,
        "reason": decision.reason,
        "blockers": [_blocker(blocker) for blocker in decision.blockers],
        **_sizes(decision.allocatable, decision.requested),
        "cpu_ratio": number(decision.cpu_ratio),
        "memory_ratio": number(decision.memory_ratio),
        "score": number(decision.score),
        "marked_since": decision.marked_since,
        "removable_at": decision.removable_at,
    }


def _blocker(blocker: Blocker) -> dict[str, str]:
    theirs = blocker.reason.message_id
    fields = {"reason": blocker.reason.value, "object": blocker.object, "detail": blocker.detail}
    return {**fields, "message_id": theirs} if theirs else fields


def _sizes(allocatable: Resources, requested: Resources) -> dict[str, Any]:
    return {
        "allocatable_cpu": allocatable.cpu / 1000,
        "allocatable_memory": allocatable.memory,
        "requested_cpu": requested.cpu / 1000,
        "requested_memory": requested.memory,
    }


def number(value: Fraction | None) -> float | None:
    return None if value is None else round(float(value), 9)


def dollars(micro: int) -> float:
    return round(micro / MICRO, 4)


class PassLog:
    """Writes a pass to the log; remembers each node's last verdict, for the sake of the log alone."""

    def __init__(self, *, everything: bool) -> None:
        self._everything = everything
        self._last: dict[str, tuple[str, str]] = {}

    def write(self, log: Log, report: PassReport) -> dict[str, Any]:
        """Log a pass and return the summary that the function answers."""
        plan, inputs, snapshot = report.plan, report.inputs, report.inputs.snapshot
        whole = node_metrics(plan, snapshot, report.prices)
        cluster = cluster_metrics(plan, snapshot, inputs.state, inputs.now, report.interval)
        log.event("cluster_state", "The cluster as this pass saw it.", **cluster_state(whole, cluster))
        for pool in snapshot.nodes_by_pool:
            own = node_metrics(plan, snapshot, report.prices, pool)
            message = f"Pool {pool or '(none)'}: {own.nodes} nodes."
            log.event("pool_state", message, pool=pool, **pool_state(own))
        for missed in report.missed:
            message = f"Pool {missed.pool or '(none)'}: {missed.nodes} under-used nodes stay ({missed.reason})."
            per_hour = dollars(missed.per_hour)
            log.event(
                "missed_saving", message, pool=missed.pool, reason=missed.reason, nodes=missed.nodes, per_hour=per_hour
            )
        for decision in plan.decisions:
            self._write_decision(log, decision)
        self._last = {node.uid: (node.verdict.value, node.reason) for node in plan.decisions}
        result = summary(report)
        log.event("run_summary", sentence(report), result="completed", **result)
        return result

    def _write_decision(self, log: Log, decision: NodeDecision) -> None:
        unchanged = self._last.get(decision.uid) == (decision.verdict.value, decision.reason)
        severity = "DEBUG" if unchanged and not self._everything else "INFO"
        why = " ".join(blocker.sentence for blocker in decision.blockers)
        message = f"{decision.name}: {decision.verdict.value}. {why}".strip()
        log.event("node_decision", message, severity=severity, **node_decision(decision))
