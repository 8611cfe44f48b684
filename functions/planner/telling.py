"""What a pass tells: one line for the run, the cluster and each pool, and one for each node whose verdict changed.

"Why did, or didn't, node X go?" is one query on `labels.node`. Unchanged verdicts are left out unless
EBB_DECISION_LOG=all: an instance remembers the last verdicts only to save log lines, never to decide.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from shared.core.plan import Blocker, NodeDecision, Plan, Verdict
from shared.core.prices import per_month
from shared.core.snapshot import Snapshot
from shared.ports import Log

MICRO: Final = 1_000_000


@dataclass(frozen=True)
class Report:
    """What happened besides the plan."""

    run_id: str
    published: tuple[str, ...]
    healed: int
    seconds: float


class Teller:
    """Writes a pass to the log; remembers each node's last verdict, for the sake of the log alone."""

    def __init__(self, *, everything: bool) -> None:
        self._everything = everything
        self._last: dict[str, tuple[str, str]] = {}

    def tell(self, log: Log, plan: Plan, snapshot: Snapshot, report: Report) -> dict[str, Any]:
        """Log a pass and return the summary that the function answers."""
        summary = _summary(plan, report)
        log.event("cluster_state", "The cluster as this pass saw it.", **_cluster_state(plan, snapshot))
        for pool, nodes in snapshot.nodes_by_pool.items():
            fields = _pool_state(plan, pool)
            log.event("pool_state", f"Pool {pool or '(none)'}: {len(nodes)} nodes.", pool=pool, **fields)
        for decision in plan.decisions:
            self._tell_node(log, decision)
        self._last = {each.uid: (each.verdict.value, each.reason) for each in plan.decisions}
        log.event("run_summary", _sentence(plan, report), **summary)
        return summary

    def _tell_node(self, log: Log, decision: NodeDecision) -> None:
        unchanged = self._last.get(decision.uid) == (decision.verdict.value, decision.reason)
        severity = "DEBUG" if unchanged and not self._everything else "INFO"
        log.event("node_decision", _reasons(decision), severity=severity, **_decision(decision))


def _summary(plan: Plan, report: Report) -> dict[str, Any]:
    return {
        "run_id": report.run_id,
        "verdicts": plan.counts(),
        "orders": list(report.published),
        "would_order": [order.node for order in plan.orders] if plan.dry_run else [],
        "healed": report.healed,
        "dry_run": plan.dry_run,
        "policy_hash": plan.policy_hash,
        "saving_per_month": _dollars(per_month(plan.saving)),
        "duration_ms": round(report.seconds * 1000),
    }


def _sentence(plan: Plan, report: Report) -> str:
    counts = plan.counts()
    orders = f"{len(plan.orders)} would be ordered (dry run)" if plan.dry_run else f"{len(report.published)} ordered"
    return (
        f"{len(plan.decisions)} nodes: {orders}, {counts[Verdict.IN_FLIGHT.value]} in flight, "
        f"{counts[Verdict.WAITING.value]} waiting, {counts[Verdict.KEEP.value]} kept; {report.healed} healed."
    )


def _cluster_state(plan: Plan, snapshot: Snapshot) -> dict[str, Any]:
    nodes = snapshot.nodes
    return {
        "nodes": len(nodes),
        "ready_nodes": sum(node.ready for node in nodes),
        "non_tainted_nodes": sum(not any(taint.repels for taint in node.taints) for node in nodes),
        "unschedulable_nodes": sum(node.unschedulable for node in nodes),
        "pods": plan.pods,
        "excess_nodes": _number(plan.excess.get("")),
        "cost_per_hour": _dollars(plan.cost),
    }


def _pool_state(plan: Plan, pool: str) -> dict[str, Any]:
    decisions = [each for each in plan.decisions if each.pool == pool]
    return {
        "nodes": len(decisions),
        "marked": sum(each.marked_since is not None for each in decisions),
        "in_flight": sum(each.verdict is Verdict.IN_FLIGHT for each in decisions),
        "excess_nodes": _number(plan.excess.get(pool)),
    }


def _decision(decision: NodeDecision) -> dict[str, Any]:
    return {
        "node": decision.name,
        "pool": decision.pool,
        "verdict": decision.verdict.value,
        "reason": decision.reason,
        "blockers": [
            {"reason": each.reason.value, "object": each.object, "detail": each.detail} for each in decision.blockers
        ],
        "cpu_ratio": _number(decision.cpu_ratio),
        "memory_ratio": _number(decision.memory_ratio),
        "score": _number(decision.score),
        "marked_since": decision.marked_since,
        "removable_at": decision.removable_at,
    }


def _blocker(blocker: Blocker) -> dict[str, str]:
    return {"reason": blocker.reason.value, "object": blocker.object, "detail": blocker.detail}


def _reasons(decision: NodeDecision) -> str:
    sentences = " ".join(blocker.sentence for blocker in decision.blockers)
    return f"{decision.name}: {decision.verdict.value}. {sentences}".strip()


def _number(value: Fraction | None) -> float | None:
    return None if value is None else round(float(value), 9)


def _dollars(micro: int) -> float:
    return round(micro / MICRO, 4)
