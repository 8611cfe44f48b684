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

LEAST_ABSENCE: Final = 120
MOST_ABSENCE: Final = 23 * 3600 + 1800
HOUR: Final = 3600
_ALIGNERS: Final = {Kind.COUNTER: "ALIGN_SUM", Kind.GAUGE: "ALIGN_DELTA"}
_REDUCERS: Final = {Kind.COUNTER: "REDUCE_SUM", Kind.GAUGE: "REDUCE_MEAN"}
"""A gauge is a distribution: of its deltas the mean is exact, percentiles are only as fine as the buckets."""


def absence_seconds(interval_minutes: int, missed_passes: int) -> int:
    """Return how long no pass may be seen: that many intervals and half a one for the last to arrive.

    Terraform computes the same (local.absence_seconds); whole minutes, within what Cloud Monitoring takes. Of passes
    every minute this is no shorter than three missing ones, so it takes more.
    """
    minutes = math.ceil((missed_passes + 0.5) * interval_minutes)
    return min(max(minutes * 60, LEAST_ABSENCE), MOST_ABSENCE)


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
