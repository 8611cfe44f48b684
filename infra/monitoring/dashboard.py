"""What the dashboard shows, row by row: is there something to gain, what is done, what holds it, what was gained."""

from typing import Any, Final

from infra.monitoring.alerts import ALERTS
from infra.monitoring.queries import LAST_NIGHT, WHY_HERE
from infra.monitoring.query import Is
from infra.monitoring.tiles import COLUMNS, Series, Tile, amounts, card, chart, logs, placed, prose, total

_THEMES: Final = {
    "full": "too full", "pods": "a pod may not move", "room": "no room elsewhere", "limits": "budgets, minimums",
    "time": "not yet", "off": "switched off", "trouble": "trouble",
}  # fmt: skip
_SUCCEEDED: Final = (Is("metric.labels.result", ("succeeded",)),)
_ATTEMPTED: Final = (Is("metric.labels.result", ("attempted",)),)


def _acts(title: str, act: str) -> Tile:
    lines = (Series(act, "succeeded", where=_SUCCEEDED), Series(act, "attempted", where=_ATTEMPTED))
    return chart(title, *lines, plot="STACKED_BAR")


ROWS: Final = (
    (
        card("Saved today, dollars", total("reclaimed_dollars", "1d")),
        card("Node-hours reclaimed today", total("reclaimed_node_hours", "1d"), "h"),
        card("Saved in 30 days, dollars", total("reclaimed_dollars", "30d")),
        card("Node-hours reclaimed in 30 days", total("reclaimed_node_hours", "30d"), "h"),
    ),
    (
        chart("Utilisation: requested by allocatable", Series("cluster_cpu_utilization", "CPU"),
              Series("cluster_memory_utilization", "memory")),
        chart("Excess nodes by pool", Series("pool_excess_nodes", by=("pool",))),
        chart("Nodes", Series("cluster_nodes", "all"), Series("cluster_non_tainted_nodes", "untainted"),
              Series("cluster_unschedulable_nodes", "cordoned")),
    ),
    (
        chart("Under-utilised nodes by pool", Series("pool_underutilized_nodes", by=("pool",)), plot="STACKED_AREA"),
        chart("Marked nodes by pool", Series("pool_marked_nodes", by=("pool",)), plot="STACKED_AREA"),
        chart("In flight by pool", Series("pool_in_flight_nodes", by=("pool",)), plot="STACKED_AREA"),
    ),
    (_acts("Cordoned", "nodes_cordoned"), _acts("Drained", "nodes_drained"), _acts("Given back", "nodes_uncordoned")),
    (
        chart("Why nodes stay", *(Series(f"kept_{theme}", words) for theme, words in _THEMES.items()),
              plot="STACKED_AREA", width=24),
        chart("How drains ended", Series("drains", by=("outcome", "reason")), plot="STACKED_BAR", width=24),
    ),
    (
        chart("Savings seen and not taken, dollars an hour, by pool and by what keeps the nodes",
              Series("missed_savings_per_hour", by=("pool", "reason")), plot="STACKED_AREA", width=48),
    ),
    (
        chart("Cost, dollars an hour", Series("cluster_cost", "cluster"), Series("reclaimed_cost", "reclaimed"),
              Series("possible_saving", "ordered, or would be")),
        chart("Drain seconds", Series("drain_seconds", "median"),
              Series("drain_seconds", "95th percentile", quantile="REDUCE_PERCENTILE_95"),
              Series("deletion_seconds", "the autoscaler's time")),
        amounts("Seconds blocked by PodDisruptionBudgets, in an hour", "blocked_seconds", "1h", "pdb", "s"),
    ),
    (
        chart("Pods", Series("evictions", by=("answer",)), plot="STACKED_BAR"),
        chart("Pods without a place, open breakers, overdue claims",
              Series("cluster_unschedulable_pods", "pods without a place"), Series("open_breakers", "open breakers"),
              Series("overdue_claims", "overdue claims")),
        chart("Passes", Series("passes", "completed"), Series("failed_passes", by=("reason",))),
    ),
    (logs(f"{WHY_HERE.question} (write its name for NODE)", WHY_HERE.terms),),
    (logs(LAST_NIGHT.question, LAST_NIGHT.terms),),
    (
        prose("Alerts", "\n".join(f"- **{alert.title}**: {alert.conditions[0].title}" for alert in ALERTS)
              + "\n\nWhat to do about each stands in the alert itself and in `docs/operations.md`."),
    ),
)  # fmt: skip


def dashboard() -> dict[str, Any]:
    """Return the dashboard in the API's form; names are Terraform's to fill in."""
    return {
        "displayName": "Ebb: ${name}",
        "mosaicLayout": {"columns": COLUMNS, "tiles": placed(ROWS)},
    }
