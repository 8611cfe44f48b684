"""The dashboard and its tiles."""

from dataclasses import dataclass
from typing import Any, Final

from infra.monitoring.alerts import ALERTS
from infra.monitoring.metrics import BY_NAME, KEPT, METRICS, Kind
from infra.monitoring.query import FUNCTION, LAST_NIGHT, REVIEWS, WHY_HERE, monitoring_term, series

COLUMNS: Final = 48


@dataclass(frozen=True)
class Series:
    """One metric in a chart; `by` groups its series by those labels of the metric."""

    metric: str
    legend: str = ""
    by: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    quantile: str = "REDUCE_PERCENTILE_50"
    """Which percentile of a spread."""


@dataclass(frozen=True)
class Tile:
    """One widget and its size: columns of 48, rows."""

    widget: dict[str, Any]
    width: int
    height: int = 12


def chart(title: str, *lines: Series, plot: str = "LINE", width: int = 16) -> Tile:
    """A chart over time."""
    return _plot_tile(title, [_data_set(line, plot) for line in lines], width)


def card(title: str, promql: str, unit: str = "1") -> Tile:
    """One number."""
    query = {"prometheusQuery": promql, "unitOverride": unit}
    return Tile({"title": title, "scorecard": {"timeSeriesQuery": query}}, 12, 8)


def logs(title: str, terms: tuple[str, ...], projects: str = "") -> Tile:
    """A log panel with a query, ready to be changed; of the dashboard's project, or of those that are named."""
    panel = _filled_fields(filter="\n".join(terms), resourceNames=[projects] if projects else [])
    return Tile({"title": title, "logsPanel": panel}, COLUMNS, 20)


def prose(title: str, markdown: str, height: int = 12) -> Tile:
    return Tile({"title": title, "text": {"content": markdown, "format": "MARKDOWN"}}, COLUMNS, height)


def total(metric: str, window: str, by: str = "") -> str:
    """Return the PromQL of an amount's sum over a window."""
    grouped = f"sum by ({by})" if by else "sum"
    # quoted inside the braces (UTF-8 form), so that Terraform may put any name there
    return f'{grouped}(increase({{"{BY_NAME[metric].type}_sum", monitored_resource="{FUNCTION}"}}[{window}]))'


def amounts(title: str, metric: str, window: str, by: str = "", unit: str = "") -> Tile:
    """A chart of an amount, summed over a sliding window."""
    query = {"prometheusQuery": total(metric, window, by)}
    return _plot_tile(title, [{"timeSeriesQuery": query, "plotType": "LINE"}], unit=unit)


def _plot_tile(title: str, sets: list[dict[str, Any]], width: int = 16, unit: str = "") -> Tile:
    return Tile(
        {"title": title, "xyChart": {"dataSets": sets, "yAxis": _filled_fields(label=unit, scale="LINEAR")}}, width
    )


def place_rows(rows: tuple[tuple[Tile, ...], ...]) -> list[dict[str, Any]]:
    """Lay rows of tiles out from left to right and from top to bottom."""
    tiles, y = [], 0
    for row in rows:
        x = 0
        for tile in row:
            tiles.append(_filled_fields(xPos=x, yPos=y, width=tile.width, height=tile.height, widget=tile.widget))
            x += tile.width
        y += max(tile.height for tile in row)
    return tiles


