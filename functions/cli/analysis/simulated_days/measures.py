"""The totals of a simulated stretch of time: node-hours, money, evictions and waiting."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from shared.core.rules.drain_time import NO_TIME

HOUR: Final = timedelta(hours=1)


class Actor(StrEnum):
    AUTOSCALER = "autoscaler"
    EBB = "ebb"


class PodMove(NamedTuple):
    """How often a pod, and those whose place it takes, were moved; who moved the last one."""

    times: int
    by: Actor


class Moment(NamedTuple):
    """From then on so many nodes, their micro-dollars an hour (`bill`: with commitments), and pods that wait."""

    at: datetime
    nodes: int
    cost: int
    waiting: int
    bill: int | None = None


@dataclass(frozen=True, slots=True)
class PodWait:
    """A pod that had no node from then on, for so long."""

    since: datetime
    lasted: timedelta
    by: Actor | None = None  # Who evicted the pod whose place it takes; None where it takes no other's.


@dataclass
class Measures:
    series: list[Moment] = field(default_factory=list)
    evictions: Counter[Actor] = field(default_factory=Counter)
    twice: int = 0  # Pods that were moved when they, or those whose place they take, had been moved already.
    waits: list[PodWait] = field(default_factory=list)
    returned: Counter[str] = field(default_factory=Counter)
    """Drains of Ebb's that ended otherwise than by the removal of the node, by reason."""
    drains: int = 0
    passes: int = 0
    planned: int = 0  # Passes that made a plan: before the others nothing had changed.


@dataclass(frozen=True, slots=True)
class PlayedTotals:
    hours: float
    node_hours: float
    cost: float  # Micro-dollars of the whole stretch, at list prices.
    evictions: int
    evictions_by_ebb: int
    twice: int
    drains: int
    returned: int
    pending: float  # Pod-seconds without a node.
    longest_wait: float
    longest_wait_by_ebb: float  # The longest of a pod that takes the place of one that Ebb evicted.
    end_nodes: int
    least_nodes: int
    most_nodes: int
    series: Sequence[Moment] = ()
    bill: float | None = None  # What is paid for the whole stretch with commitments; None where nothing is committed.

    @property
    def paid(self) -> float:
        """What is paid for the whole stretch: the bill where capacity is committed, else the list price."""
        return self.cost if self.bill is None else self.bill

    @property
    def mean_nodes(self) -> float:
        return self.node_hours / self.hours if self.hours else 0.0


def outcome(measures: Measures, begun: datetime, ended: datetime) -> PlayedTotals:
    rows = stretches(measures.series, begun, ended)
    waits = measures.waits
    nodes = [row.nodes for row, lasts in rows if lasts]
    return PlayedTotals(
        hours=(ended - begun) / HOUR,
        node_hours=sum(row.nodes * (lasts / HOUR) for row, lasts in rows),
        cost=sum(row.cost * (lasts / HOUR) for row, lasts in rows),
        evictions=measures.evictions.total(),
        evictions_by_ebb=measures.evictions[Actor.EBB],
        twice=measures.twice,
        drains=measures.drains,
        returned=measures.returned.total(),
        pending=sum(wait.lasted.total_seconds() for wait in waits),
        longest_wait=_longest(waits),
        longest_wait_by_ebb=_longest(wait for wait in waits if wait.by is Actor.EBB),
        end_nodes=measures.series[-1].nodes,
        least_nodes=min(nodes, default=0),
        most_nodes=max(nodes, default=0),
        series=tuple(measures.series),
        bill=_bill(rows),
    )


def _bill(rows: Sequence[tuple[Moment, timedelta]]) -> float | None:
    if any(row.bill is None for row, _ in rows):
        return None
    return sum((row.bill or 0) * (lasts / HOUR) for row, lasts in rows)


def stretches(series: Sequence[Moment], begun: datetime, ended: datetime) -> list[tuple[Moment, timedelta]]:
    """Return each moment with the time for which it held between the two."""
    ends = [*(row.at for row in series[1:]), ended]
    return [
        (row, max(min(until, ended) - max(row.at, begun), NO_TIME)) for row, until in zip(series, ends, strict=True)
    ]


def _longest(waits: Iterable[PodWait]) -> float:
    return max((wait.lasted.total_seconds() for wait in waits), default=0.0)
