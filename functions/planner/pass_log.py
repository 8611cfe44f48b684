"""What a pass logs: one line for the run, the cluster and each pool, and one for each node whose verdict changed.

"Why did, or didn't, node X go?" is one query on `labels.node`. Unchanged verdicts are left out unless
EBB_DECISION_LOG=all: an instance remembers the last verdicts only to save log lines, never to decide. What the
numbers mean is `planning.metrics`'; how they are written is `log_lines`'.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from functions.planner import log_lines
from functions.planner.log_lines import PassReport
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.metrics import cluster_metrics, missed_savings, node_metrics, pool_metrics
from shared.core.planning.plan import NodeDecision, Plan
from shared.core.planning.prices import Prices
from shared.core.records.state import ClusterState
from shared.ports import Log


@dataclass(frozen=True)
class PassOutcome:
    """What is told: the plan, and what it rests on."""

    plan: Plan
    snapshot: Snapshot
    state: ClusterState
    prices: Prices
    now: datetime
    interval: timedelta
    """How far apart passes are expected."""


class PassLog:
    """Writes a pass to the log; remembers each node's last verdict, for the sake of the log alone."""

    def __init__(self, *, everything: bool) -> None:
        self._everything = everything
        self._last: dict[str, tuple[str, str]] = {}

    def write(self, log: Log, outcome: PassOutcome, report: PassReport) -> dict[str, Any]:
        """Log a pass and return the summary that the function answers."""
        plan, snapshot = outcome.plan, outcome.snapshot
        whole = node_metrics(plan, snapshot, outcome.prices)
        cluster = cluster_metrics(plan, snapshot, outcome.state, outcome.now, outcome.interval)
        log.event("cluster_state", "The cluster as this pass saw it.", **log_lines.cluster_state(whole, cluster))
        for pool in snapshot.nodes_by_pool:
            own = pool_metrics(plan, snapshot, outcome.prices, pool)
            message = f"Pool {pool or '(none)'}: {own.nodes} nodes."
            log.event("pool_state", message, pool=pool, **log_lines.pool_state(own))
        for missed in missed_savings(plan):
            log.event("missed_saving", log_lines.missed_sentence(missed), **log_lines.missed_saving(missed))
        for decision in plan.decisions:
            self._write_decision(log, decision)
        self._last = {each.uid: (each.verdict.value, each.reason) for each in plan.decisions}
        summary = log_lines.summary(plan, report)
        log.event("run_summary", log_lines.sentence(plan, report), result="completed", **summary)
        return summary

    def _write_decision(self, log: Log, decision: NodeDecision) -> None:
        unchanged = self._last.get(decision.uid) == (decision.verdict.value, decision.reason)
        severity = "DEBUG" if unchanged and not self._everything else "INFO"
        log.event("node_decision", log_lines.reasons(decision), severity=severity, **log_lines.node_decision(decision))