def _filled_fields(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not empty: the API leaves the others out, which Terraform would take for a change."""
    return {name: value for name, value in fields.items() if value not in (0, "", [])}


def _data_set(line: Series, plot: str) -> dict[str, Any]:
    metric = BY_NAME[line.metric]
    aggregation = _filled_fields(
        alignmentPeriod="600s",
        perSeriesAligner=metric.aligner,
        crossSeriesReducer=line.quantile if metric.kind is Kind.SPREAD else metric.reducer,
        groupByFields=[f'metric.label."{label}"' for label in line.by],
    )
    chosen = series(metric.type, FUNCTION, *line.where)
    query = {"timeSeriesFilter": {"filter": chosen, "aggregation": aggregation}}
    return _filled_fields(timeSeriesQuery=query, plotType=plot, legendTemplate=line.legend)


def _acts(title: str, act: str) -> Tile:
    results = ("succeeded", "attempted")
    lines = (Series(act, result, where=(monitoring_term("metric.labels.result", result),)) for result in results)
    return chart(title, *lines, plot="STACKED_BAR")


_STAYS: Final = [Series(metric.name, metric.about.removeprefix(KEPT)) for metric in METRICS if KEPT in metric.about]
ROWS: Final = (
    (
        card("Saved today, dollars", total("reclaimed_dollars", "1d")),
        card("Node-hours reclaimed today", total("reclaimed_node_hours", "1d"), "h"),
        card("Saved in 30 days, dollars", total("reclaimed_dollars", "30d")),
        card("Node-hours reclaimed in 30 days", total("reclaimed_node_hours", "30d"), "h"),
    ),
    (
        chart("Utilization: requested by allocatable", Series("cluster_cpu_utilization", "CPU"),
              Series("cluster_memory_utilization", "memory")),
        chart("Excess nodes by pool", Series("pool_excess_nodes", by=("pool",))),
        chart("Nodes", Series("cluster_nodes", "all"), Series("cluster_non_tainted_nodes", "untainted"),
              Series("cluster_unschedulable_nodes", "cordoned")),
    ),
    (
        chart("Underutilized nodes by pool", Series("pool_underutilized_nodes", by=("pool",)), plot="STACKED_AREA"),
        chart("Marked nodes by pool", Series("pool_marked_nodes", by=("pool",)), plot="STACKED_AREA"),
        chart("In flight by pool", Series("pool_in_flight_nodes", by=("pool",)), plot="STACKED_AREA"),
    ),
    (_acts("Cordoned", "nodes_cordoned"), _acts("Drained", "nodes_drained"), _acts("Uncordoned", "nodes_uncordoned")),
    (
        chart("Why nodes stay", *_STAYS, plot="STACKED_AREA", width=24),
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
        prose("Alerts", "\n".join(f"- **{alert['title']}**: {alert['conditions'][0]['title']}"
                                  for alert in ALERTS.values())
              + "\n\nWhat to do about each stands in the alert itself and in `docs/run.md`."),
    ),
)  # fmt: skip


_CLUSTER: Final = ("cluster",)
FLEET_ROWS: Final = (
    (
        amounts("Saved in 7 days, dollars, by cluster", "reclaimed_dollars", "7d", "cluster"),
        chart("Cost, dollars an hour, by cluster", Series("cluster_cost", by=_CLUSTER)),
        chart("Nodes by cluster", Series("cluster_nodes", by=_CLUSTER)),
    ),
    (
        chart("Savings seen and not taken, dollars an hour, by cluster and by what keeps the nodes",
              Series("missed_savings_per_hour", by=("cluster", "reason")), plot="STACKED_AREA", width=24),
        chart("How drains ended, by cluster", Series("drains", by=("cluster", "outcome")), plot="STACKED_BAR",
              width=24),
    ),
    (
        chart("Passes by cluster", Series("passes", by=_CLUSTER), width=24),
        chart("Errors by cluster and event", Series("faults", by=("cluster", "event")), plot="STACKED_BAR", width=24),
    ),
    *((logs(review.question, review.terms, "${projects}"),) for review in REVIEWS),
    (
        prose("The Monday review", "\n".join(f"- **{review.question}** Normal: {review.normal} Act: {review.act}"
                                             for review in REVIEWS), 16),
    ),
)  # fmt: skip
"""All clusters of a project, or of several: terraform/review makes it."""


def dashboard() -> dict[str, Any]:
    """Return the dashboard in the API's form; names are Terraform's to fill in."""
    return _board("Ebb: ${name}", ROWS)


def fleet_dashboard() -> dict[str, Any]:
    """Return the dashboard over all clusters, as `dashboard`."""
    return _board("Ebb: all clusters", FLEET_ROWS)


def _board(title: str, rows: tuple[tuple[Tile, ...], ...]) -> dict[str, Any]:
    return {"displayName": title, "mosaicLayout": {"columns": COLUMNS, "tiles": place_rows(rows)}}
