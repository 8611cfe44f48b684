"""Demand over time: replicas by a day's curve, or by hour."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil
from typing import Final

from shared.core.cluster.pod import is_of_replica_set
from shared.core.cluster.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ReplicaChange:
    """From then on a controller (`PodClass.workload`) asks for so many replicas."""

    at: datetime
    controller: str
    replicas: int


Demand = Sequence[ReplicaChange]
"""Everything that is wanted, in order of time."""
STEP: Final = timedelta(minutes=15)
DAY: Final = timedelta(days=1)
OFFICE_DAY: Final = ((0, 0), (6, 0), (10, 100), (17, 100), (22, 0), (24, 0))
"""Hours of a day and how much of the range between least and most is wanted then, in percent; straight in between."""
_SATURDAY: Final = 5


@dataclass(frozen=True, slots=True)
class Range:
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Curve:
    """A day's curve in its time zone; at weekends only so much, in percent."""

    points: Sequence[tuple[int, int]] = OFFICE_DAY
    weekend: int = 30
    zone: tzinfo = UTC

    def share(self, at: datetime) -> Fraction:
        """Return how much of the range is wanted at a time, from 0 to 1."""
        local = at.astimezone(self.zone)
        hour = Fraction(local.hour * 60 + local.minute, 60)
        (begun, low), (until, high) = next(pair for pair in pairwise(self.points) if hour <= pair[1][0])
        share = (low + (high - low) * (hour - begun) / (until - begun)) / 100
        return share * self.weekend / 100 if local.weekday() >= _SATURDAY else share


def by_curve(ranges: Mapping[str, Range], curve: Curve, begins: datetime, lasts: timedelta) -> Demand:
    def wanted(limits: Range, at: datetime) -> int:
        return limits.least + ceil((limits.most - limits.least) * curve.share(at))

    return by_steps({key: partial(wanted, range_) for key, range_ in ranges.items()}, begins, lasts)


def by_hours(hours: Mapping[str, Sequence[int]], begins: datetime, lasts: timedelta, zone: tzinfo = UTC) -> Demand:
    """Return the demand of workloads whose replicas are given by hour of the day, or of the week from Monday."""

    def wanted(rows: Sequence[int], at: datetime) -> int:
        local = at.astimezone(zone)
        return rows[(local.weekday() * 24 + local.hour) % len(rows)]

    return by_steps({key: partial(wanted, rows) for key, rows in hours.items()}, begins, lasts)


def by_steps(wanted: Mapping[str, Callable[[datetime], int]], begins: datetime, lasts: timedelta) -> Demand:
    """Return the demand of functions of time, asked at every quarter of an hour."""
    changes: list[ReplicaChange] = []
    last: dict[str, int] = {}
    for at in (begins, *_quarters(begins, lasts)):
        for key in sorted(wanted):
            replicas = wanted[key](at)
            if last.get(key) != replicas:
                changes.append(ReplicaChange(at, key, replicas))
                last[key] = replicas
    return tuple(changes)


def _quarters(begins: datetime, lasts: timedelta) -> Iterator[datetime]:
    midnight = begins.replace(hour=0, minute=0, second=0, microsecond=0)
    first = midnight + ((begins - midnight) // STEP + 1) * STEP
    while first < begins + lasts:
        yield first
        first += STEP


def swinging(snapshot: Snapshot, night: int) -> dict[str, Range]:
    """Return ranges of the ReplicaSets' pods: from so many percent of what is there now, to that."""
    living = (pod for pod in snapshot.pods if pod.deleting is None and not pod.phase.finished)
    counts = Counter(pod.spec.workload for pod in living if is_of_replica_set(pod.spec))
    return {key: Range(ceil(Fraction(many * night, 100)), many) for key, many in sorted(counts.items()) if many > 1}
