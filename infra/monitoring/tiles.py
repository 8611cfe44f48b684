"""The dashboard's widgets in the Dashboard API's form, and their places on its mosaic of 48 columns.

Source: cloud.google.com/monitoring/api/ref_v3/rest/v1/projects.dashboards. A gauge is read as the mean of its
distribution's deltas, an amount in PromQL, which alone gives a distribution's sum.
"""

from dataclasses import dataclass
from typing import Any, Final

from infra.monitoring.metrics import BY_NAME
from infra.monitoring.query import Is, Term, paragraph, series
from infra.monitoring.table import Kind

COLUMNS: Final = 48
_RESOURCE: Final = Is("resource.type", ("cloud_run_revision",))


@dataclass(frozen=True)
class Series:
    """One metric in a chart; `by` groups its series by those labels of the metric."""

    metric: str
    legend: str = ""
    by: tuple[str, ...] = ()
    where: tuple[Is, ...] = ()
    quantile: str = "REDUCE_PERCENTILE_50"
    """Which percentile of a spread."""


@dataclass(frozen=True)
class Tile:
    """One widget and its size: columns of 48, rows."""

    widget: dict[str, Any]
    width: int
    height: int = 12


def chart(title: str, *lines: Series, plot: str = "LINE", width: int = 16, unit: str = "") -> Tile:
    """A chart over time."""
    sets = [_data_set(line, plot) for line in lines]
    return Tile({"title": title, "xyChart": {"dataSets": sets, "yAxis": _axis(unit)}}, width)


def card(title: str, promql: str, unit: str = "1") -> Tile:
    """One number."""
    query = {"prometheusQuery": promql, "unitOverride": unit}
    return Tile({"title": title, "scorecard": {"timeSeriesQuery": query}}, 12, 8)


def logs(title: str, terms: tuple[Term, ...]) -> Tile:
    """A log panel with a query, ready to be changed."""
    return Tile({"title": title, "logsPanel": {"filter": paragraph(terms)}}, COLUMNS, 20)


def prose(title: str, markdown: str, height: int = 12) -> Tile:
    return Tile({"title": title, "text": {"content": markdown, "format": "MARKDOWN"}}, COLUMNS, height)


def total(metric: str, window: str, by: str = "") -> str:
    """Return the PromQL of an amount's sum over a window.

    Names stand quoted inside the braces (UTF-8 form), so that Terraform may put any name there.
    """
    grouped = f"sum by ({by})" if by else "sum"
    return f'{grouped}(increase({{"{BY_NAME[metric].type}_sum", monitored_resource="cloud_run_revision"}}[{window}]))'


def amounts(title: str, metric: str, window: str, by: str = "", unit: str = "") -> Tile:
    """A chart of an amount, summed over a sliding window."""
    query = {"prometheusQuery": total(metric, window, by)}
    shown = {"timeSeriesQuery": query, "plotType": "LINE"}
    return Tile({"title": title, "xyChart": {"dataSets": [shown], "yAxis": _axis(unit)}}, 16)


def placed(rows: tuple[tuple[Tile, ...], ...]) -> list[dict[str, Any]]:
    """Lay rows of tiles out from left to right and from top to bottom."""
    tiles, y = [], 0
    for row in rows:
        x = 0
        for tile in row:
            tiles.append(_filled(xPos=x, yPos=y, width=tile.width, height=tile.height, widget=tile.widget))
            x += tile.width
        y += max(tile.height for tile in row)
    return tiles


def _axis(unit: str) -> dict[str, Any]:
    return _filled(label=unit, scale="LINEAR")


def _filled(**fields: Any) -> dict[str, Any]:
    """Return the fields without zeros, empty strings and empty lists.

    The API leaves them out of its answer, and Terraform would take each of them for a change at every plan.
    """
    return {name: value for name, value in fields.items() if value not in (0, "", [])}


def _data_set(line: Series, plot: str) -> dict[str, Any]:
    metric = BY_NAME[line.metric]
    counted = metric.kind is Kind.COUNTER
    reducer = {Kind.COUNTER: "REDUCE_SUM", Kind.SPREAD: line.quantile}.get(metric.kind, "REDUCE_MEAN")
    aggregation = _filled(
        alignmentPeriod="600s",
        perSeriesAligner="ALIGN_SUM" if counted else "ALIGN_DELTA",
        crossSeriesReducer=reducer,
        groupByFields=[f'metric.label."{label}"' for label in line.by],
    )
    chosen = series((Is("metric.type", (metric.type,)), _RESOURCE, *line.where))
    shown = {"timeSeriesQuery": {"timeSeriesFilter": {"filter": chosen, "aggregation": aggregation}}, "plotType": plot}
    return {**shown, **({"legendTemplate": line.legend} if line.legend else {})}
