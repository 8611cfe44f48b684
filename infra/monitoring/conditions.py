"""What an alert waits for: conditions of Cloud Monitoring, as values. Terraform makes them; tests simulate them.

Facts (cloud.google.com/monitoring/alerts/concepts-indepth, …/metric-absence, and the API's MetricAbsence and
MetricThreshold): an absence lasts 2 minutes to 23.5 hours, in whole minutes, and begins only once there was data.
"""

import math
from dataclasses import dataclass
from typing import Final

from infra.monitoring.metrics import BY_NAME
from infra.monitoring.query import Is, series
from infra.monitoring.table import Kind

LATE_MINUTES: Final = 12
"""Ten (cloud.google.com/logging/docs/logs-based-metrics/troubleshooting), and two for the evaluation."""
MOST_ABSENCE: Final = 23 * 3600 + 1800
HOUR: Final = 3600
_ALIGNERS: Final = {Kind.COUNTER: "ALIGN_SUM", Kind.GAUGE: "ALIGN_DELTA"}
_REDUCERS: Final = {Kind.COUNTER: "REDUCE_SUM", Kind.GAUGE: "REDUCE_MEAN"}
"""A gauge is a distribution: of its deltas the mean is exact, percentiles are only as fine as the buckets."""


def absence_seconds(interval_minutes: int, missed_passes: int) -> int:
    """Return how long no pass may be seen: that many intervals and half a one for the last to arrive.

    And at least an interval and twelve minutes: a log-based metric may be ten minutes late, and that is no news.
    Terraform computes the same (local.absence_seconds): whole minutes, within what Cloud Monitoring takes.
    """
    minutes = max(math.ceil((missed_passes + 0.5) * interval_minutes), interval_minutes + LATE_MINUTES)
    return min(minutes * 60, MOST_ABSENCE)


@dataclass(frozen=True)
class Condition:
    """One condition. Series of all revisions are reduced to one, so that a new revision is no absence of the old."""

    title: str
    filter: str
    aligner: str
    reducer: str
    period: str
    """Of alignment, and so the rolling window."""
    kind: str = "threshold"
    """Or `absent`."""
    comparison: str = "COMPARISON_GT"
    threshold: float = 0
    duration: str = "0s"
    missing: str = ""
    """What a window without data means: empty, or EVALUATION_MISSING_DATA_…, which needs a duration of a minute."""


def metric_filter(name: str, *terms: Is) -> str:
    """Return the filter of one of our metrics."""
    own = (Is("metric.type", (BY_NAME[name].type,)), Is("resource.type", ("cloud_run_revision",)))
    return series((*own, *terms))


def above(title: str, name: str, period: int, *, most: float = 0, where: tuple[Is, ...] = ()) -> Condition:
    """More than `most` of a counter in a rolling window, or a gauge that stands higher."""
    kind = BY_NAME[name].kind
    return Condition(title, metric_filter(name, *where), _ALIGNERS[kind], _REDUCERS[kind], f"{period}s", threshold=most)
